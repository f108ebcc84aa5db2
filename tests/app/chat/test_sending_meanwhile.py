"""What a person does while a question is on its way - counted, or just being stored - never loses a question."""

import sqlite3
import threading
from collections.abc import Callable, Iterator

import pytest

from app.chat import sending
from app.chat.question import Committed
from app.store import tidying
from tests.app.backend_recorder import BackendRecorder
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

COUNTS_SLOWLY = FakeScript(encode_s=0.05)
FIRST_ANSWER = "Hello, world."


def with_versions(make_backend: MakeBackend) -> BackendRecorder:
    """A chat with two versions of its first question, the second of them shown and followed by another question."""
    chat = make_backend(COUNTS_SLOWLY)
    chat.ask("first")
    changed = len(chat.told["branch_changed"])
    chat.chats.edit_message(chat.shown[0].id, "first, changed")
    chat.wait(lambda: len(chat.told["branch_changed"]) > changed)
    chat.wait_idle()
    chat.ask("second")
    return chat


def send_and(chat: BackendRecorder, meanwhile: Callable[[], object]) -> None:
    """Send a question, do something while it is counted, and wait for its answer."""
    before = len(chat.sent)
    chat.chats.set_draft("third")
    chat.chats.send()
    assert chat.is_sending(chat.chat_id)
    meanwhile()
    chat.wait(lambda: len(chat.sent) > before)
    chat.wait_idle()
    chat.settle()


def assert_nothing_is_lost(chat: BackendRecorder) -> None:
    """What is shown is what the store has, and tidying keeps it."""
    shown = chat.texts
    assert shown[-2:] == ["third", FIRST_ANSWER]
    tidied: list[object] = []
    chat.backend.store.submit(tidying.purge_deleted, tidied.append)
    chat.wait(lambda: tidied)
    chat.wait_next("chat_opened", lambda: chat.chats.open_chat(chat.chat_id))
    assert chat.texts == shown


@pytest.mark.parametrize(
    "change",
    [
        lambda chat: chat.chats.delete_message(chat.shown[0].id),
        lambda chat: chat.chats.delete_message(chat.shown[-1].id),
        lambda chat: chat.chats.select_version(chat.shown[0].id, -1),
    ],
    ids=["first deleted", "last deleted", "another version"],
)
def test_the_branch_stays_while_a_question_is_counted(
    make_backend: MakeBackend, change: Callable[[BackendRecorder], None]
) -> None:
    chat = with_versions(make_backend)
    before = chat.texts
    send_and(chat, lambda: change(chat))
    assert chat.texts[:-2] == before
    assert_nothing_is_lost(chat)


def test_a_question_is_asked_below_the_branch_that_a_search_shows_meanwhile(make_backend: MakeBackend) -> None:
    chat = with_versions(make_backend)
    (other,) = chat.stored("SELECT id FROM messages WHERE text = 'first'")
    send_and(chat, lambda: chat.chats.open_chat(chat.chat_id, other[0]))
    assert chat.texts == ["first", FIRST_ANSWER, "third", FIRST_ANSWER]
    assert_nothing_is_lost(chat)


@pytest.mark.parametrize("again", ["edit", "regenerate"])
def test_what_was_deleted_just_before_is_not_asked_again(make_backend: MakeBackend, again: str) -> None:
    chat = with_versions(make_backend)
    question, answer = chat.shown[-2:]
    chat.chats.delete_message(question.id)
    if again == "edit":
        chat.chats.edit_message(question.id, "changed")
    else:
        chat.chats.regenerate(answer.id)
    chat.wait(lambda: chat.notices)
    assert "no longer there" in chat.notices[-1].text
    chat.wait_idle()
    assert chat.stored("SELECT count(*) FROM messages WHERE deleted_at IS NULL") == [(4,)]


class StoringGate:
    """Holds the store while it stores a question."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        commit = sending.commit

        def held(db: sqlite3.Connection, *arguments: object) -> Committed | None:
            self.entered.set()
            self.opened.wait(60)
            return commit(db, *arguments)  # type: ignore[arg-type]  # passed on as they came

        monkeypatch.setattr(sending, "commit", held)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[StoringGate]:
    gate = StoringGate(monkeypatch)
    yield gate
    gate.opened.set()


@pytest.mark.parametrize("end", ["stop", "delete_chat"])
def test_a_question_that_was_stopped_while_it_was_stored_is_not_answered(
    make_backend: MakeBackend, gate: StoringGate, end: str
) -> None:
    chat = make_backend()
    chat_id = chat.chat_id
    chat.chats.set_draft("question")
    chat.chats.send()
    chat.wait(gate.entered.is_set)
    getattr(chat.chats, end)(chat_id)
    gate.opened.set()
    chat.wait(lambda: chat.sent)
    chat.wait_idle(chat_id)
    assert chat.stored("SELECT text, state FROM messages") == [("question", "complete"), ("", "stopped")]
    assert not [call for call in chat.engine.calls if call.startswith("generate")]


def test_what_is_asked_instead_of_a_question_that_is_being_stored_is_answered(
    make_backend: MakeBackend, gate: StoringGate
) -> None:
    gate.opened.set()
    chat = make_backend()
    chat.ask("first")
    first = chat.shown[0]
    gate.opened.clear()
    gate.entered.clear()
    chat.chats.set_draft("second")
    chat.chats.send()
    chat.wait(gate.entered.is_set)
    chat.chats.edit_message(first.id, "first, changed")
    gate.opened.set()
    chat.wait(lambda: chat.texts[0] == "first, changed")
    chat.wait_idle()
    assert chat.texts == ["first, changed", FIRST_ANSWER]
    assert chat.stored("SELECT count(*) FROM messages WHERE text = 'second'") == [(1,)]
