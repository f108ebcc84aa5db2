"""The whole window on a fake engine and a temporary folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import engine.sampling  # noqa: F401 - pulls in torch, which the first answer would otherwise wait for
from app.main_window import open_window
from app.paths import app_paths
from tests.app.fake_engine import FakeEngine, FakeScript
from tests.app.window.driver import WindowDriver

OpenDriver = Callable[..., WindowDriver]


@pytest.fixture
def open_driver(qtbot: QtBot, tmp_path: Path) -> Iterator[OpenDriver]:
    """open_driver(FakeScript(...)) opens a window; a second call on the same folder is a restart."""
    with ExitStack() as stack:

        def open_one(script: FakeScript | None = None, *, load: bool = True) -> WindowDriver:
            stack.close()
            engine = FakeEngine(script or FakeScript())
            window = stack.enter_context(open_window(app_paths(tmp_path), engine.load, []))
            window.resize(1200, 800)
            window.show()
            driver = WindowDriver(qtbot, window, engine)
            driver.wait(lambda: driver.chats.current_chat_id is not None)
            if load:
                driver.wait(lambda: window.services.host.has_model)
            return driver

        yield open_one


@pytest.fixture
def driver(open_driver: OpenDriver) -> WindowDriver:
    return open_driver()


@pytest.fixture
def right_to_left(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As under Arabic or Hebrew."""
    monkeypatch.setattr(
        "app.main_window.install_language", lambda app, _: app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    )
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
