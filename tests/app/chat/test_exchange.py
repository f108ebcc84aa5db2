"""Chats to files and back: our own form whole, OpenAI-style lists, and untrusted files with one clear sentence."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat import exchange_checks, exchange_import
from app.chat.exchange_export import chat_json, chat_markdown, export_chat
from app.chat.exchange_import import read_chats, store_chat
from app.chat.models import ChatSettings, ExportFormat, MessageState, Role
from app.errors import ExchangeError
from app.store import chats, documents, messages
from app.store.documents import NewDocument
from app.store.messages import AnswerEnd
from engine.events import FinishReason, Timings, Usage
from tests.app.conftest import MakeBackend
from tests.app.store.test_messages_tree import memory_database

TEXT = st.text(max_size=30)


def import_file(path: Path) -> tuple[sqlite3.Connection, list[int]]:
    db = memory_database()
    return db, [store_chat(db, chat) for chat in read_chats(path)]


def write(tmp_path: Path, value: object) -> Path:
    path = tmp_path / "chats.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@st.composite
def chat_in_a_database(draw: st.DrawFn) -> sqlite3.Connection:
    """A random tree with every field used."""
    db = memory_database()
    chat_id = chats.create_chat(db, draw(TEXT), created_at=draw(st.floats(0, 4e9)))
    chats.set_pinned(db, chat_id, draw(st.booleans()))
    chats.set_system_prompt(db, chat_id, draw(st.none() | TEXT))
    chats.set_settings(db, chat_id, ChatSettings(temperature=draw(st.none() | st.floats(0, 5)), thinking=True))
    ids: list[int] = []
    for _ in range(draw(st.integers(1, 8))):
        parent = draw(st.sampled_from([None, *ids]))
        role = draw(st.sampled_from(Role))
        key = messages.add_message(db, chat_id, parent, role, draw(TEXT), created_at=draw(st.floats(0, 4e9)))
        ids.append(key)
        if role is Role.ASSISTANT:
            end = AnswerEnd(
                draw(st.sampled_from([state for state in MessageState if state is not MessageState.STREAMING])),
                draw(TEXT),
                draw(TEXT),
                draw(st.none() | st.sampled_from(FinishReason)),
                draw(st.none() | st.just(Usage(10, 3, 5))),
                draw(st.none() | st.just(Timings(1.5, 2.5, None, 10.0, None))),
                draw(st.none() | st.floats(0, 1e6)),
                draw(st.integers(0, 1000)),
                draw(TEXT),
            )
            messages.finish_answer(db, key, end)
        elif draw(st.booleans()):
            documents.add_document(db, chat_id, NewDocument(draw(TEXT), draw(TEXT), 3), key)
    messages.show_message(db, draw(st.sampled_from(ids)))
    return db


def comparable(text: str) -> object:
    """An export without its ids, which are the file's own."""
    value = json.loads(text)
    for chat in value["chats"]:
        places = {message["id"]: place for place, message in enumerate(chat["messages"])}
        for message in chat["messages"]:
            message["id"] = places[message["id"]]
            message["parent"] = places.get(message["parent"])
    return value


@settings(max_examples=25)
@given(chat_in_a_database())
def test_export_import_export_is_the_same(tmp_path_factory: pytest.TempPathFactory, db: sqlite3.Connection) -> None:
    path = tmp_path_factory.mktemp("export") / "chat.json"
    chat_id = chats.list_chats(db)[0].id
    export_chat(db, chat_id, path, ExportFormat.JSON)
    later, ids = import_file(path)
    assert comparable(chat_json(later, ids[0])) == comparable(path.read_text())
    assert [m.text for m in messages.open_chat(later, ids[0]).messages] == [
        m.text for m in messages.open_chat(db, chat_id).messages
    ]


def test_markdown_shows_the_branch_with_fences_nothing_can_close() -> None:
    db = memory_database()
    chat_id = chats.create_chat(db, "My chat")
    chats.set_system_prompt(db, chat_id, "Be brief.")
    question = messages.add_message(db, chat_id, None, Role.USER, "look at *this*", created_at=0.0)
    documents.add_document(db, chat_id, NewDocument("code.md", "````\nfenced\n````", 9), question)
    answer = messages.start_answer(db, chat_id, question, "ds4").id
    messages.finish_answer(db, answer, AnswerEnd(MessageState.FAILED, "partly", "first\nsecond", error="It went away."))
    text = chat_markdown(db, chat_id)
    assert text.startswith("# My chat\n\n## System prompt\n\nBe brief.\n\n## You (")
    assert "Document: code.md\n\n`````\n````\nfenced\n````\n`````" in text
    assert "> Thinking\n>\n> first\n> second" in text
    assert "partly\n\n*failed: It went away.*" in text


def test_openai_messages(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "title": "Imported",
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"role": "assistant", "content": "answer", "reasoning_content": "thought"},
                {"role": "user", "content": None},
            ],
        },
    )
    db, (chat_id,) = import_file(path)
    opened = messages.open_chat(db, chat_id)
    assert opened.chat.title == "Imported"
    assert opened.chat.system_prompt == "Be kind."
    assert [(m.role, m.text, m.reasoning) for m in opened.messages] == [
        (Role.USER, "one\ntwo", ""),
        (Role.ASSISTANT, "answer", "thought"),
        (Role.USER, "", ""),
    ]


def test_openai_lists_lines_and_bare_messages(tmp_path: Path) -> None:
    one, two = ([{"role": "user", "content": text}] for text in ("What is one?", "two"))
    lines = "".join(json.dumps({"messages": chat}) + "\n" for chat in (one, two))
    for value in ([{"messages": one}, {"messages": two}], lines):
        db, ids = import_file(write(tmp_path, value))
        assert [messages.open_chat(db, chat_id).messages[0].text for chat_id in ids] == ["What is one?", "two"]
        assert chats.load_chat(db, ids[0]).title == "What is one?"
    db, ids = import_file(write(tmp_path, one))
    assert len(ids) == 1


OWN = {"format": "haloband-chats", "version": 1}
GOOD = {"id": 1, "parent": None, "role": "user", "text": "x"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("nonsense", "is not JSON"),
        ('{"messages": []}\n{"messages": [', "line 2 is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"messages": [{"role": "user", "content": NaN}]}', "NaN"),
        (3, "neither a Haloband export nor a list of messages"),
        ([], "has no messages"),
        ({"messages": []}, "has no messages"),
        ({"messages": 3}, "messages should be a list"),
        ([{"role": "user"}, 3], "message 2: this should be an object"),
        ([{"content": "x"}], "message 1: role is missing"),
        ([{"role": "tool", "content": "x"}], "the role 'tool' is not known"),
        ([{"role": "user", "content": 3}], "content should be a text"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "part 1: only text can be imported, not 'image_url'"),
        ({"format": "other", "version": 1}, "its format is not haloband-chats"),
        ({"format": "haloband-chats", "version": 2, "chats": []}, "it has version 2"),
        ({"format": "haloband-chats", "version": True, "chats": []}, "version should be a whole number"),
        ({**OWN}, "chats is missing"),
        ({**OWN, "chats": [3]}, "chat 1: this should be an object"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "id": None}]}]}, "id is missing"),
        ({**OWN, "chats": [{"messages": [GOOD, GOOD]}]}, "message 2: its id 1 is used twice"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "parent": 1}]}]}, "its parent 1 does not come before it"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "role": "god"}]}]}, "role has the unknown value 'god'"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "text": 3}]}]}, "text should be a text"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "created_at": -1}]}]}, "created_at is out of range"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "created_at": 10**400}]}]}, "created_at is out of range"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "reasoning_tokens": 10**60}]}]}, "reasoning_tokens"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "usage": []}]}]}, "usage should be an object"),
        ({**OWN, "chats": [{"messages": [{**GOOD, "documents": [{"name": "a"}]}]}]}, "document 1: text is missing"),
    ],
)
def test_a_bad_file_costs_one_sentence_that_names_the_place(tmp_path: Path, value: object, words: str) -> None:
    path = write(tmp_path, value)
    with pytest.raises(ExchangeError) as caught:
        read_chats(path)
    assert words in str(caught.value)
    assert "chats.json" in str(caught.value)
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["format", "version", "chats", "messages", "id", "parent", "role", "text", "content", "title", "documents",
             "usage", "timings", "settings", "state", "created_at", "type", "name", "selected"]
        ),
        inner | st.sampled_from(["haloband-chats", "user", "assistant", 1, "text", "complete"]),
        max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=100)
@given(JSON)
def test_any_json_is_imported_or_refused_and_never_a_bug(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value))
    try:
        found = read_chats(path)
    except ExchangeError:
        return
    with contextlib.closing(memory_database()) as db:
        for chat in found:
            chat_id = store_chat(db, chat)
            assert len(messages.all_messages(db, chat_id)) == len(chat.messages)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_sentence(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(raw)
    with pytest.raises(ExchangeError):
        read_chats(path)


def test_limits_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, [{"role": "user", "content": "x" * 500}] * 5)
    monkeypatch.setattr(exchange_import, "MAX_MESSAGES", 4)
    with pytest.raises(ExchangeError, match="more than"):
        read_chats(path)
    monkeypatch.setattr(exchange_checks, "MAX_TEXT_CHARACTERS", 499)
    with pytest.raises(ExchangeError, match="longer than 499"):
        read_chats(path)
    monkeypatch.setattr(exchange_import, "MAX_FILE_BYTES", 100)
    with pytest.raises(ExchangeError, match="larger than"):
        read_chats(path)
    with pytest.raises(ExchangeError, match=r"missing\.json cannot be read"):
        read_chats(tmp_path / "missing.json")


def test_lone_surrogates_do_not_stop_an_import(tmp_path: Path) -> None:
    db, (chat_id,) = import_file(write(tmp_path, '[{"role": "user", "content": "a\\ud800b"}]'))
    assert messages.open_chat(db, chat_id).messages[0].text == "a\ufffdb"


def test_the_service_exports_and_imports(make_backend: MakeBackend, tmp_path: Path) -> None:
    chat = make_backend()
    chat.ask("hello there")
    old = chat.chat_id
    path = tmp_path / "out.json"
    assert chat.wait_next("exported", lambda: chat.chats.export_chat(old, path, ExportFormat.JSON)) == path
    (new,) = chat.wait_next("imported", lambda: chat.chats.import_chats(path))
    chat.wait(lambda: {row.id for row in chat.told["chats_changed"][-1]} == {old, new})
    opened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(new))
    again = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(old))
    assert [(m.text, m.usage) for m in opened.messages] == [(m.text, m.usage) for m in again.messages]
    (tmp_path / "bad.json").write_text("{")
    chat.chats.import_chats(tmp_path / "bad.json")
    chat.chats.export_chat(old, tmp_path / "nowhere" / "x.md", ExportFormat.MARKDOWN)
    chat.wait(lambda: len(chat.notices) == 2)
    assert {notice.is_bug for notice in chat.notices} == {False}
    texts = " ".join(notice.text for notice in chat.notices)
    assert "bad.json is not JSON" in texts
    assert "x.md was not written" in texts
