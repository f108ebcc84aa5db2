"""Asking, stopping, asking again, editing and branching, with the embedded model."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.composer.chips import Chip
from app.transcript.model import MessageState
from resources import embedded_model
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
    real.wait(lambda: [chip.property("state") for chip in real.composer.chips.findChildren(Chip)] == ["ready"])
    real.send("Summarise this.")
    real.wait(lambda: real.last.prefill is not None)
    real.trigger("stop")
    real.wait_for_end()
    assert real.last.state is MessageState.STOPPED
    assert real.ask("Who are you?").state is MessageState.COMPLETE


@pytest.mark.usefixtures("endless")
def test_stop_in_decode_keeps_the_text(real: WindowDriver) -> None:
    real.window.settings.row("answers", "max_tokens").control.setValue(4096)  # type: ignore[attr-defined] # a spin box
    real.send("Write a very long story about the sea.")
    real.wait(lambda: len(real.last.text) > 20)
    seen = real.last.text
    real.click_primary()
    real.wait_for_end()
    assert real.last.state is MessageState.STOPPED
    assert real.last.text.startswith(seen)


@pytest.mark.usefixtures("endless")
def test_regenerate_while_streaming(real: WindowDriver) -> None:
    real.window.settings.row("answers", "max_tokens").control.setValue(400)  # type: ignore[attr-defined] # a spin box
    real.send("Write a story about the sea.")
    real.wait(lambda: real.last.text)
    real.press_button("Answer again")
    real.wait(lambda: real.last.version == 2)
    real.trigger("stop")
    real.wait_for_end()
    assert real.last.versions == 2
    real.press_button("Previous version")
    real.wait(lambda: real.last.version == 1)
    assert real.last.text


def test_edit_makes_a_version_and_branch_a_chat(real: WindowDriver) -> None:
    real.ask("What is a river?")
    first = real.chats.current_chat_id
    real.press_button("Edit and ask again", real.messages[0].id)
    assert real.draft == "What is a river?"
    real.composer.field.selectAll()
    real.type("What is a lake?")
    real.press(Qt.Key.Key_Return)
    real.wait(lambda: real.messages[0].text == "What is a lake?" and real.last.stats)
    assert real.messages[0].versions == 2
    real.press_button("Previous version", real.messages[0].id)
    real.wait(lambda: real.messages[0].text == "What is a river?")
    real.press_button("Next version", real.messages[0].id)
    real.wait(lambda: real.messages[0].text == "What is a lake?")
    real.press_button("Continue in a new chat from here")
    real.wait(lambda: real.chats.current_chat_id != first and len(real.messages) == 2)
    assert real.messages[0].text == "What is a lake?"


def test_switching_the_model_while_answering(real: WindowDriver, tmp_path: Path) -> None:
    """The answer is finished with the model it began with, then the other one is loaded."""
    other = tmp_path / "other.gguf"
    shutil.copyfile(embedded_model(), other)
    real.window.models.add_file(other)
    real.wait(lambda: len(real.window.models.cards) == 2)
    real.send("Write a short poem about the sea.")
    real.trigger("models")
    card = next(card for card in real.window.models.cards if card.entry.path == other)
    real.qtbot.mouseClick(card.use_button, Qt.MouseButton.LeftButton)
    real.wait_for_end()
    assert real.last.state is MessageState.COMPLETE
    real.wait(lambda: card.use_button.text() == "In use")
    real.trigger("stop")  # leaves the page
    assert real.ask("Who are you?").state is MessageState.COMPLETE
