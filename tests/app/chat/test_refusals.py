"""What does not fit the context is said before anything is stored - a question, a changed one, another answer - and
each choice offered then does what it says."""

import pytest

from app.chat.budget import ContextBudget, FitChoice, FitOption
from app.chat.models import ChatSettings, MessageState
from tests.app.backend_recorder import BackendRecorder
from tests.app.chat.test_documents_in_chat import PASTE, prompts_of, set_context, wait_counted
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript


def refuse(chat: BackendRecorder, text: str) -> dict[FitChoice, FitOption]:
    chat.chats.set_draft(text)
    refused = chat.wait_next("send_refused", chat.chats.send)
    assert refused.budget.is_exact
    assert isinstance(refused.budget, ContextBudget)
    assert refused.budget.over_by > 0
    assert not chat.chats._asking.sending.is_sending(chat.chat_id)
    return {option.choice: option for option in refused.options}


def filled(make_backend: MakeBackend) -> BackendRecorder:
    """A chat of three turns that fills a context of 1,024 nearly up."""
    chat = make_backend(FakeScript(answer=("word ",) * 100))
    set_context(chat, 1024, 110)
    for number in range(3):
        chat.ask(f"{number} " + "x" * 400)
    return chat


def test_what_does_not_fit_is_not_stored_and_stays_in_the_composer(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    before = chat.stored("SELECT count(*) FROM messages")
    options = refuse(chat, "y" * 1400)
    assert set(options) == {FitChoice.LARGER_CONTEXT, FitChoice.LEAVE_OUT_OLDEST, FitChoice.NEW_CHAT}
    assert chat.stored("SELECT count(*) FROM messages") == before
    assert chat.chats._drafting.text(chat.chat_id) == "y" * 1400


def test_choice_larger_context(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    options = refuse(chat, "y" * 1400)
    chat.chats.send(options[FitChoice.LARGER_CONTEXT])
    chat.wait(lambda: len(chat.sent) == 4)
    chat.wait_idle()
    assert chat.backend.settings.settings.model.context == 2048
    assert chat.shown[-1].state is MessageState.COMPLETE


def test_choice_leave_out_oldest_stays_and_can_be_taken_back(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    prompts = prompts_of(chat)
    options = refuse(chat, "y" * 1400)
    chat.chats.send(options[FitChoice.LEAVE_OUT_OLDEST])
    chat.wait(lambda: len(chat.sent) == 4)
    chat.wait_idle()
    left_out = options[FitChoice.LEAVE_OUT_OLDEST].value
    assert prompts[-1][0].startswith(f"{left_out} ")
    assert chat.chats.current_chat is not None
    assert chat.chats.current_chat.history_from_id == chat.shown[2 * left_out].id
    assert len(chat.shown) == 8  # nothing is gone
    chat.wait_next("chat_changed", lambda: chat.chats.restore_history(chat.chat_id))
    assert chat.chats.current_chat.history_from_id is None


def test_choice_new_chat_moves_question_and_documents(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    old = chat.chat_id
    chat.chats.set_chat_settings(old, ChatSettings(temperature=0.25))
    chat.chats.paste_text("z" * 2100)
    wait_counted(chat)
    options = refuse(chat, "what is it?")
    chat.chats.send(options[FitChoice.NEW_CHAT])
    chat.wait(lambda: len(chat.sent) == 4 and chat.chat_id != old)
    chat.wait_idle()
    assert chat.texts[0] == "what is it?"
    assert [info.name for info in chat.shown[0].documents] == ["Pasted text 1"]
    assert chat.chats.current_chat is not None
    assert chat.chats.current_chat.settings.temperature == 0.25
    opened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(old))
    assert opened.chat.draft == ""
    assert opened.pending_documents == ()


def test_choice_remove_documents(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    chat.chats.paste_text("z" * 2100)
    wait_counted(chat)
    options = refuse(chat, "short")
    chat.chats.send(options[FitChoice.REMOVE_DOCUMENTS])
    chat.wait(lambda: len(chat.sent) == 4)
    chat.wait_idle()
    assert chat.shown[-2].documents == ()
    assert chat.stored("SELECT count(*) FROM documents") == [(0,)]


def test_choice_shorter_answer(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("x",) * 500))
    set_context(chat, 512, 300)
    options = refuse(chat, "y" * 1200)
    value = options[FitChoice.SHORTER_ANSWER].value
    chat.chats.send(options[FitChoice.SHORTER_ANSWER])
    chat.wait(lambda: chat.sent)
    chat.wait_idle()
    assert len(chat.shown[-1].text) == value
    assert chat.shown[-1].usage is not None
    assert chat.shown[-1].usage.prompt_tokens + value == 512


def test_a_refused_edit_is_sent_as_an_edit(make_backend: MakeBackend) -> None:
    chat = make_backend()
    set_context(chat, 512, 100)
    chat.ask("short")
    first = chat.shown[0]
    chat.chats.set_draft("an unrelated draft")
    refused = chat.wait_next("send_refused", lambda: chat.chats.edit_message(first.id, "y" * 2000))
    options = {option.choice: option for option in refused.options}
    changed = len(chat.told["branch_changed"])
    chat.chats.send(options[FitChoice.LARGER_CONTEXT])
    chat.wait(lambda: len(chat.told["branch_changed"]) > changed)
    chat.wait_idle()
    assert chat.texts[0] == "y" * 2000
    assert chat.shown[0].versions == 2
    assert chat.chats._drafting.text(chat.chat_id) == "an unrelated draft"


@pytest.mark.parametrize(
    "choice",
    [FitChoice.LARGER_CONTEXT, FitChoice.LEAVE_OUT_OLDEST, FitChoice.NEW_CHAT, FitChoice.REMOVE_DOCUMENTS],
    ids=lambda choice: choice.value,
)
def test_a_choice_sends_the_draft_as_it_is_by_then(make_backend: MakeBackend, choice: FitChoice) -> None:
    chat = filled(make_backend)
    question = "y" * 1400
    if choice is FitChoice.REMOVE_DOCUMENTS:
        question = "short"
        chat.chats.paste_text("z" * 2100)
        wait_counted(chat)
    options = refuse(chat, question)
    corrected = f"corrected {question}"
    chat.chats.set_draft(corrected)
    chat.chats.send(options[choice])
    chat.wait(lambda: len(chat.sent) == 4)
    chat.wait_idle()
    assert chat.shown[-2].text == corrected
    assert chat.stored("SELECT count(*) FROM messages WHERE text = ?", question) == [(0,)]


def refuse_again(chat: BackendRecorder) -> dict[FitChoice, FitOption]:
    """Ask for another answer where that does not fit."""
    refused = chat.wait_next("send_refused", chat.chats.regenerate)
    assert refused.budget.over_by > 0
    assert not refused.is_of_draft
    return {option.choice: option for option in refused.options}


def send_again(chat: BackendRecorder, option: FitOption) -> None:
    chat.wait_next("branch_changed", lambda: chat.chats.send(option))
    chat.wait_idle()


def test_another_answer_that_does_not_fit_is_refused_and_nothing_is_stored(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    set_context(chat, 512, 110)
    before = chat.stored("SELECT count(*) FROM messages")
    options = refuse_again(chat)
    assert set(options) == {FitChoice.LARGER_CONTEXT, FitChoice.LEAVE_OUT_OLDEST, FitChoice.NEW_CHAT}
    assert "No new answer was begun" in chat.told["send_refused"][-1].message
    assert chat.stored("SELECT count(*) FROM messages") == before
    send_again(chat, options[FitChoice.LARGER_CONTEXT])
    assert (chat.shown[-1].version, chat.shown[-1].versions) == (2, 2)
    assert chat.shown[-1].state is MessageState.COMPLETE


def test_another_answer_without_the_oldest_turns(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    set_context(chat, 512, 110)
    prompts = prompts_of(chat)
    option = refuse_again(chat)[FitChoice.LEAVE_OUT_OLDEST]
    send_again(chat, option)
    assert prompts[-1][0].startswith(f"{option.value} ")
    assert chat.chats.current_chat is not None
    assert chat.chats.current_chat.history_from_id == chat.shown[2 * option.value].id


def test_another_answer_that_is_shorter(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("x",) * 500))
    set_context(chat, 1024, 100)
    chat.ask("y" * 1200)
    set_context(chat, 512, 400)
    option = refuse_again(chat)[FitChoice.SHORTER_ANSWER]
    send_again(chat, option)
    assert len(chat.shown[-1].text) == option.value


def test_another_answer_in_a_new_chat_takes_question_and_documents_along(make_backend: MakeBackend) -> None:
    chat = filled(make_backend)
    set_context(chat, 4096, 110)
    chat.chats.paste_text("z" * 2100)
    wait_counted(chat)
    chat.ask("what is it?")
    old, old_messages = chat.chat_id, chat.shown
    set_context(chat, 1024, 110)
    options = refuse_again(chat)
    chat.chats.send(options[FitChoice.NEW_CHAT])
    chat.wait(lambda: chat.chat_id != old and len(chat.shown) == 2)
    chat.wait_idle()
    assert chat.texts[0] == "what is it?"
    assert [info.name for info in chat.shown[0].documents] == ["Pasted text 1"]
    again = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(old))
    assert again.messages == old_messages


def test_a_changed_question_can_leave_its_documents_behind(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    chat.ask("What is this?")
    old = chat.shown[0]
    set_context(chat, 512, 100)
    refused = chat.wait_next("send_refused", lambda: chat.chats.edit_message(old.id, "Who are you?"))
    options = {option.choice: option for option in refused.options}
    send_again(chat, options[FitChoice.REMOVE_DOCUMENTS])
    assert chat.texts[0] == "Who are you?"
    assert chat.shown[0].documents == ()
    chat.wait_next("branch_changed", lambda: chat.chats.select_version(chat.shown[0].id, -1))
    assert chat.shown[0].documents == old.documents


def test_another_answer_leaves_a_stored_question_its_documents(make_backend: MakeBackend) -> None:
    """Without them it would be another question; that is what editing is for."""
    chat = make_backend()
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    chat.ask("What is this?")
    set_context(chat, 512, 100)
    assert FitChoice.REMOVE_DOCUMENTS not in refuse_again(chat)


def test_documents_alone_are_not_taken_away(make_backend: MakeBackend) -> None:
    chat = make_backend()
    set_context(chat, 512, 100)
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    assert FitChoice.REMOVE_DOCUMENTS not in refuse(chat, "")
