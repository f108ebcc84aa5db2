"""Starts the program with a window: one instance a data folder, settings, engine, store, window, and the way out.

`run_app` is called by app/cli.py on the main thread and returns the exit status. What it makes it closes again, in the
reverse order, so that a kill is the only way to lose anything.
"""

import argparse
import contextlib
import functools
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.chat.models import Notice, NoticeLevel
from app.chat.service import ChatService
from app.display import refusal_in_words
from app.engine_face import EngineLoader
from app.engine_host import EngineHost
from app.errors import StoreError
from app.garbage import GuiGarbageCollector
from app.logs import crash_since_last_start, start_crash_report, start_logging
from app.paths import AppPaths, app_paths
from app.real_engine import load_engine_model
from app.settings_file import SettingsFile
from app.settings_service import SettingsService
from app.side_panels import make_side_panels
from app.single_instance import SingleInstance
from app.store.store import Store
from app.theme_controller import ThemeController
from app.window import MainWindow
from app.window_language import install_language
from app.window_services import WindowServices
from resources import ROOT

log = logging.getLogger("haloband")

DESKTOP_ID = "io.github.haloband.Haloband"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Start", text)


def run_app(args: argparse.Namespace) -> int:
    """Open the window and run until it is closed. Reads `data_dir` and `model` of the arguments."""
    paths = app_paths(getattr(args, "data_dir", None))
    had_crash = crash_since_last_start(paths.crash_file)
    start_logging(paths)
    start_crash_report(paths.crash_file)
    app = make_application()
    instance = SingleInstance(paths)
    problems: list[str] = []
    try:
        if not instance.acquire():
            return _raise_other(instance)
    except StoreError as error:  # a folder that cannot be written: the window still answers, and says so
        problems.append(str(error))
    if had_crash:
        sentence = _tr("Haloband ended unexpectedly last time. Your chats were kept. A report is in {file}.")
        problems.append(sentence.format(file=paths.crash_file))
    loader = functools.partial(load_engine_model, prefix_folder=paths.prefixes_dir)
    with contextlib.closing(GuiGarbageCollector()), open_window(paths, loader, problems) as window:
        instance.raise_requested.connect(window.raise_window)
        model: Path | None = getattr(args, "model", None)
        if model is not None:
            window.services.chats.load_model(model)
        _quit_on_signals(app)
        window.show()
        status = app.exec()
        window.hide()
        # So that it goes now: the engine may take a while.
        app.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        host = window.services.host
    instance.release()
    if host.is_stuck:
        _end_without_the_engine(status)
    return status


def _end_without_the_engine(status: int) -> NoReturn:
    """End the process while the engine's thread still runs, in a load that cannot be stopped, say. All that is kept is
    written; Qt would abort if the thread were freed."""
    log.warning("ending without the engine's thread")
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # nobody may be reading
            stream.flush()
    os._exit(status)


def make_application() -> QApplication:
    """The QApplication with its names, which desktops use to find the icon and to group windows."""
    QCoreApplication.setApplicationName("haloband")
    QCoreApplication.setOrganizationName("haloband")
    with refusal_in_words():
        app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationDisplayName("Haloband")
    app.setDesktopFileName(DESKTOP_ID)
    app.setWindowIcon(QIcon(str(ROOT / "icons" / "app" / f"{DESKTOP_ID}.svg")))
    return app


@contextlib.contextmanager
def open_window(paths: AppPaths, loader: EngineLoader, problems: list[str]) -> Iterator[MainWindow]:
    """A window on everything it needs, not shown yet; all is closed at the end. `problems` are shown as banners."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    with contextlib.suppress(OSError):  # the parts that write say it themselves
        paths.create()
    settings = SettingsService(SettingsFile(paths.settings_file))
    install_language(app, settings.settings.general.language)
    theme = ThemeController()
    host = EngineHost(loader, session_limit=settings.settings.model.sessions_kept)
    store = Store(paths.database_file)
    chats = ChatService(store, host, settings)
    services = WindowServices(paths, settings, host, chats)
    panels = make_side_panels(host, paths.benchmarks_dir, theme.theme)
    window = MainWindow(services, theme, panels.widget)
    panels.panel.qualification_requested.connect(window.commands.show_qualification)
    settings.problem_found.connect(window.show_problem)
    settings.changed.connect(lambda now, _before: host.set_session_limit(now.model.sessions_kept))
    for number, problem in enumerate((*problems, *settings.load_problems)):
        window.chat.banners.show_notice(Notice(NoticeLevel.WARNING, problem, key=f"start-{number}"))
    host.start()
    chats.start()
    try:
        yield window
    finally:
        panels.close()
        window.close_tasks()
        chats.shutdown()
        settings.close()
        window.deleteLater()
        theme.restore()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _raise_other(instance: SingleInstance) -> int:
    """Another process has the data folder: bring its window to the front instead of opening a second one."""
    if instance.raise_first():
        return 0
    print("haloband: another Haloband uses this data folder, but its window does not answer.", file=sys.stderr)
    return 1


def _quit_on_signals(app: QApplication) -> None:
    """Ctrl+C in the terminal and the session's end close the window properly. Python looks at signals when a timer of
    ours runs, at least every second (app/garbage.py). A signal before the event loop ends it as it begins."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: QTimer.singleShot(0, app.quit))
