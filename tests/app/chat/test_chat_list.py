"""The chats as a whole: made, renamed, pinned, deleted and brought back, opened, searched."""

from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

SLOW = FakeScript(answer=("word ",) * 2000, token_s=0.003)


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


def test_a_chat_that_is_gone_is_said_in_one_sentence(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.open_chat(12345)
    chat.wait(lambda: chat.notices)
    assert "no longer there" in chat.notices[-1].text
    assert not chat.notices[-1].is_bug
