"""From the key press to the last word: sending, streaming, stopping, failing, closing."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.generation import GenerationState
from app.transcript.model import MessageState
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver

SLOW_ANSWER = FakeScript(answer=tuple(f"word{n} " for n in range(400)), token_s=0.02)
SLOW_PROMPT = FakeScript(prefill_s=30.0, step_tokens=4)


def label_texts(driver: WindowDriver) -> list[str]:
    return [label.text() for label in driver.window.findChildren(QLabel) if label.isVisible()]


def test_a_question_is_sent_with_enter_and_answered(driver: WindowDriver) -> None:
    answer = driver.ask("Who are you?")
    assert [m.text for m in driver.messages] == ["Who are you?", "Hello, world."]
    assert answer.state is MessageState.COMPLETE
    assert driver.draft == ""
    assert "4 tokens" in answer.stats and "finished" in answer.stats


def test_shift_enter_breaks_the_line(driver: WindowDriver) -> None:
    driver.type("one")
    driver.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    driver.type("two")
    assert driver.draft == "one\ntwo"
    assert driver.messages == []


def test_nothing_is_sent_when_nothing_is_written(driver: WindowDriver) -> None:
    driver.press(Qt.Key.Key_Return)
    driver.type("   ")
    driver.press(Qt.Key.Key_Return)
    driver.qtbot.wait(50)
    assert driver.messages == []


def test_send_becomes_stop_while_answering(open_driver: OpenDriver) -> None:
    driver = open_driver(SLOW_ANSWER)
    assert driver.composer.primary_button.accessibleName() == "Send"
    driver.send("Go on")
    driver.wait(lambda: "word3" in driver.last.text)
    assert driver.composer.primary_button.accessibleName() == "Stop"
    driver.click_primary()
    driver.wait_for_end()
    assert driver.last.state is MessageState.STOPPED
    assert driver.last.text.startswith("word0 word1 ")
    assert "stopped" in driver.last.stats
    assert driver.composer.primary_button.accessibleName() == "Send"


def test_escape_stops_while_the_prompt_is_read(open_driver: OpenDriver) -> None:
    driver = open_driver(SLOW_PROMPT)
    driver.send("A question that takes long to read")
    driver.wait(lambda: driver.last.prefill is not None and driver.last.prefill.tokens_done)
    assert driver.last.state is MessageState.WAITING
    assert any("Reading the prompt" in text and "%" in text for text in label_texts(driver))
    driver.trigger("stop")
    driver.wait_for_end()
    assert driver.last.state is MessageState.STOPPED
    assert driver.last.text == ""


def test_the_status_line_says_what_happens(open_driver: OpenDriver) -> None:
    driver = open_driver(SLOW_ANSWER)
    driver.send("Go on")
    driver.wait(lambda: any(text.startswith("Answering") for text in label_texts(driver)))
    driver.trigger("stop")
    driver.wait(lambda: "Finished" in label_texts(driver))


def test_an_answer_that_fails_says_so_and_can_be_tried_again(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(answer=("one ", "two ", "three"), token_error=RuntimeError("the device is gone")))
    driver.send("Go on")
    driver.wait_for_end()
    assert driver.last.state is MessageState.FAILED
    assert "the device is gone" in driver.last.notice
    assert driver.last.text.startswith("one")
    driver.engine.script = FakeScript()
    driver.window.chat.transcript.regenerate_requested.emit(driver.last.id)
    driver.wait(lambda: driver.last.version == 2)
    driver.wait_for_end()


def test_the_question_waits_for_a_model_that_loads(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(load_s=1.0), load=False)
    driver.send("Are you there?")
    driver.wait(lambda: "Loading the model" in label_texts(driver))
    assert driver.last.state is MessageState.WAITING
    driver.wait_for_end()
    assert driver.last.text == "Hello, world."


def test_closing_while_answering_keeps_what_had_arrived(open_driver: OpenDriver) -> None:
    driver = open_driver(SLOW_ANSWER)
    driver.send("Go on")
    driver.wait(lambda: "word5" in driver.last.text)
    driver.window.close()
    again = open_driver(SLOW_ANSWER)
    again.wait(lambda: len(again.messages) == 2)
    assert again.messages[0].text == "Go on"
    assert "word5" in again.last.text
    assert again.last.state is MessageState.STOPPED


def test_leaving_a_chat_does_not_stop_its_answer(open_driver: OpenDriver) -> None:
    driver = open_driver(SLOW_ANSWER)
    driver.send("Go on")
    busy = driver.chats.current_chat_id
    assert busy is not None
    driver.wait(lambda: "word2" in driver.last.text)
    driver.trigger("new_chat")
    driver.wait(lambda: driver.chats.current_chat_id != busy)
    assert driver.messages == []
    assert driver.chats.status(busy).state is GenerationState.DECODING
    assert any(row.chat_id == busy and row.is_working for row in driver.window.sidebar.rows)
    driver.chats.open_chat(busy)
    driver.wait(lambda: driver.messages and "word9" in driver.last.text)
    driver.trigger("stop")
    driver.wait_for_end()


def test_thinking_stands_in_its_fold(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(thoughts=("First ", "this."), answer=("Then ", "that.")))
    driver.window.settings.row("answers", "thinking").control.setChecked(True)
    answer = driver.ask("Think")
    assert (answer.thinking, answer.text) == ("First this.", "Then that.")
    assert answer.thinking_tokens is not None and answer.thinking_tokens >= 2
