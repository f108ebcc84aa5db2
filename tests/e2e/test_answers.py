"""Asking, stopping, asking again, editing and branching, with the embedded model."""

from app.composer.chips import Chip
from app.transcript.model import MessageState
from tests.app.window.driver import WindowDriver

LONG = "The halo is a ring of light around the sun, made by ice crystals high in the air. " * 150


def test_ask_follow_up_and_new_chat(real: WindowDriver) -> None:
    answer = real.ask("Write a short poem about the sea.")
    assert answer.state is MessageState.COMPLETE
    assert answer.text and "tok/s" in answer.stats
    real.ask("And one about the sky.")
    assert len(real.messages) == 4
    real.trigger("new_chat")
    real.wait(lambda: not real.messages)
    real.ask("Who are you?")
    assert len(real.messages) == 2


def test_stop_in_prefill_then_ask_again(real: WindowDriver) -> None:
    real.paste(LONG)
    real.wait(lambda: real.composer.chips.findChildren(Chip)[0].property("state") == "ready")
    real.send("Summarise this.")
    real.wait(lambda: real.last.prefill is not None)
    real.trigger("stop")
    real.wait_for_end()
    assert real.last.state is MessageState.STOPPED
    assert real.ask("Who are you?").state is MessageState.COMPLETE


def test_stop_in_decode_keeps_the_text(real: WindowDriver) -> None:
    real.window.settings.row("answers", "max_tokens").control.setValue(4096)  # type: ignore[attr-defined] # a spin box
    real.send("Write a very long story about the sea.")
    real.wait(lambda: len(real.last.text) > 20)
    seen = real.last.text
    real.click_primary()
    real.wait_for_end()
    assert real.last.state is MessageState.STOPPED
    assert real.last.text.startswith(seen)


def test_regenerate_while_streaming(real: WindowDriver) -> None:
    real.window.settings.row("answers", "max_tokens").control.setValue(400)  # type: ignore[attr-defined] # a spin box
    real.send("Write a story about the sea.")
    real.wait(lambda: real.last.text)
    real.trigger("regenerate")
    real.wait(lambda: real.last.version == 2)
    real.trigger("stop")
    real.wait_for_end()
    assert real.last.versions == 2
    real.window.chat.transcript.version_requested.emit(real.last.id, -1)
    real.wait(lambda: real.last.version == 1)
    assert real.last.text


def test_edit_makes_a_version_and_branch_a_chat(real: WindowDriver) -> None:
    real.ask("What is a river?")
    first = real.chats.current_chat_id
    real.window.chat.edit_last()
    real.composer.field.setPlainText("What is a lake?")
    real.composer.field.submitted.emit()
    real.wait(lambda: real.messages[0].text == "What is a lake?" and real.last.stats)
    assert real.messages[0].versions == 2
    real.window.chat.transcript.branch_requested.emit(real.last.id)
    real.wait(lambda: real.chats.current_chat_id != first and len(real.messages) == 2)
    assert real.messages[0].text == "What is a lake?"


def test_switching_the_model_while_answering(real: WindowDriver) -> None:
    """The answer is finished with the model it began with, then the other one is loaded."""
    real.send("Write a short poem about the sea.")
    real.chats.load_model(None)
    real.wait_for_end()
    assert real.last.state is MessageState.COMPLETE
    real.wait(lambda: real.chats.model_status.state.value == "ready")
    assert real.ask("Who are you?").state is MessageState.COMPLETE
