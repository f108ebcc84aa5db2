"""The service from question to answer: order, stopping, versions, branches, drafts, and what a chat shows meanwhile."""

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

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


def test_regenerate_keeps_the_first_answer_reachable(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("hello")
    question, first = chat.shown
    chat.wait_next("branch_changed", chat.chats.regenerate)
    chat.wait_idle()
    assert chat.shown[0].id == question.id
    second = chat.shown[-1]
    assert second.id != first.id
    assert (second.version, second.versions) == (2, 2)
    chat.wait_next("branch_changed", lambda: chat.chats.select_version(second.id, -1))
    assert chat.shown[-1].id == first.id
    assert (chat.shown[-1].version, chat.shown[-1].versions) == (1, 2)
    assert chat.shown[-1].text == first.text


def test_regenerate_while_streaming_stops_the_old_answer_first(make_backend: MakeBackend) -> None:
    chat = make_backend(SLOW)
    old = chat.start_asking()
    changed = len(chat.told["branch_changed"])
    chat.chats.regenerate()
    chat.wait(lambda: len(chat.told["branch_changed"]) > changed)
    new = chat.shown[-1]
    assert new.id != old
    chat.wait(lambda: chat.told["text_arrived"][-1].message_id == new.id)
    assert chat.stored("SELECT state FROM messages WHERE id = ?", old) == [("stopped",)]
    chat.chats.stop()
    chat.wait_idle()
    assert chat.shown[-1].state is MessageState.STOPPED


def test_edit_makes_a_branch_and_both_stay(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("first question")
    chat.ask("second question")
    first = chat.shown[0]
    old_ids = [message.id for message in chat.shown]
    chat.wait_next("branch_changed", lambda: chat.chats.edit_message(first.id, "changed question"))
    chat.wait_idle()
    assert chat.texts == ["changed question", "Hello, world."]
    assert (chat.shown[0].version, chat.shown[0].versions) == (2, 2)
    chat.wait_next("branch_changed", lambda: chat.chats.select_version(chat.shown[0].id, -1))
    assert [message.id for message in chat.shown] == old_ids
    chat.wait_next("branch_changed", lambda: chat.chats.select_version(chat.shown[0].id, 1))
    assert chat.texts == ["changed question", "Hello, world."]


def test_the_model_sees_the_shown_branch_and_nothing_else(make_backend: MakeBackend) -> None:
    chat = make_backend()
    prompts: list[list[tuple[str, str]]] = []
    model = chat.backend.host._worker._model
    assert model is not None
    encode = model.encode_chat

    def record(messages: object, thinking: bool = False) -> list[int]:
        prompts.append([(m.role.value, m.content) for m in messages])  # type: ignore[attr-defined]  # engine messages
        return encode(messages, thinking=thinking)  # type: ignore[arg-type]

    model.encode_chat = record  # type: ignore[method-assign]
    chat.chats.set_system_prompt(chat.chat_id, "Be brief.")
    chat.ask("one")
    chat.ask("two")
    first = chat.shown[0]
    chat.wait_next("branch_changed", lambda: chat.chats.edit_message(first.id, "uno"))
    chat.wait_idle()
    chat.ask("due")
    assert [
        ("system", "Be brief."),
        ("user", "uno"),
        ("assistant", "Hello, world."),
        ("user", "due"),
    ] in prompts


def test_branching_copies_a_chat_up_to_a_message(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("one")
    chat.ask("two")
    old_id, old = chat.chat_id, chat.shown
    opened = chat.wait_next("chat_opened", lambda: chat.chats.branch_chat(old[1].id))
    assert opened.chat.id != old_id
    assert [m.text for m in opened.messages] == ["one", "Hello, world."]
    assert opened.chat.title == "One (branch)"
    chat.ask("three")
    again = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(old_id))
    assert again.messages == old


def test_a_deleted_message_comes_back(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("one")
    chat.ask("two")
    before = chat.shown
    offer = chat.wait_next("undo_offered", lambda: chat.chats.delete_message(before[2].id))
    assert chat.texts == ["one", "Hello, world."]
    chat.wait_next("branch_changed", lambda: chat.chats.undo(offer.token))
    assert chat.shown == before
    chat.chats.undo(offer.token)  # each offer works once
    chat.settle()
    assert chat.shown == before


def test_a_deleted_chat_comes_back_and_the_next_one_is_shown(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("keep me")
    first = chat.chat_id
    second = chat.new_chat()
    chat.ask("delete me")
    offer = chat.wait_next("undo_offered", lambda: chat.chats.delete_chat(second))
    chat.wait(lambda: chat.chat_id == first)
    chat.settle()
    chat.wait(lambda: [row.id for row in chat.told["chats_changed"][-1]] == [first])
    chat.wait_next("chat_opened", lambda: chat.chats.undo(offer.token))
    assert chat.chat_id == second
    assert chat.texts == ["delete me", "Hello, world."]


def test_deleting_the_last_chat_opens_a_new_one(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("only one")
    only = chat.chat_id
    chat.chats.delete_chat(only)
    chat.wait(lambda: chat.chat_id != only)
    assert chat.shown == ()


def test_deleting_a_chat_that_answers_stops_it(make_backend: MakeBackend) -> None:
    chat = make_backend(SLOW)
    chat.start_asking()
    busy = chat.chat_id
    chat.chats.delete_chat(busy)
    chat.wait_idle(busy)
    chat.wait(lambda: chat.chat_id != busy)


def test_an_empty_chat_is_used_again(make_backend: MakeBackend) -> None:
    chat = make_backend()
    first = chat.chat_id
    assert chat.new_chat() == first
    chat.ask("hello")
    assert chat.new_chat() != first
    assert chat.stored("SELECT count(*) FROM chats") == [(2,)]


def test_rename_wins_over_the_automatic_title(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.wait_next("chat_changed", lambda: chat.chats.rename_chat(chat.chat_id, "  My\n title "))
    assert chat.chats.current_chat is not None
    assert chat.chats.current_chat.title == "My title"
    chat.ask("What is this?")
    assert chat.chats.current_chat.title == "My title"


def test_pinned_chats_come_first_and_the_rest_by_use(make_backend: MakeBackend) -> None:
    chat = make_backend()
    ids = []
    for text in ("a", "b", "c"):
        ids.append(chat.new_chat())
        chat.ask(text)
    chat.chats.set_pinned(ids[0], True)
    chat.wait(lambda: [row.id for row in chat.told["chats_changed"][-1]] == [ids[0], ids[2], ids[1]])
    chat.wait_next("chat_opened", lambda: chat.chats.open_chat(ids[1]))
    chat.ask("b again")
    chat.wait(lambda: [row.id for row in chat.told["chats_changed"][-1]] == [ids[0], ids[1], ids[2]])


def test_only_the_newest_request_to_open_is_shown(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.ask("a")
    first = chat.chat_id
    second = chat.new_chat()
    chat.ask("b")
    before = len(chat.told["chat_opened"])
    for chat_id in (first, second, first, second, first):
        chat.chats.open_chat(chat_id)
    chat.settle()
    assert [opened.chat.id for opened in chat.told["chat_opened"][before:]] == [first]


def test_drafts_are_kept_for_each_chat_and_over_a_restart(make_backend: MakeBackend, tmp_path: Path) -> None:
    chat = make_backend()
    chat.ask("a")
    first = chat.chat_id
    chat.chats.set_draft("draft of the first")
    chat.new_chat()
    chat.chats.set_draft("draft of the second")
    opened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(first))
    assert opened.chat.draft == "draft of the first"
    chat.close()
    later = make_backend()
    drafts = later.stored("SELECT draft FROM chats ORDER BY id")
    assert drafts == [("draft of the first",), ("draft of the second",)]


def test_a_sent_draft_does_not_come_back(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.set_draft("half a ques")
    chat.chats._drafting.save()
    chat.ask("half a question no more")
    chat.close()
    assert make_backend().stored("SELECT draft FROM chats") == [("",)]


def test_what_is_typed_while_a_question_is_sent_stays(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(encode_s=0.1))
    chat.chats.set_draft("question")
    chat.chats.send()
    chat.chats.set_draft("the next thought")
    chat.wait(lambda: chat.sent)
    assert chat.drafts[-1] == (chat.chat_id, "the next thought")
    chat.wait_idle()
    assert chat.texts[0] == "question"


def test_sending_twice_at_once_sends_once(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(encode_s=0.05))
    chat.chats.set_draft("question")
    for _ in range(5):
        chat.chats.send()
    chat.wait(lambda: chat.sent)
    chat.wait_idle()
    chat.settle()
    assert chat.texts == ["question", "Hello, world."]


@pytest.mark.parametrize("text", ["", "   \n\t "])
def test_nothing_is_sent_for_an_empty_composer(make_backend: MakeBackend, text: str) -> None:
    chat = make_backend()
    chat.chats.set_draft(text)
    chat.chats.send()
    chat.settle()
    assert chat.stored("SELECT count(*) FROM messages") == [(0,)]


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


def test_search_finds_titles_and_messages_and_opens_the_branch(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("Ostriches ", "run.")))
    chat.ask("Tell me of zebras")
    chat.wait_next("branch_changed", lambda: chat.chats.edit_message(chat.shown[0].id, "Tell me of gnus"))
    chat.wait_idle()
    zoo = chat.chat_id
    chat.new_chat()
    hits = chat.wait_next("search_finished", lambda: chat.chats.search("zebr")).hits
    assert [hit.chat_id for hit in hits] == [zoo]
    hits = chat.wait_next("search_finished", lambda: chat.chats.search('run" ( OSTR* -')).hits
    assert [hit.chat_id for hit in hits] == [zoo]
    body = next(hit for hit in hits if hit.message_id is not None)
    start, length = body.marks[0]
    assert body.snippet[start : start + length].lower().startswith("ostrich")
    zebra_question = chat.stored("SELECT id FROM messages WHERE text LIKE '%zebras%'")[0][0]
    opened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(zoo, zebra_question))
    assert opened.messages[0].id == zebra_question
    assert chat.wait_next("search_finished", lambda: chat.chats.search(" ")).hits == ()


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


def test_a_chat_that_is_gone_is_said_in_one_sentence(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.open_chat(12345)
    chat.wait(lambda: chat.notices)
    assert "no longer there" in chat.notices[-1].text
    assert not chat.notices[-1].is_bug
