"""The message tree against a plain model of it: whatever is done in whatever order, the same branch is shown."""

import sqlite3
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.chat.models import MessageState, Role
from app.store import chats, documents, messages, tidying
from app.store.documents import NewDocument
from app.store.messages import AnswerEnd
from app.store.schema import migrate

TEXT = st.text(max_size=12)


@dataclass
class Node:
    parent: int | None
    text: str
    children: list[int] = field(default_factory=list)
    shown: int | None = None
    deleted: bool = False


def memory_database() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    migrate(db)
    return db


class TreeMachine(RuleBasedStateMachine):
    """The database and a dictionary are told the same things and must agree."""

    def __init__(self) -> None:
        super().__init__()
        self.db = memory_database()
        self.chat_id = chats.create_chat(self.db, "chat")
        self.nodes: dict[int, Node] = {}
        self.root = Node(None, "")

    def _holder(self, parent: int | None) -> Node:
        return self.root if parent is None else self.nodes[parent]

    def _branch(self) -> list[int]:
        path, node = [], self.root
        while node.shown is not None:
            path.append(node.shown)
            node = self.nodes[node.shown]
        return path

    def _live(self) -> list[int]:
        def is_live(key: int | None) -> bool:
            return key is None or (not self.nodes[key].deleted and is_live(self.nodes[key].parent))

        return [key for key in self.nodes if is_live(key)]

    def _siblings(self, key: int) -> list[int]:
        return [other for other in self._holder(self.nodes[key].parent).children if not self.nodes[other].deleted]

    def _add(self, parent: int | None, text: str, role: Role) -> int:
        key = messages.add_message(self.db, self.chat_id, parent, role, text)
        self.nodes[key] = Node(parent, text)
        self._holder(parent).children.append(key)
        self._holder(parent).shown = key
        return key

    @rule(text=TEXT)
    def ask_at_the_end(self, text: str) -> None:
        last = messages.last_of_branch(self.db, self.chat_id)
        assert last == (self._branch() or [None])[-1]
        self._add(last, text, Role.USER)

    @precondition(lambda self: self._live())
    @rule(data=st.data(), text=TEXT)
    def answer_or_edit_anywhere(self, data: st.DataObject, text: str) -> None:
        parent = data.draw(st.sampled_from([*self._live(), None]))
        self._add(parent, text, data.draw(st.sampled_from(Role)))

    @precondition(lambda self: self._live())
    @rule(data=st.data(), offset=st.integers(-3, 3))
    def show_another_version(self, data: st.DataObject, offset: int) -> None:
        key = data.draw(st.sampled_from(self._live()))
        siblings = self._siblings(key)
        chosen = siblings[max(0, min(siblings.index(key) + offset, len(siblings) - 1))]
        assert messages.select_sibling(self.db, key, offset) == chosen
        self._holder(self.nodes[key].parent).shown = chosen

    @precondition(lambda self: self._live())
    @rule(data=st.data())
    def delete_and_perhaps_undo(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self._live()))
        siblings = self._siblings(key)
        place = siblings.index(key)
        others = siblings[:place][-1:] or siblings[place + 1 :][:1]
        messages.mark_deleted(self.db, key)
        self.nodes[key].deleted = True
        holder = self._holder(self.nodes[key].parent)
        holder.shown = others[0] if others else None
        if data.draw(st.booleans()):
            messages.bring_back(self.db, key)
            self.nodes[key].deleted = False
            holder.shown = key

    @precondition(lambda self: self._live())
    @rule(data=st.data())
    def jump_to_a_search_hit(self, data: st.DataObject) -> None:
        key: int | None = data.draw(st.sampled_from(self._live()))
        assert key is not None
        messages.show_message(self.db, key)
        while key is not None:
            parent = self.nodes[key].parent
            self._holder(parent).shown = key
            key = parent

    @precondition(lambda self: self._branch())
    @rule(data=st.data())
    def branch_into_a_new_chat(self, data: st.DataObject) -> None:
        path = self._branch()
        length = data.draw(st.integers(1, len(path)))
        new_id = chats.create_chat(self.db)
        messages.copy_branch(self.db, path[length - 1], new_id)
        copied = messages.open_chat(self.db, new_id).messages
        assert [message.text for message in copied] == [self.nodes[key].text for key in path[:length]]

    @rule()
    def start_again(self) -> None:
        tidying.purge_deleted(self.db)
        live = set(self._live())
        for key in [key for key in self.nodes if key not in live]:
            self._holder(self.nodes[key].parent).children.remove(key) if self._holder_exists(key) else None
        self.nodes = {key: node for key, node in self.nodes.items() if key in live}

    def _holder_exists(self, key: int) -> bool:
        parent = self.nodes[key].parent
        return parent is None or parent in self.nodes

    @invariant()
    def the_shown_branch_agrees(self) -> None:
        shown = messages.open_chat(self.db, self.chat_id).messages
        assert [(message.id, message.text) for message in shown] == [(k, self.nodes[k].text) for k in self._branch()]
        for message in shown:
            siblings = self._siblings(message.id)
            assert (message.version, message.versions) == (siblings.index(message.id) + 1, len(siblings))
        assert {message.id for message in messages.all_messages(self.db, self.chat_id)} == set(self._live())
        unmarked = self.db.execute("SELECT id FROM messages WHERE chat_id = ? AND deleted_at IS NULL", (self.chat_id,))
        assert {row["id"] for row in unmarked} == set(self._live())  # what a search can find

    @invariant()
    def the_file_is_sound(self) -> None:
        assert self.db.execute("PRAGMA foreign_key_check").fetchall() == []
        self.db.execute("INSERT INTO message_search (message_search) VALUES ('integrity-check')")

    def teardown(self) -> None:
        self.db.close()


TestMessageTree = TreeMachine.TestCase
TestMessageTree.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


def test_a_chat_of_ten_thousand_messages_opens_branches_and_is_erased() -> None:
    db = memory_database()
    chat_id = chats.create_chat(db)
    parent = None
    db.execute("BEGIN")
    for number in range(10_000):
        role = Role.USER if number % 2 == 0 else Role.ASSISTANT
        parent = messages.add_message(db, chat_id, parent, role, f"message {number}")
    db.execute("COMMIT")
    assert parent is not None
    assert len(messages.open_chat(db, chat_id).messages) == 10_000
    other = chats.create_chat(db)
    messages.copy_branch(db, parent, other)
    assert len(messages.open_chat(db, other).messages) == 10_000
    messages.mark_deleted(db, messages.open_chat(db, other).messages[0].id)
    chats.mark_deleted(db, chat_id, deleted=True)
    tidying.purge_deleted(db)  # deeper than SQLite lets a cascade go
    assert db.execute("SELECT count(*) FROM messages").fetchone()[0] == 0


def test_a_circle_in_a_tampered_file_ends() -> None:
    db = memory_database()
    chat_id = chats.create_chat(db)
    first = messages.add_message(db, chat_id, None, Role.USER, "a")
    db.execute("UPDATE messages SET selected_child_id = ?1 WHERE id = ?1", (first,))
    assert [message.id for message in messages.open_chat(db, chat_id).messages] == [first]
    assert messages.last_of_branch(db, chat_id) == first


@pytest.mark.parametrize("first_deleted", [0, 1, 2])
def test_what_was_stored_below_a_deleted_message_is_kept_and_shown(first_deleted: int) -> None:
    """Files of earlier versions: a question was stored below a message that was deleted meanwhile."""
    db = memory_database()
    chat_id = chats.create_chat(db)
    path: list[int] = []
    for number in range(4):
        role = Role.USER if number % 2 == 0 else Role.ASSISTANT
        path.append(messages.add_message(db, chat_id, path[-1] if path else None, role, str(number)))
    messages.mark_deleted(db, path[first_deleted])
    orphan = messages.add_message(db, chat_id, path[-1], Role.USER, "orphan")
    answer = messages.add_message(db, chat_id, orphan, Role.ASSISTANT, "its answer")
    tidying.purge_deleted(db)
    shown = [message.id for message in messages.open_chat(db, chat_id).messages]
    assert shown == [*path[:first_deleted], orphan, answer]
    assert db.execute("SELECT count(*) FROM messages").fetchone()[0] == len(shown)
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_deleted_chat_takes_its_orphans_along() -> None:
    db = memory_database()
    chat_id = chats.create_chat(db)
    first = messages.add_message(db, chat_id, None, Role.USER, "a")
    messages.mark_deleted(db, first)
    messages.add_message(db, chat_id, first, Role.ASSISTANT, "orphan")
    chats.mark_deleted(db, chat_id, deleted=True)
    tidying.purge_deleted(db)
    assert db.execute("SELECT count(*) FROM messages").fetchone()[0] == 0


def test_an_answer_is_indexed_when_it_ends_and_not_before() -> None:
    db = memory_database()
    chat_id = chats.create_chat(db)
    question = messages.add_message(db, chat_id, None, Role.USER, "question")
    answer = messages.start_answer(db, chat_id, question, "m").id

    def found() -> list[int]:
        return [row[0] for row in db.execute("SELECT rowid FROM message_search WHERE message_search MATCH 'zebra'")]

    messages.flush_answer(db, answer, "zebra", "")
    messages.flush_answer(db, answer, "zebra crossing", "")
    assert found() == []
    messages.finish_answer(db, answer, AnswerEnd(MessageState.COMPLETE, "zebra crossing road"))
    assert found() == [answer]
    messages.flush_answer(db, answer, "too late", "")  # a flush that crossed the end changes nothing
    assert messages.load_message(db, answer).text == "zebra crossing road"
    db.execute("INSERT INTO message_search (message_search) VALUES ('integrity-check')")


def test_document_texts_are_shared_and_erased_with_their_last_use() -> None:
    db = memory_database()
    chat_id = chats.create_chat(db)
    info = documents.add_document(db, chat_id, NewDocument("a.txt", "text \ud800 é", 9))
    question = messages.add_message(db, chat_id, None, Role.USER, "q")
    documents.attach_pending(db, question, [info.id])
    edited = messages.add_message(db, chat_id, None, Role.USER, "q2")
    documents.copy_documents(db, question, edited)
    assert db.execute("SELECT count(*) FROM document_texts").fetchone()[0] == 1
    assert documents.texts_of_message(db, edited) == (("a.txt", "text \ufffd é"),)
    messages.mark_deleted(db, question)
    tidying.purge_deleted(db)
    assert db.execute("SELECT count(*) FROM document_texts").fetchone()[0] == 1
    messages.mark_deleted(db, edited)
    tidying.purge_deleted(db)
    assert db.execute("SELECT count(*) FROM document_texts").fetchone()[0] == 0


def test_order_of_use_survives_a_clock_that_goes_back() -> None:
    db = memory_database()
    ids = [chats.create_chat(db, name, created_at=time) for name, time in (("a", 2e9), ("b", 1e9), ("c", 0.0))]
    assert [row.id for row in chats.list_chats(db)] == ids[::-1]
    chats.touch(db, ids[0])
    assert [row.id for row in chats.list_chats(db)] == [ids[0], ids[2], ids[1]]
