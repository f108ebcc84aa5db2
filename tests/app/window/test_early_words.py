"""What is written in the window's first moments, before its chat is read, is not lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import open_window
from app.paths import app_paths
from tests.app.fake_engine import FakeEngine, FakeScript
from tests.app.window.driver import WindowDriver


@contextmanager
def opened(qtbot: QtBot, folder: Path) -> Iterator[WindowDriver]:
    """A window that nothing has come to yet."""
    engine = FakeEngine(FakeScript())
    with open_window(app_paths(folder), engine.load, []) as window:
        window.show()
        driver = WindowDriver(qtbot, window, engine)
        assert driver.chats.current_chat_id is None
        yield driver


def test_early_words_follow_the_stored_draft_and_are_stored(qtbot: QtBot, tmp_path: Path) -> None:
    for typed, draft in (("One", "One"), ("Two", "One\nTwo"), ("", "One\nTwo")):
        with opened(qtbot, tmp_path) as driver:
            driver.type(typed)
            driver.wait(lambda: driver.chats.current_chat_id is not None)
            assert driver.draft == draft


def test_nothing_is_sent_before_one_sees_what_would_be(qtbot: QtBot, tmp_path: Path) -> None:
    """The stored draft, which is not shown yet, would go with it."""
    with opened(qtbot, tmp_path) as driver:
        driver.type("Hello")
        driver.press(Qt.Key.Key_Return)
        driver.wait(lambda: driver.chats.current_chat_id is not None)
        assert driver.draft == "Hello" and not driver.messages
        driver.press(Qt.Key.Key_Return)
        driver.wait(lambda: len(driver.messages) == 2)
        driver.wait_for_end()
        assert driver.messages[0].text == "Hello" and driver.draft == ""
