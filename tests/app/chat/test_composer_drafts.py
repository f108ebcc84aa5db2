"""What waits in a composer: drafts, what is sent of them and what stays."""

from pathlib import Path

import pytest

from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript


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


@pytest.mark.parametrize("elsewhere", [False, True], ids=["shown", "another chat shown"])
def test_what_is_added_while_a_question_is_sent_stays(make_backend: MakeBackend, *, elsewhere: bool) -> None:
    chat = make_backend(FakeScript(encode_s=0.1))
    first = chat.chat_id
    chat.chats.set_draft("question")
    chat.chats.send()
    chat.chats.set_draft("question\nthe next thought")
    chat.chats.send()  # Enter once more, while the first is counted
    if elsewhere:
        chat.new_chat()
    chat.wait(lambda: chat.sent)
    chat.wait_idle(first)
    opened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(first))
    assert opened.chat.draft == "the next thought"
    assert [message.text for message in opened.messages] == ["question", "Hello, world."]


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
