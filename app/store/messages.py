"""Messages as a tree of rows: add, stream, finish, switch versions, delete, copy. Functions on a connection; each is
called by the store within one transaction on its thread.

A chat's shown branch is walked from `chats.selected_root_id` down `selected_child_id`.
"""

import sqlite3
import time
from dataclasses import dataclass

from app.chat.models import Message, MessageState, OpenChat, Role
from app.store import documents, rows
from app.store.chats import MissingRowError, load_chat, touch
from app.store.rows import clean_text
from engine.events import FinishReason, Timings, Usage

# A child is always the newer row, so walking only to greater ids cannot run in a circle, even in a tampered file.
_BRANCH = """
WITH RECURSIVE branch (id, depth) AS (
    SELECT selected_root_id, 0 FROM chats WHERE id = ? AND selected_root_id IS NOT NULL
    UNION ALL
    SELECT m.selected_child_id, depth + 1 FROM branch JOIN messages m ON m.id = branch.id
    WHERE m.selected_child_id > m.id
)
"""


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """How an answer ended; written in one transaction with its text."""

    state: MessageState
    text: str
    reasoning: str = ""
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    timings: Timings | None = None
    reasoning_s: float | None = None
    reasoning_tokens: int = 0
    error: str = ""


# ---- reading


def open_chat(db: sqlite3.Connection, chat_id: int) -> OpenChat:
    """A chat with its shown branch, without the texts of documents. Raises MissingRowError."""
    chat = load_chat(db, chat_id)
    versions = _versions(db, chat_id)
    attached = documents.documents_of_chat(db, chat_id)
    found = db.execute(
        f"{_BRANCH} SELECT m.* FROM branch JOIN messages m ON m.id = branch.id"
        " WHERE m.chat_id = ? AND m.deleted_at IS NULL ORDER BY depth",
        (chat_id, chat_id),
    )
    messages = tuple(rows.message(row, attached.get(row["id"], ()), *versions[row["id"]]) for row in found)
    return OpenChat(chat, messages, documents.pending_documents(db, chat_id))


def load_message(db: sqlite3.Connection, message_id: int) -> Message:
    """One message. Raises MissingRowError."""
    row = _row(db, message_id)
    siblings = _siblings(db, row)
    attached = tuple(
        rows.document(found)
        for found in db.execute("SELECT * FROM documents WHERE message_id = ? ORDER BY id", (message_id,))
    )
    return rows.message(row, attached, siblings.index(message_id) + 1, len(siblings))


def last_of_branch(db: sqlite3.Connection, chat_id: int) -> int | None:
    """The id of the last message of the shown branch; None for an empty chat."""
    row = db.execute(f"{_BRANCH} SELECT id FROM branch ORDER BY depth DESC LIMIT 1", (chat_id,)).fetchone()
    return None if row is None else int(row["id"])


def all_messages(db: sqlite3.Connection, chat_id: int) -> tuple[Message, ...]:
    """Every message of a chat, parents before children. A parent is always the older row."""
    versions = _versions(db, chat_id)
    found = db.execute(
        "WITH RECURSIVE tree (id) AS (SELECT id FROM messages WHERE chat_id = ?1 AND parent_id IS NULL"
        "  AND deleted_at IS NULL UNION SELECT m.id FROM tree JOIN messages m ON m.parent_id = tree.id"
        "  WHERE m.deleted_at IS NULL) SELECT m.* FROM tree JOIN messages m USING (id) ORDER BY m.id",
        (chat_id,),
    )
    return tuple(rows.message(row, (), *versions[row["id"]]) for row in found)


def selected_ids(db: sqlite3.Connection, chat_id: int) -> frozenset[int]:
    """Messages that are the shown version among their siblings, on the shown branch or off it."""
    found = db.execute(
        "SELECT selected_child_id AS id FROM messages WHERE chat_id = ?1 UNION"
        " SELECT selected_root_id FROM chats WHERE id = ?1",
        (chat_id,),
    )
    return frozenset(row["id"] for row in found if row["id"] is not None)


def path_to(db: sqlite3.Connection, message_id: int) -> list[sqlite3.Row]:
    """Rows from the root to this message, whatever branch is shown. Raises MissingRowError."""
    _row(db, message_id)
    return db.execute(
        "WITH RECURSIVE path (id, depth) AS (SELECT ?, 0 UNION ALL"
        " SELECT m.parent_id, depth + 1 FROM path JOIN messages m ON m.id = path.id"
        " WHERE m.parent_id < m.id)"
        " SELECT m.* FROM path JOIN messages m ON m.id = path.id ORDER BY depth DESC",
        (message_id,),
    ).fetchall()


def _versions(db: sqlite3.Connection, chat_id: int) -> dict[int, tuple[int, int]]:
    """(version, versions) of every message of a chat, in one pass."""
    found = db.execute(
        "SELECT id, row_number() OVER (PARTITION BY parent_id ORDER BY id) AS version,"
        " count(*) OVER (PARTITION BY parent_id) AS versions"
        " FROM messages WHERE chat_id = ? AND deleted_at IS NULL",
        (chat_id,),
    )
    return {row["id"]: (row["version"], row["versions"]) for row in found}


def _siblings(db: sqlite3.Connection, row: sqlite3.Row) -> list[int]:
    found = db.execute(
        "SELECT id FROM messages WHERE chat_id = ? AND parent_id IS ? AND deleted_at IS NULL ORDER BY id",
        (row["chat_id"], row["parent_id"]),
    )
    return [sibling["id"] for sibling in found]


def _row(db: sqlite3.Connection, message_id: int) -> sqlite3.Row:
    row = db.execute("SELECT * FROM messages WHERE id = ? AND deleted_at IS NULL", (message_id,)).fetchone()
    if not isinstance(row, sqlite3.Row):
        raise MissingRowError("This message is no longer there.")
    return row


# ---- adding


def add_message(
    db: sqlite3.Connection,
    chat_id: int,
    parent_id: int | None,
    role: Role,
    text: str,
    *,
    state: MessageState = MessageState.COMPLETE,
    created_at: float | None = None,
    model: str = "",
) -> int:
    """A new message below its parent (None: at the root), which shows it from now on; returns its id."""
    cursor = db.execute(
        "INSERT INTO messages (chat_id, parent_id, role, text, state, created_at, model) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            chat_id,
            parent_id,
            role.value,
            clean_text(text),
            state.value,
            time.time() if created_at is None else created_at,
            model,
        ),
    )
    assert cursor.lastrowid is not None  # set by every INSERT
    _select(db, chat_id, parent_id, cursor.lastrowid)
    return cursor.lastrowid


def start_answer(db: sqlite3.Connection, chat_id: int, question_id: int, model: str) -> Message:
    """An empty answer that streams, below its question."""
    answer_id = add_message(
        db, chat_id, question_id, Role.ASSISTANT, "", state=MessageState.STREAMING, model=clean_text(model)
    )
    touch(db, chat_id)
    return load_message(db, answer_id)


def flush_answer(db: sqlite3.Connection, answer_id: int, text: str, reasoning: str) -> None:
    """The text so far, whole: a flush that failed is healed by the next."""
    db.execute(
        "UPDATE messages SET text = ?, reasoning = ? WHERE id = ? AND state = 'streaming'",
        (clean_text(text), clean_text(reasoning), answer_id),
    )


def finish_answer(db: sqlite3.Connection, answer_id: int, end: AnswerEnd) -> None:
    """The end of an answer: text, state and figures together."""
    usage, timings = end.usage, end.timings
    figures = (
        *((usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) if usage else (None,) * 3),
        *(
            (timings.prefill_s, timings.decode_s, timings.first_token_s, timings.prefill_tok_s, timings.decode_tok_s)
            if timings
            else (None,) * 5
        ),
    )
    db.execute(
        "UPDATE messages SET state = ?, text = ?, reasoning = ?, finish_reason = ?, error = ?, reasoning_s = ?,"
        " reasoning_tokens = ?, prompt_tokens = ?, cached_tokens = ?, completion_tokens = ?, prefill_s = ?,"
        " decode_s = ?, first_token_s = ?, prefill_tok_s = ?, decode_tok_s = ? WHERE id = ?",
        (
            end.state.value,
            clean_text(end.text),
            clean_text(end.reasoning),
            end.finish_reason.value if end.finish_reason else None,
            clean_text(end.error),
            end.reasoning_s,
            end.reasoning_tokens,
            *figures,
            answer_id,
        ),
    )


def close_interrupted(db: sqlite3.Connection) -> int:
    """At start: answers that a kill left streaming keep their text and say so. Returns how many there were."""
    return db.execute("UPDATE messages SET state = 'interrupted' WHERE state = 'streaming'").rowcount


# ---- branches


def select_sibling(db: sqlite3.Connection, message_id: int, offset: int) -> int:
    """Show the version `offset` places beside this one (clamped at the ends); returns its id."""
    row = _row(db, message_id)
    siblings = _siblings(db, row)
    place = siblings.index(message_id) + offset
    chosen = siblings[max(0, min(place, len(siblings) - 1))]
    _select(db, row["chat_id"], row["parent_id"], chosen)
    return chosen


def select(db: sqlite3.Connection, message_id: int) -> None:
    """Show this version among its siblings."""
    row = _row(db, message_id)
    _select(db, row["chat_id"], row["parent_id"], message_id)


def show_message(db: sqlite3.Connection, message_id: int) -> None:
    """Select the branch that leads to this message (a search hit may lie on another)."""
    for row in path_to(db, message_id):
        _select(db, row["chat_id"], row["parent_id"], row["id"])


_SUBTREE = (
    "(WITH RECURSIVE subtree (id) AS (SELECT ? UNION"
    " SELECT m.id FROM subtree JOIN messages m ON m.parent_id = subtree.id) SELECT id FROM subtree)"
)


def mark_deleted(db: sqlite3.Connection, message_id: int) -> None:
    """Hide a message and what follows it; its parent shows the version before it, or the next, or none."""
    row = _row(db, message_id)
    siblings = _siblings(db, row)
    place = siblings.index(message_id)
    others = siblings[:place][-1:] or siblings[place + 1 :][:1]
    db.execute(
        f"UPDATE messages SET deleted_at = ? WHERE deleted_at IS NULL AND id IN {_SUBTREE}", (time.time(), message_id)
    )
    _select(db, row["chat_id"], row["parent_id"], others[0] if others else None)


def bring_back(db: sqlite3.Connection, message_id: int) -> None:
    """Undo mark_deleted: the message and what was hidden together with it. Raises MissingRowError."""
    found = db.execute("SELECT deleted_at FROM messages WHERE id = ?", (message_id,)).fetchone()
    if found is not None:
        db.execute(
            f"UPDATE messages SET deleted_at = NULL WHERE deleted_at = ? AND id IN {_SUBTREE}",
            (found["deleted_at"], message_id),
        )
    select(db, message_id)


def copy_branch(db: sqlite3.Connection, message_id: int, new_chat_id: int) -> None:
    """Put copies of the messages up to and including this one into another, empty chat."""
    parent: int | None = None
    for row in path_to(db, message_id):
        keys = [key for key in row.keys() if key not in ("id", "chat_id", "parent_id", "selected_child_id")]  # noqa: SIM118 - a sqlite3.Row iterates over values
        cursor = db.execute(
            f"INSERT INTO messages (chat_id, parent_id, {', '.join(keys)}) VALUES (?, ?{', ?' * len(keys)})",
            (new_chat_id, parent, *(row[key] for key in keys)),
        )
        assert cursor.lastrowid is not None  # set by every INSERT
        _select(db, new_chat_id, parent, cursor.lastrowid)
        documents.copy_documents(db, row["id"], cursor.lastrowid)
        parent = cursor.lastrowid


def _select(db: sqlite3.Connection, chat_id: int, parent_id: int | None, child_id: int | None) -> None:
    if parent_id is None:
        db.execute("UPDATE chats SET selected_root_id = ? WHERE id = ?", (child_id, chat_id))
    else:
        db.execute("UPDATE messages SET selected_child_id = ? WHERE id = ?", (child_id, parent_id))
