"""Long pastes, documents, drafts, and what does not fit."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from app.chat.budget import ContextBudget, FitChoice, SendRefused
from app.composer.chips import Chip
from app.composer.fit_words import option_words
from app.transcript.model import MessageState
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver

MEGABYTE = 1 << 20


def chips(driver: WindowDriver) -> list[Chip]:
    return [chip for chip in driver.composer.chips.findChildren(Chip) if not chip.isHidden()]


@pytest.mark.parametrize("text", ["line of a document\n" * (MEGABYTE // 19), "x" * MEGABYTE], ids=["lines", "one line"])
def test_a_megabyte_becomes_a_chip_and_reaches_the_model_whole(open_driver: OpenDriver, text: str) -> None:
    driver = open_driver(FakeScript(context_length=1 << 20))
    driver.window.settings.row("model", "context").control.setValue(1 << 20)
    driver.paste(text)
    assert driver.draft == ""
    driver.wait(
        lambda: chips(driver) and "1,020 KiB" in chips(driver)[0].accessibleName().replace("1.00 MiB", "1,020 KiB")
    )
    driver.wait(lambda: chips(driver) and "– tokens" not in chips(driver)[0].accessibleName())
    answer = driver.ask("Summarise")
    assert answer.state is MessageState.COMPLETE
    assert driver.messages[0].attachments[0].size_bytes == len(text)
    assert chips(driver) == []


def test_a_short_paste_is_typed(driver: WindowDriver) -> None:
    driver.paste("a few words")
    assert driver.draft == "a few words"
    assert chips(driver) == []


def test_a_chip_can_be_removed_and_inserted_as_text(driver: WindowDriver) -> None:
    text = "a sentence of a document. " * 200
    driver.paste(text)
    driver.wait(lambda: chips(driver) and chips(driver)[0].insert_button.isVisible())
    chips(driver)[0].insert_button.click()
    driver.wait(lambda: text in driver.draft)
    driver.wait(lambda: not chips(driver))
    driver.composer.field.clear()
    driver.paste(text)
    driver.wait(lambda: chips(driver) and chips(driver)[0].insert_button.isVisible())
    chips(driver)[0].remove_button.click()
    driver.wait(lambda: not chips(driver))


def test_dropped_files_become_chips_and_bad_ones_say_why(driver: WindowDriver, tmp_path: Path) -> None:
    good, bad = tmp_path / "notes.md", tmp_path / "broken.pdf"
    good.write_text("# Notes\n\nSome text.")
    bad.write_bytes(b"%PDF-1.4 this is no pdf")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in (good, bad)])
    event = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    driver.composer.field.dropEvent(event)
    driver.wait(lambda: len(chips(driver)) == 2)
    driver.wait(
        lambda: any("broken.pdf" in c.accessibleName() and c.property("state") == "failed" for c in chips(driver))
    )
    assert any("notes.md" in c.accessibleName() for c in chips(driver))


def test_what_does_not_fit_is_said_before_anything_is_sent(driver: WindowDriver) -> None:
    driver.window.settings.row("model", "context").control.setValue(256)
    driver.window.settings.row("answers", "max_tokens").control.setValue(64)
    text = "a sentence of a document. " * 200
    driver.paste(text)
    driver.wait(lambda: chips(driver))
    driver.type("Summarise")
    driver.wait(lambda: driver.composer.meter.is_over)
    driver.press(Qt.Key.Key_Return)
    driver.wait(driver.composer.refusal.isVisible)
    assert driver.messages == []
    assert driver.draft == "Summarise"
    larger = next(b for b in driver.composer.refusal.buttons if "context" in b.text())
    larger.click()
    driver.wait(lambda: len(driver.messages) == 2)
    driver.wait_for_end()
    assert driver.last.state is MessageState.COMPLETE


def test_a_refusal_stays_until_the_question_was_changed_and_fits(driver: WindowDriver) -> None:
    composer, refusal = driver.composer, driver.composer.refusal
    fits, unknown = ContextBudget(1, 256, 10, 0, 5, 64), ContextBudget(1, 256, 10, 0, None, 64)

    def refuse() -> None:
        composer.show_refusal(SendRefused(1, ContextBudget(1, 256, 10, 0, 400, 64), "Too long.", ()))

    driver.type("a question")
    refuse()
    composer.set_budget(fits)  # an older count, still on its way when the question was refused
    assert refusal.isVisible()
    driver.type(" changed")
    composer.set_budget(unknown)
    assert refusal.isVisible()
    composer.set_budget(fits)
    assert not refusal.isVisible()
    refuse()
    composer.set_budget(ContextBudget(1, 1024, 10, 0, 400, 64))  # a larger context from the settings
    assert not refusal.isVisible()


def test_left_out_turns_are_said_and_sent_again(driver: WindowDriver) -> None:
    for number in range(3):
        driver.ask(f"question {number} " + "x" * 200)
    driver.window.settings.row("model", "context").control.setValue(300)
    driver.window.settings.row("answers", "max_tokens").control.setValue(64)
    driver.type("y" * 400)
    driver.press(Qt.Key.Key_Return)
    driver.wait(driver.composer.refusal.isVisible)
    next(b for b in driver.composer.refusal.buttons if "oldest" in b.text()).click()
    driver.wait(lambda: len(driver.messages) == 8)
    driver.wait_for_end()
    banner = driver.window.chat.banners.left_out
    driver.wait(banner.isVisible)
    start = driver.chats.current_chat.history_from_id if driver.chats.current_chat else None
    assert f"first {[m.id for m in driver.messages].index(start)} message" in banner.text
    first = driver.chats.current_chat_id
    driver.trigger("new_chat")
    driver.wait(lambda: not driver.messages)
    assert not banner.isVisible()
    driver.chats.open_chat(first)
    driver.wait(banner.isVisible)
    banner.buttons[0].click()
    driver.wait(lambda: not banner.isVisible())
    assert driver.chats.current_chat is not None and driver.chats.current_chat.history_from_id is None


def test_a_changed_question_that_does_not_fit_stays_in_the_composer(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.type("half a draft")
    driver.window.settings.row("model", "context").control.setValue(256)
    driver.window.settings.row("answers", "max_tokens").control.setValue(64)
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("a longer question " * 60)
    driver.press(Qt.Key.Key_Return)
    driver.wait(driver.composer.refusal.isVisible)
    assert driver.draft == "a longer question " * 60
    assert driver.composer.editing.isVisible()
    next(b for b in driver.composer.refusal.buttons if "context" in b.text()).click()
    driver.wait(lambda: driver.messages[0].versions == 2)
    assert driver.draft == "half a draft"
    assert not driver.composer.editing.isVisible() and not driver.composer.refusal.isVisible()
    driver.wait_for_end()


def test_a_refused_question_is_sent_as_it_is_by_then(driver: WindowDriver) -> None:
    driver.window.settings.row("model", "context").control.setValue(256)
    driver.window.settings.row("answers", "max_tokens").control.setValue(64)
    driver.composer.field.setPlainText("a longer question " * 60)
    driver.press(Qt.Key.Key_Return)
    driver.wait(driver.composer.refusal.isVisible)
    driver.composer.field.setPlainText("a corrected question " * 60)
    next(b for b in driver.composer.refusal.buttons if "context" in b.text()).click()
    driver.wait(lambda: len(driver.messages) == 2)
    assert driver.messages[0].text == "a corrected question " * 60
    assert driver.draft == ""
    driver.wait_for_end()


def test_a_refused_edit_is_sent_as_it_is_by_then(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.window.settings.row("model", "context").control.setValue(256)
    driver.window.settings.row("answers", "max_tokens").control.setValue(64)
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("a longer question " * 60)
    driver.press(Qt.Key.Key_Return)
    driver.wait(driver.composer.refusal.isVisible)
    driver.composer.field.setPlainText("a corrected question " * 60)
    next(b for b in driver.composer.refusal.buttons if "context" in b.text()).click()
    driver.wait(lambda: driver.messages[0].versions == 2)
    assert driver.messages[0].text == "a corrected question " * 60
    assert not driver.composer.editing.isVisible()
    driver.wait_for_end()


def test_what_is_typed_while_a_question_is_sent_stays_in_the_field(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(encode_s=0.1))
    driver.type("First")
    driver.press(Qt.Key.Key_Return)
    driver.composer.field.insertPlainText("\nA second thought")
    driver.press(Qt.Key.Key_Return)
    driver.wait(lambda: len(driver.messages) == 2)
    driver.wait_for_end()
    assert driver.messages[0].text == "First"
    assert driver.draft == "A second thought"


def test_what_is_typed_while_an_edit_is_sent_stays_in_the_field(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(encode_s=0.1))
    driver.ask("A question")
    driver.window.chat.edit_last()
    driver.composer.field.setPlainText("A changed question")
    driver.press(Qt.Key.Key_Return)
    driver.composer.field.insertPlainText("Typed meanwhile. ")
    typed = driver.draft
    driver.wait(lambda: driver.messages[0].versions == 2)
    driver.wait_for_end()
    assert driver.messages[0].text == "A changed question"
    assert driver.draft == typed
    assert driver.composer.editing.isVisible()


def test_another_answer_that_does_not_fit_says_so_whatever_is_typed(driver: WindowDriver) -> None:
    driver.ask("a long question " * 60)
    driver.window.settings.row("model", "context").control.setValue(256)
    driver.window.settings.row("answers", "max_tokens").control.setValue(64)
    driver.trigger("regenerate")
    driver.wait(driver.composer.refusal.isVisible)
    assert "No new answer was begun" in driver.composer.refusal.text
    driver.composer.set_budget(ContextBudget(1, 256, 10, 0, 5, 64))  # the draft fits, and that changes nothing
    assert driver.composer.refusal.isVisible()
    next(b for b in driver.composer.refusal.buttons if "context" in b.text()).click()
    driver.wait(lambda: driver.last.versions == 2)
    assert not driver.composer.refusal.isVisible()
    driver.wait_for_end()


def test_every_choice_has_words() -> None:
    from app.chat.budget import FitOption

    words = [option_words(FitOption(choice, 1_000)) for choice in FitChoice]
    assert all(words) and len(set(words)) == len(words)


def test_drafts_are_kept_for_each_chat(driver: WindowDriver) -> None:
    driver.ask("First chat")
    first = driver.chats.current_chat_id
    assert first is not None
    driver.type("draft of the first")
    driver.trigger("new_chat")
    driver.wait(lambda: driver.chats.current_chat_id != first and driver.draft == "")
    driver.type("draft of the second")
    driver.chats.open_chat(first)
    driver.wait(lambda: driver.draft == "draft of the first")


def test_up_in_an_empty_field_edits_the_last_question(driver: WindowDriver) -> None:
    driver.ask("What is two and two?")
    driver.press(Qt.Key.Key_Up)
    assert driver.draft == "What is two and two?"
    assert driver.composer.editing.isVisible()
    driver.composer.field.selectAll()
    driver.type("What is three and three?")
    driver.press(Qt.Key.Key_Return)
    driver.wait(lambda: driver.messages[0].versions == 2)
    driver.wait_for_end()
    assert driver.messages[0].text == "What is three and three?"
    driver.window.chat.transcript.version_requested.emit(driver.messages[0].id, -1)
    driver.wait(lambda: driver.messages[0].text == "What is two and two?")


def test_escape_ends_an_edit_and_brings_the_draft_back(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.type("half a draft")
    driver.window.chat.edit_last()
    assert driver.draft == "A question"
    driver.trigger("stop")
    assert driver.draft == "half a draft"


def test_the_field_grows_to_a_third_of_the_window(driver: WindowDriver) -> None:
    one_line = driver.composer.field.height()
    driver.composer.field.setPlainText("line\n" * 4)
    assert driver.composer.field.height() > 3 * one_line
    driver.composer.field.setPlainText("line\n" * 500)
    assert driver.composer.field.height() <= driver.window.height() // 3 + 1
