"""Does to a window what a person does, and waits for what they would see. Used by the window's tests and tests/e2e."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.chat.service import ChatService
from app.composer.composer import Composer
from app.transcript.model import MessageState, MessageView
from app.window import MainWindow
from tests.app.fake_engine import FakeEngine

ENDED = (MessageState.COMPLETE, MessageState.STOPPED, MessageState.FAILED)


class WindowDriver:
    """Does what a person does, and waits for what they would see."""

    def __init__(
        self, qtbot: QtBot, window: MainWindow, engine: FakeEngine | None = None, timeout_ms: int = 20_000
    ) -> None:
        self.qtbot, self.window, self._engine = qtbot, window, engine
        self.composer: Composer = window.chat.composer
        self.chats: ChatService = window.services.chats
        self._timeout_ms = timeout_ms

    @property
    def engine(self) -> FakeEngine:
        assert self._engine is not None, "this window runs on the real engine"
        return self._engine

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=self._timeout_ms)

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
        self.wait(lambda: self.messages and self.last.state in ENDED)

    def press_button(self, name: str, message_id: int | None = None) -> None:
        """Click the button of this name under a message (the last one by default), the pointer over it."""
        frame = self.window.chat.transcript.frame(self.last.id if message_id is None else message_id)
        assert frame is not None, "the message is not in sight"
        frame.set_hovered(True)
        found = [b for b in frame.findChildren(QAbstractButton) if b.accessibleName() == name and b.isVisible()]
        assert len(found) == 1, f"{len(found)} buttons {name!r}"
        self.qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)

    def rename(self, title: str) -> None:
        """Press F2 and write another title into the list."""
        self.trigger("rename")
        self.wait(lambda: self.window.sidebar.list.findChildren(QLineEdit))
        (editor,) = self.window.sidebar.list.findChildren(QLineEdit)
        editor.selectAll()
        self.qtbot.keyClicks(editor, title)
        self.qtbot.keyClick(editor, Qt.Key.Key_Return)

    def choose_from_menu(self, title: str, text: str) -> None:
        """An entry of the context menu of the chat with this title."""
        sidebar = self.window.sidebar
        number = next(n for n, row in enumerate(sidebar.rows) if row.shown_title == title)
        menu = sidebar.menu_for(sidebar.rows[number], sidebar.list.model().index(number, 0))
        next(action for action in menu.actions() if action.text() == text).trigger()

    def click_primary(self) -> None:
        self.qtbot.mouseClick(self.composer.primary_button, Qt.MouseButton.LeftButton)
