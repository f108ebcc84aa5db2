"""Text on its way to disk: about once a second, again after a failure, and never lost while the program runs."""

import sqlite3

import pytest

from app.chat.models import MessageState, NoticeLevel
from app.store import messages
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript


def test_streamed_text_is_on_disk_before_the_end(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 100_000, token_s=0.003))
    answer_id = chat.start_asking()

    def saved() -> str:
        with sqlite3.connect(chat.backend.paths.database_file) as db:
            return str(db.execute("SELECT text FROM messages WHERE id = ?", (answer_id,)).fetchone()[0])

    chat.wait(lambda: len(saved()) > 10)
    first = len(saved())
    chat.wait(lambda: len(saved()) > first)
    told = "".join(delta.text for delta in chat.told["text_arrived"])
    assert told.startswith(saved())


def test_an_answer_that_cannot_be_saved_is_said_once_and_saved_later(
    make_backend: MakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 1000, token_s=0.002))
    saver = chat.chats._answers.saver
    saver._flush_timer.setInterval(20)
    saver._retry_timer.setInterval(20)
    answer_id = chat.start_asking()
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def refuse(*_: object) -> None:
        raise full

    monkeypatch.setattr(messages, "flush_answer", refuse)
    monkeypatch.setattr(messages, "finish_answer", refuse)
    chat.wait(lambda: chat.notices)
    chat.chats.stop()
    chat.wait_idle()
    chat.qtbot.wait(300)  # several refusals
    assert [notice.key for notice in chat.notices] == ["unsaved"]
    assert chat.notices[0].level is NoticeLevel.ERROR
    assert "is full" in chat.notices[0].text
    answer = chat.shown[-1]
    assert answer.state is MessageState.STOPPED
    assert saver.has_unsaved()
    monkeypatch.undo()
    chat.wait(lambda: not saver.has_unsaved())
    chat.wait(lambda: chat.told["notice"][-1].text == "")
    assert chat.told["notice"][-1].key == "unsaved"
    assert chat.stored("SELECT state, text FROM messages WHERE id = ?", answer_id) == [("stopped", answer.text)]


def test_a_question_that_cannot_be_saved_is_not_asked(
    make_backend: MakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = make_backend()

    def refuse(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(messages, "start_answer", refuse)
    chat.chats.set_draft("precious words")
    chat.chats.send()
    chat.wait(lambda: chat.notices)
    assert "is full" in chat.notices[-1].text
    assert "still here" in chat.notices[-1].text
    assert chat.stored("SELECT count(*) FROM messages") == [(0,)]
    assert chat.chats._drafting.text(chat.chat_id) == "precious words"
    assert not [call for call in chat.engine.calls if call.startswith("generate")]
    monkeypatch.undo()
    chat.ask("precious words")
    assert chat.texts[0] == "precious words"
