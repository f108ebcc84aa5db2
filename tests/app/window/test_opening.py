"""Views of a long chat are made in slices, whole and in order, and at once when something happens to the chat."""

import pytest
from pytestqt.qtbot import QtBot

from app import window_opening
from app.chat.models import Message, MessageState, Role
from app.transcript.model import MessageView
from app.transcript.model import Role as ViewRole
from app.window_opening import Opening


def messages(count: int) -> list[Message]:
    return [Message(n, 1, None, Role.USER, f"text {n}", "", MessageState.COMPLETE, 0.0) for n in range(count)]


def view(message: Message) -> MessageView:
    return MessageView(message.id, ViewRole.USER, message.text)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock, one in 256 messages, ends a slice."""
    monkeypatch.setattr(window_opening, "_SLICE_S", 0.0)


def test_a_chat_of_usual_length_is_ready_at_once(qtbot: QtBot, slow: None) -> None:
    done: list[list[MessageView]] = []
    Opening(view).start(messages(200), done.append)
    assert [v.id for v in done[0]] == list(range(200))


def test_a_long_chat_comes_whole_and_once_after_some_slices(qtbot: QtBot, slow: None) -> None:
    done: list[list[MessageView]] = []
    opening = Opening(view)
    opening.start(messages(2_000), done.append)
    assert not done
    qtbot.waitUntil(lambda: bool(done), timeout=20_000)
    assert [v.id for v in done[0]] == list(range(2_000))
    qtbot.wait(20)
    assert len(done) == 1


def test_what_is_needed_now_is_handed_over_now_and_once(qtbot: QtBot, slow: None) -> None:
    done: list[list[MessageView]] = []
    opening = Opening(view)
    opening.start(messages(1_000), lambda _: done.append([]))  # forgotten by the next start
    opening.start(messages(2_000), done.append)
    opening.finish()
    assert [v.id for v in done[0]] == list(range(2_000))
    opening.finish()
    qtbot.wait(20)
    assert len(done) == 1
