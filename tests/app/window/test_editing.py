"""Changing an earlier question: what is pasted belongs to it, the draft and its documents wait, and nothing is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.chat.editable import LONGEST_LINE
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver

PASTE = "a sentence of a document.\n" * 200


def wait_for_document(driver: WindowDriver) -> int:
    """The key of the one document that waits, once it is stored."""
    driver.wait(lambda: [d for d in driver.chats._drafting.pending(chat_id(driver)) if d.info is not None])
    return driver.chats._drafting.pending(chat_id(driver))[0].key


def chat_id(driver: WindowDriver) -> int:
    assert driver.chats.current_chat_id is not None
    return driver.chats.current_chat_id


def test_a_long_paste_is_text_of_the_question_that_is_changed(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.window.chat.edit_last()
    driver.composer.field.selectAll()
    driver.paste(PASTE)
    assert driver.draft == PASTE
    driver.press(Qt.Key.Key_Return)
    driver.wait(lambda: driver.messages[0].versions == 2)
    driver.wait_for_end()
    assert driver.messages[0].text == PASTE
    assert driver.chats._drafting.pending(chat_id(driver)) == ()


@pytest.mark.parametrize(
    "add",
    [
        lambda driver, file: driver.composer.field.files_dropped.emit([file]),
        lambda driver, _: driver.composer.attach_button.click(),
        lambda driver, _: driver.trigger("attach"),
        lambda driver, _: driver.paste("x" * (LONGEST_LINE + 1)),
    ],
    ids=["dropped", "attached", "by shortcut", "a paste too long to edit"],
)
def test_no_document_goes_where_it_is_not_sent(
    driver: WindowDriver, tmp_path: Path, add: Callable[[WindowDriver, Path], None]
) -> None:
    (tmp_path / "notes.txt").write_text("some text")
    driver.ask("A question")
    driver.window.chat.edit_last()
    add(driver, tmp_path / "notes.txt")
    assert "takes no new documents" in driver.composer.editing.text
    assert driver.composer.edited_message_id is not None
    assert driver.draft == "A question"
    driver.type("!")
    assert driver.composer.editing.text.startswith("Editing an earlier question")
    assert driver.chats._drafting.pending(chat_id(driver)) == ()


def test_the_meter_of_the_draft_is_not_shown_for_another_question(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.type("my draft")
    driver.window.chat.edit_last()
    assert not driver.composer.meter.isVisible()
    driver.trigger("stop")
    assert driver.composer.meter.isVisible()


def test_documents_of_the_draft_wait_out_of_sight(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.paste(PASTE)
    wait_for_document(driver)
    driver.wait(driver.composer.chips.isVisible)
    driver.window.chat.edit_last()
    assert not driver.composer.chips.isVisible()
    driver.composer.field.clear()
    assert not driver.composer.primary_button.isEnabled()
    driver.composer.set_theme(driver.window.chat._theme)
    assert not driver.composer.chips.isVisible()
    driver.trigger("stop")
    assert driver.composer.chips.isVisible()
    assert driver.composer.primary_button.isEnabled()


def test_a_document_made_text_meanwhile_stands_in_the_draft(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.type("my draft")
    driver.paste(PASTE)
    key = wait_for_document(driver)
    driver.composer.document_inserted.emit(key)
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("A changed question")
    driver.wait(lambda: not driver.chats._drafting.pending(chat_id(driver)))
    assert driver.draft == "A changed question"
    driver.trigger("stop")
    assert driver.draft == f"my draft\n{PASTE}"


def test_a_question_stored_meanwhile_leaves_the_draft(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(encode_s=0.1))
    driver.ask("A question")
    driver.type("Another")
    driver.press(Qt.Key.Key_Return)
    driver.composer.field.insertPlainText("\nAnd a thought")
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("A changed question")
    driver.wait(lambda: len(driver.messages) == 4)
    driver.wait_for_end()
    assert driver.draft == "A changed question"
    driver.trigger("stop")
    assert driver.draft == "And a thought"


def go_elsewhere_and_back(driver: WindowDriver, meanwhile: Callable[[], object]) -> None:
    first = chat_id(driver)
    driver.trigger("new_chat")
    driver.wait(lambda: chat_id(driver) != first)
    assert not driver.composer.editing.isVisible()
    assert driver.draft == ""
    meanwhile()
    driver.chats.open_chat(first)
    driver.wait(lambda: chat_id(driver) == first)


def test_an_unfinished_edit_is_there_when_its_chat_is_shown_again(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.type("my draft")
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("A half changed ques")
    for _ in range(2):
        go_elsewhere_and_back(driver, lambda: None)
        assert driver.composer.editing.isVisible()
        assert driver.draft == "A half changed ques"
    driver.trigger("stop")
    assert driver.draft == "my draft"
    go_elsewhere_and_back(driver, lambda: None)  # one that was ended does not come back
    assert not driver.composer.editing.isVisible()
    assert driver.draft == "my draft"


def test_what_is_written_on_after_an_edit_is_sent_comes_back_too(open_driver: OpenDriver) -> None:
    """Its question is not on the branch that is shown then."""
    driver = open_driver(FakeScript(encode_s=0.1))
    driver.ask("A question")
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("A changed question")
    driver.press(Qt.Key.Key_Return)
    driver.composer.field.insertPlainText(", and a thought")
    driver.wait(lambda: driver.messages[0].text == "A changed question")
    driver.wait_for_end()
    written = driver.draft
    assert ", and a thought" in written
    go_elsewhere_and_back(driver, lambda: None)
    assert driver.composer.editing.isVisible() and driver.draft == written


def test_an_edit_that_was_sent_meanwhile_does_not_come_back(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(encode_s=0.1))
    driver.ask("A question")
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("A changed question")
    edited: list[int] = []
    driver.chats.edited.connect(lambda message_id, _: edited.append(message_id))
    driver.press(Qt.Key.Key_Return)
    go_elsewhere_and_back(driver, lambda: driver.wait(lambda: edited))
    assert not driver.composer.editing.isVisible()
    assert driver.draft == ""
    driver.wait(lambda: driver.messages[0].text == "A changed question")
    driver.wait_for_end()
    driver.window.chat.transcript.version_requested.emit(driver.messages[0].id, -1)
    driver.wait(lambda: driver.messages[0].text == "A question")
    go_elsewhere_and_back(driver, lambda: None)
    assert not driver.composer.editing.isVisible()
