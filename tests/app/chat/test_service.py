"""The service from question to answer: order, stopping, failures, and what goes on in the background."""

import contextlib
import sqlite3
from dataclasses import replace

import pytest

from app.chat.models import ChatSettings, MessageState, Role
from app.generation import GenerationState
from app.settings import Preset
from engine.errors import EngineError, UserError
from engine.events import FinishReason
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

S = GenerationState
SLOW = FakeScript(answer=("word ",) * 2000, token_s=0.003)


def test_a_question_is_stored_before_the_engine_hears_of_it(make_backend: MakeBackend) -> None:
    chat = make_backend()
    seen: list[list[tuple[object, ...]]] = []
    log = chat.engine.log

    def look(call: str) -> None:
        log(call)
        if call.startswith("generate"):
            with contextlib.closing(sqlite3.connect(chat.backend.paths.database_file)) as db:
                seen.append(db.execute("SELECT role, text, state FROM messages ORDER BY id").fetchall())

    chat.engine.log = look  # type: ignore[method-assign]  # the fake under test
    chat.ask("hello there")
    assert seen == [[("user", "hello there", "complete"), ("assistant", "", "streaming")]]


def test_an_answer_is_told_and_stored_with_its_figures(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(thoughts=("let me ", "see")))
    chat.chats.set_chat_settings(chat.chat_id, ChatSettings(thinking=True))
    chat.ask("What is a ring buffer? Tell me.")
    question, answer = chat.shown
    assert (question.role, question.text) == (Role.USER, "What is a ring buffer? Tell me.")
    assert (answer.text, answer.reasoning, answer.state) == ("Hello, world.", "let me see", MessageState.COMPLETE)
    assert answer.finish_reason is FinishReason.END
    assert answer.usage is not None
    assert answer.timings is not None
    assert answer.reasoning_tokens == 3
    assert answer.reasoning_s is not None
    assert answer.model == "fake"
    assert chat.states(chat.chat_id) == [S.QUEUED, S.PREFILLING, S.DECODING, S.DONE]
    assert [m.id for m in chat.told["message_added"]] == [question.id, answer.id]
    assert chat.told["message_changed"][-1] == answer
    chat.settle()
    again = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(chat.chat_id))
    assert again.messages == chat.told["chat_opened"][-1].messages
    assert again.messages[1] == answer
    assert again.chat.title == "What is a ring buffer?"


def test_the_text_told_is_the_text_kept(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=tuple(f"w{i} " for i in range(300)), token_s=0.0005))
    chat.ask("hello")
    told = "".join(delta.text for delta in chat.told["text_arrived"])
    assert told == chat.shown[-1].text == "".join(f"w{i} " for i in range(300))
    assert chat.stored("SELECT text FROM messages WHERE id = ?", chat.shown[-1].id) == [(told,)]


def test_stop_keeps_the_text_and_says_so(make_backend: MakeBackend) -> None:
    chat = make_backend(SLOW)
    answer_id = chat.start_asking()
    chat.chats.stop()
    chat.wait_idle()
    answer = chat.shown[-1]
    assert answer.id == answer_id
    assert answer.state is MessageState.STOPPED
    assert answer.text.startswith("word ")
    assert chat.states(chat.chat_id)[-2:] == [S.STOPPING, S.DONE]
    assert chat.stored("SELECT state, text FROM messages WHERE id = ?", answer_id) == [("stopped", answer.text)]


def test_stop_while_the_prompt_is_read(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(prefill_s=60.0, layers=2000))
    chat.ask("hello", wait=False)
    chat.wait(lambda: chat.chats.status(chat.chat_id).prefill)
    chat.chats.stop()
    chat.wait_idle()
    assert chat.shown[-1].state is MessageState.STOPPED
    assert chat.shown[-1].text == ""


def test_stop_between_send_and_commit_leaves_the_question_in_the_composer(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(encode_s=0.3))
    chat.chats.set_draft("hello")
    chat.chats.send()
    chat.chats.stop()
    chat.qtbot.wait(700)
    assert not chat.sent
    assert chat.stored("SELECT count(*) FROM messages") == [(0,)]
    assert chat.chats._drafting.text(chat.chat_id) == "hello"


@pytest.mark.parametrize("error", [UserError("Too hot."), EngineError("Device lost."), RuntimeError("oops")])
def test_a_failure_is_an_answer_that_failed(make_backend: MakeBackend, error: Exception) -> None:
    chat = make_backend(FakeScript(token_error=error))
    chat.ask("hello")
    answer = chat.shown[-1]
    assert answer.state is MessageState.FAILED
    assert answer.text == "Hello"
    assert str(error) in answer.error
    assert chat.chats.status(chat.chat_id).state is S.FAILED
    assert chat.stored("SELECT state, error FROM messages WHERE id = ?", answer.id) == [("failed", answer.error)]
    chat.engine.script = FakeScript()
    chat.wait_next("model_changed", lambda: chat.chats.load_model(None))
    chat.ask("again")
    assert chat.shown[-1].state is MessageState.COMPLETE


def test_answers_go_on_when_another_chat_is_opened(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 1000, token_s=0.004))
    first = chat.chat_id
    answer_id = chat.start_asking("the first question")
    second = chat.new_chat()
    assert second != first
    assert {row.id: row.state for row in chat.told["chats_changed"][-1]}[first] is S.DECODING
    chat.wait(lambda: len(chat.told["text_arrived"]) > 5)
    reopened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(first))
    so_far = reopened.messages[-1]
    assert so_far.id == answer_id
    assert so_far.state is MessageState.STREAMING
    chat.wait_idle(first)
    after = chat.order[chat.order.index(("chat_opened", reopened)) :]
    later = "".join(record.text for name, record in after if name == "text_arrived")
    assert so_far.text + later == "word " * 1000  # nothing twice, nothing missing
    assert chat.shown[-1].state is MessageState.COMPLETE
    chat.settle()
    assert {row.id: row.state for row in chat.told["chats_changed"][-1]}[first] is S.IDLE


def test_two_chats_wait_for_one_another(make_backend: MakeBackend) -> None:
    chat = make_backend(SLOW)
    first = chat.chat_id
    chat.start_asking("one")
    second = chat.new_chat()
    chat.ask("two", wait=False)
    chat.wait(lambda: chat.chats.status(second).ahead == 1)
    chat.chats.stop(first)
    chat.wait(lambda: chat.chats.status(second).state is S.DECODING)
    chat.chats.stop()
    chat.wait_idle(second)
    assert chat.states(first)[-1] is S.DONE
    assert chat.states(second) == [S.QUEUED, S.PREFILLING, S.DECODING, S.STOPPING, S.DONE]


def test_settings_of_a_chat_preset_and_app_reach_the_engine(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("x",) * 50))
    settings = chat.backend.settings
    settings.update(
        replace(
            settings.settings,
            answers=replace(settings.settings.answers, max_tokens=30),
            presets=(Preset("short", max_tokens=20),),
        )
    )
    chat.ask("a")
    assert len(chat.shown[-1].text) == 30
    assert chat.shown[-1].finish_reason is FinishReason.LENGTH
    chat.chats.set_chat_settings(chat.chat_id, ChatSettings(preset="short"))
    chat.ask("b")
    assert len(chat.shown[-1].text) == 20
    chat.chats.set_chat_settings(chat.chat_id, ChatSettings(preset="short", max_tokens=7))
    chat.ask("c")
    assert len(chat.shown[-1].text) == 7
    chat.chats.set_chat_settings(chat.chat_id, ChatSettings(preset="gone"))
    chat.ask("d")
    assert len(chat.shown[-1].text) == 30


def test_shutdown_while_answering_keeps_the_text(make_backend: MakeBackend) -> None:
    chat = make_backend(SLOW)
    answer_id = chat.start_asking()
    chat.close()
    told = "".join(delta.text for delta in chat.told["text_arrived"])
    later = make_backend()
    ((state, text),) = later.stored("SELECT state, text FROM messages WHERE id = ?", answer_id)
    assert state == "interrupted"
    assert told
    assert text == told
