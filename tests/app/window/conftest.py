"""The whole window on a fake engine and a temporary folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.main_window import open_window
from app.paths import app_paths
from app.transcript.model import MessageState, MessageView
from app.window import MainWindow
from tests.app.fake_engine import FakeEngine, FakeScript

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform has no window manager to tell a window's least size to, and says so each time."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("propagateSizeHints"))


class WindowDriver:
    """Does what a person does, and waits for what they would see."""

    def __init__(self, qtbot: QtBot, window: MainWindow, engine: FakeEngine) -> None:
        self.qtbot, self.window, self.engine = qtbot, window, engine
        self.composer = window.chat.composer
        self.chats = window.services.chats

    def wait(self, condition: Callable[[], object], timeout_ms: int = 20_000) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=timeout_ms)

    @property
    def messages(self) -> list[MessageView]:
        return list(self.window.chat.transcript.messages)

    @property
    def last(self) -> MessageView:
        return self.messages[-1]

    @property
    def draft(self) -> str:
        return self.composer.field.toPlainText()

    def type(self, text: str) -> None:
        self.qtbot.keyClicks(self.composer.field, text)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """A key in the composer."""
        self.qtbot.keyClick(self.composer.field, key, modifiers)

    def trigger(self, action: str) -> None:
        """A shortcut of the window, by the name of its action."""
        self.window.shortcuts[action].trigger()

    def paste(self, text: str) -> None:
        QApplication.clipboard().setText(text)
        self.composer.field.paste()

    def send(self, text: str) -> None:
        """Type and press Enter, and wait for the answer to begin."""
        before = len(self.messages)
        self.type(text)
        self.press(Qt.Key.Key_Return)
        self.wait(lambda: len(self.messages) == before + 2)

    def ask(self, text: str) -> MessageView:
        """Send a question and wait for the whole answer."""
        self.send(text)
        self.wait_for_end()
        return self.last

    def wait_for_end(self) -> None:
        ended = (MessageState.COMPLETE, MessageState.STOPPED, MessageState.FAILED)
        self.wait(lambda: self.messages and self.last.state in ended)

    def click_primary(self) -> None:
        self.qtbot.mouseClick(self.composer.primary_button, Qt.MouseButton.LeftButton)


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
