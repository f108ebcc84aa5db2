"""The log file, the crash file, and where Qt's own messages go. Set up once by the program's entry, on the GUI thread.

Both files are plain text in the state folder for a person to read and send; nothing is ever sent by the app. Chat
text is not logged.
"""

import faulthandler
import logging
import logging.handlers
import platform
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from app.paths import AppPaths

log = logging.getLogger("haloband")
_qt_log = logging.getLogger("haloband.qt")

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_MAX_LOG_BYTES = 2 << 20
_MAX_CRASH_BYTES = 256 << 10
_crash_stream: IO[str] | None = None  # faulthandler keeps only its file number, so the file must stay open


def start_logging(paths: AppPaths, *, verbose: bool = False) -> None:
    """Send the log to a file that turns over at 2 MiB, and to stderr if asked. A read-only folder is no error."""
    root = logging.getLogger("haloband")
    root.setLevel(logging.DEBUG if verbose else logging.INFO)
    shape = logging.Formatter("%(asctime)s %(levelname)s %(name)s [%(threadName)s] %(message)s")
    handlers: list[logging.Handler] = [logging.StreamHandler()] if verbose or sys.stderr.isatty() else []
    if not verbose and handlers:
        handlers[0].setLevel(logging.ERROR)
    try:
        paths.state_dir.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.handlers.RotatingFileHandler(paths.log_file, maxBytes=_MAX_LOG_BYTES, backupCount=2))
    except OSError as error:
        print(f"haloband: no log file: {error}", file=sys.stderr)
    for handler in handlers:
        handler.setFormatter(shape)
        root.addHandler(handler)
    qInstallMessageHandler(_on_qt_message)


def start_crash_report(crash_file: Path) -> None:
    """Write native crashes (all threads' stacks) and uncaught exceptions of any thread to the crash file."""
    global _crash_stream  # noqa: PLW0603 - faulthandler is a per-process facility, and so is its file
    try:
        if crash_file.exists() and crash_file.stat().st_size > _MAX_CRASH_BYTES:
            crash_file.replace(crash_file.with_suffix(".old.txt"))
        _crash_stream = crash_file.open("a", encoding="utf-8")
        _crash_stream.write(f"--- {time.strftime('%F %T')} started, {platform.platform()}, Python {sys.version}\n")
        _crash_stream.flush()
        faulthandler.enable(_crash_stream, all_threads=True)
    except OSError as error:
        log.warning("no crash file: %s", error)
    sys.excepthook = _on_uncaught
    threading.excepthook = lambda args: _on_uncaught(
        args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
    )


def crash_since_last_start(crash_file: Path) -> bool:
    """True if the run before this one wrote a crash. Call before start_crash_report."""
    try:
        with crash_file.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _MAX_CRASH_BYTES))
            last_run = file.read().rsplit(b"--- ", 1)[-1]
    except OSError:
        return False
    return b"Fatal Python error" in last_run or b"Traceback" in last_run


def _on_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    log.critical("uncaught error", exc_info=(kind, error, trace))
    if _crash_stream is not None:
        text = logging.Formatter().formatException((kind, error, trace))
        _crash_stream.write(f"{time.strftime('%F %T')} {text}\n")
        _crash_stream.flush()


def _on_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str | None) -> None:
    _qt_log.log(_LEVELS.get(kind, logging.WARNING), "%s (%s)", message, context.category or "default")
