"""Chats as rows: list, make, change, delete and bring back. Functions on a connection; each is called by the store
within one transaction on its thread.
"""

import sqlite3
import time

from app.chat.models import Chat, ChatSettings, ChatSummary
from app.errors import UserError
from app.store import rows
from app.store.rows import clean_text

MAX_TITLE_CHARACTERS = 200
_LIVE = "deleted_at IS NULL"


class MissingRowError(UserError):
    """A chat, message or document that is not there (any more)."""


def list_chats(db: sqlite3.Connection) -> tuple[ChatSummary, ...]:
    """All chats, pinned first, then the one used last first."""
    found = db.execute(f"SELECT id, title, pinned, updated_at FROM chats WHERE {_LIVE} ORDER BY pinned DESC, rank DESC")
    return tuple(rows.chat_summary(row) for row in found)


def load_chat(db: sqlite3.Connection, chat_id: int) -> Chat:
    """One chat. Raises MissingRowError."""
    return rows.chat(_row(db, chat_id))


def last_used(db: sqlite3.Connection) -> int | None:
    """The chat used last, to open at start."""
    row = db.execute(f"SELECT id FROM chats WHERE {_LIVE} ORDER BY rank DESC LIMIT 1").fetchone()
    return None if row is None else int(row["id"])


def create_chat(db: sqlite3.Connection, title: str = "", *, created_at: float | None = None) -> int:
    """A new empty chat at the top of the list; returns its id."""
    now = time.time() if created_at is None else created_at
    cursor = db.execute(
        "INSERT INTO chats (title, rank, created_at, updated_at) SELECT ?, coalesce(max(rank), 0) + 1, ?, ? FROM chats",
        (_title(title), now, now),
    )
    return _inserted(cursor)


def find_empty_chat(db: sqlite3.Connection) -> int | None:
    """An untouched chat that "new" can use again."""
    row = db.execute(
        f"SELECT id FROM chats WHERE {_LIVE} AND title = '' AND draft = '' AND settings = '{{}}'"
        " AND system_prompt IS NULL AND NOT pinned"
        " AND NOT EXISTS (SELECT 1 FROM messages WHERE chat_id = chats.id)"
        " AND NOT EXISTS (SELECT 1 FROM documents WHERE chat_id = chats.id) ORDER BY rank DESC LIMIT 1"
    ).fetchone()
    return None if row is None else int(row["id"])


def touch(db: sqlite3.Connection, chat_id: int) -> None:
    """The chat was used now: it goes to the top."""
    db.execute(
        "UPDATE chats SET updated_at = ?, rank = (SELECT max(rank) FROM chats) + 1 WHERE id = ?", (time.time(), chat_id)
    )


def set_title(db: sqlite3.Connection, chat_id: int, title: str, *, manual: bool) -> None:
    """A title given by a person stays; an automatic one gives way to it."""
    if manual:
        db.execute("UPDATE chats SET title = ?, title_is_manual = 1 WHERE id = ?", (_title(title), chat_id))
    else:
        db.execute("UPDATE chats SET title = ? WHERE id = ? AND NOT title_is_manual", (_title(title), chat_id))


def set_pinned(db: sqlite3.Connection, chat_id: int, pinned: bool) -> None:
    db.execute("UPDATE chats SET pinned = ? WHERE id = ?", (pinned, chat_id))


def set_draft(db: sqlite3.Connection, chat_id: int, draft: str) -> None:
    db.execute("UPDATE chats SET draft = ? WHERE id = ?", (clean_text(draft), chat_id))


def set_system_prompt(db: sqlite3.Connection, chat_id: int, text: str | None) -> None:
    db.execute("UPDATE chats SET system_prompt = ? WHERE id = ?", (None if text is None else clean_text(text), chat_id))


def set_settings(db: sqlite3.Connection, chat_id: int, settings: ChatSettings) -> None:
    text = rows.write_chat_settings(settings, _row(db, chat_id)["settings"])
    db.execute("UPDATE chats SET settings = ? WHERE id = ?", (text, chat_id))


def set_history_from(db: sqlite3.Connection, chat_id: int, message_id: int | None) -> None:
    db.execute("UPDATE chats SET history_from_id = ? WHERE id = ?", (message_id, chat_id))


def mark_deleted(db: sqlite3.Connection, chat_id: int, *, deleted: bool) -> None:
    db.execute("UPDATE chats SET deleted_at = ? WHERE id = ?", (time.time() if deleted else None, chat_id))


def _title(title: str) -> str:
    return " ".join(clean_text(title).split())[:MAX_TITLE_CHARACTERS]


def _row(db: sqlite3.Connection, chat_id: int) -> sqlite3.Row:
    row = db.execute(f"SELECT * FROM chats WHERE id = ? AND {_LIVE}", (chat_id,)).fetchone()
    if not isinstance(row, sqlite3.Row):
        raise MissingRowError("This chat is no longer there.")
    return row


def _inserted(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None  # set by every INSERT
    return cursor.lastrowid
