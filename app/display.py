"""Whether a window can open here, and one sentence where it cannot. Without Qt until it is asked for: every command
imports this.

Qt itself would end the process with an abort, and the program's next start would call that a crash.
"""

import contextlib
import ctypes
import importlib.util
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_DISPLAY_VARIABLES = ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY")
_MISSING = re.compile(r"(\S+\.so[.\d]*): cannot open shared object file")

# What Qt's window needs of Debian and Ubuntu beyond Qt itself; a desktop may lack the later ones.
DEBIAN_PACKAGES = (
    "libegl1 libgl1 libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
    "libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libwayland-cursor0"
)


def has_display(environment: Mapping[str, str], platform: str) -> bool:
    """Whether a window can open. Only Linux starts without a display; QT_QPA_PLATFORM may name an offscreen one."""
    return not platform.startswith("linux") or any(environment.get(name) for name in _DISPLAY_VARIABLES)


def program_name() -> str:
    """How this program was called, so that what we tell a person to type works in their shell."""
    called = Path(sys.argv[0])
    if not called.name.startswith("haloband"):
        return "haloband"
    return "haloband" if shutil.which("haloband") == str(called.absolute()) else os.path.relpath(called)


def instead_of_a_window(reason: str) -> str:
    """The reason, and how to chat all the same."""
    return f'{reason} Without a window, use the command line: {program_name()} chat "Write a short poem about the sea."'


def missing_library(error: Exception) -> str | None:
    """The shared library whose absence an import or a load reports, such as libEGL.so.1; None for any other error."""
    found = _MISSING.search(str(error))
    return found[1] if found else None


def missing_window_library(platform: Path | None = None) -> str | None:
    """The first shared library that Qt's window needs and does not find; None if all are there or Qt is not.

    `platform` is Qt's plugin for the display, by default the PySide6 wheel's for Wayland or X11, and brings in the
    window's own libraries with what they need. PySide6 is not imported: it may be what is broken.
    """
    package = importlib.util.find_spec("PySide6")
    if platform is None and package is not None and package.origin is not None:
        name = "libqwayland.so" if os.environ.get("WAYLAND_DISPLAY") else "libqxcb.so"
        platform = Path(package.origin).parent / "Qt" / "plugins" / "platforms" / name
    if platform is None or not platform.exists():
        return None
    try:
        ctypes.CDLL(str(platform))
    except OSError as error:
        return missing_library(error)
    return None


def library_is_missing(library: str) -> str:
    return (
        f"The library {library} is missing, so the window cannot open. On Debian and Ubuntu all that it needs comes "
        f"with: sudo apt install {DEBIAN_PACKAGES}."
    )


def why_not(environment: Mapping[str, str]) -> str:
    """Why Qt found no way to open a window although a display is named."""
    asked = environment.get("QT_QPA_PLATFORM")
    if asked:
        return f"Qt cannot open a window with QT_QPA_PLATFORM={asked}."
    library = missing_window_library()
    if library is not None:
        return library_is_missing(library)
    name = environment.get("WAYLAND_DISPLAY") or environment.get("DISPLAY")
    return f"The display {name} does not answer, so the window cannot open."


@contextlib.contextmanager
def refusal_in_words() -> Iterator[None]:
    """While the application is made: where Qt would abort, say why in one line on stderr and end with status 1."""
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

    def on_message(kind: QtMsgType, context: QMessageLogContext, message: str | None) -> None:
        if kind is not QtMsgType.QtFatalMsg:
            if before is not None:
                before(kind, context, message or "")
            return
        logging.getLogger("haloband.qt").warning("%s", message)
        print(f"haloband: {instead_of_a_window(why_not(os.environ))}", file=sys.stderr, flush=True)
        os._exit(1)  # nothing has been opened yet, and Qt cannot be stopped in any other way

    before = qInstallMessageHandler(on_message)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
