"""Other answers, changed questions, branches, deleted messages: every version stays reachable."""

from app.chat.models import MessageState
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

SLOW = FakeScript(answer=("word ",) * 2000, token_s=0.003)


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


def test_undo_that_comes_while_a_question_is_asked_or_answered_is_offered_again(make_backend: MakeBackend) -> None:
    chat = make_backend(SLOW)
    chat.start_asking("one")
    chat.chats.stop()
    chat.wait_idle()
    first = chat.shown
    offer = chat.wait_next("undo_offered", lambda: chat.chats.delete_message(first[0].id))
    chat.chats.set_draft("two")
    chat.chats.send()
    offer = chat.wait_next("undo_offered", lambda: chat.chats.undo(offer.token))
    chat.wait(lambda: len(chat.shown) == 2 and chat.told["text_arrived"][-1].message_id == chat.shown[-1].id)
    offer = chat.wait_next("undo_offered", lambda: chat.chats.undo(offer.token))
    chat.chats.stop()
    chat.wait_idle()
    chat.wait_next("branch_changed", lambda: chat.chats.undo(offer.token))
    assert [message.text for message in chat.shown] == [message.text for message in first]
    assert chat.shown[0].versions == 2
