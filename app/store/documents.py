"""Documents as rows: waiting in a composer, or sent with a message. Texts are kept once per content.

Functions on a connection, called by the store within one transaction on its thread.
"""

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from app.chat.models import DocumentInfo
from app.store import rows
from app.store.chats import MissingRowError
from app.store.rows import PREVIEW_CHARACTERS, clean_text

MAX_NAME_CHARACTERS = 255
_COLUMNS = "id, message_id, name, size_bytes, characters, tokens, sha256, preview"


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to store: its name, whole text, and the size of the file or paste it came from."""

    name: str
    text: str
    size_bytes: int
    tokens: int | None = None


def add_document(
    db: sqlite3.Connection, chat_id: int, document: NewDocument, message_id: int | None = None
) -> DocumentInfo:
    """Store a document, in the chat's composer unless a message is named."""
    text = clean_text(document.text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = " ".join(clean_text(document.name).split())[:MAX_NAME_CHARACTERS]
    db.execute("INSERT OR IGNORE INTO document_texts VALUES (?, ?)", (digest, text))
    row = db.execute(
        "INSERT INTO documents (chat_id, message_id, sha256, name, size_bytes, characters, tokens, preview)"
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING {_COLUMNS}",
        (
            chat_id,
            message_id,
            digest,
            name,
            document.size_bytes,
            len(text),
            document.tokens,
            text[:PREVIEW_CHARACTERS],
        ),
    ).fetchone()
    return rows.document(row)


def pending_documents(db: sqlite3.Connection, chat_id: int) -> tuple[DocumentInfo, ...]:
    """What waits in the chat's composer, in order of arrival."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM documents WHERE chat_id = ? AND message_id IS NULL ORDER BY id", (chat_id,)
    )
    return tuple(rows.document(row) for row in found)


def attach_pending(db: sqlite3.Connection, message_id: int, document_ids: Iterable[int]) -> None:
    """These documents of the composer go with this message."""
    db.executemany(
        "UPDATE documents SET message_id = ? WHERE id = ? AND message_id IS NULL",
        [(message_id, document_id) for document_id in document_ids],
    )


def move_pending(db: sqlite3.Connection, document_ids: Iterable[int], chat_id: int) -> None:
    """These documents wait in another chat's composer from now on."""
    db.executemany(
        "UPDATE documents SET chat_id = ? WHERE id = ? AND message_id IS NULL", [(chat_id, id_) for id_ in document_ids]
    )


def copy_documents(db: sqlite3.Connection, from_message: int, to_message: int) -> None:
    """The same documents for another message (an edit, a branch); the texts are shared."""
    db.execute(
        "INSERT INTO documents (chat_id, message_id, sha256, name, size_bytes, characters, tokens, preview)"
        " SELECT m.chat_id, m.id, d.sha256, d.name, d.size_bytes, d.characters, d.tokens, d.preview"
        " FROM documents d JOIN messages m ON m.id = ? WHERE d.message_id = ? ORDER BY d.id",
        (to_message, from_message),
    )


def copy_to_composer(db: sqlite3.Connection, from_message: int, chat_id: int) -> None:
    """The same documents once more, waiting in a chat's composer; the texts are shared."""
    db.execute(
        "INSERT INTO documents (chat_id, message_id, sha256, name, size_bytes, characters, tokens, preview)"
        " SELECT ?, NULL, sha256, name, size_bytes, characters, tokens, preview"
        " FROM documents WHERE message_id = ? ORDER BY id",
        (chat_id, from_message),
    )


def document_text(db: sqlite3.Connection, document_id: int) -> str:
    """The whole text. Raises MissingRowError."""
    row = db.execute(
        "SELECT t.text FROM documents d JOIN document_texts t USING (sha256) WHERE d.id = ?", (document_id,)
    ).fetchone()
    if row is None:
        raise MissingRowError("This document is no longer there.")
    return str(row["text"])


def document_name(db: sqlite3.Connection, document_id: int) -> str:
    """Its name. Raises MissingRowError."""
    row = db.execute("SELECT name FROM documents WHERE id = ?", (document_id,)).fetchone()
    if row is None:
        raise MissingRowError("This document is no longer there.")
    return str(row["name"])


def set_tokens(db: sqlite3.Connection, counts: Iterable[tuple[int, int]]) -> None:
    """Keep (document id, tokens) pairs."""
    db.executemany("UPDATE documents SET tokens = ? WHERE id = ?", [(tokens, id_) for id_, tokens in counts])


def remove_document(db: sqlite3.Connection, document_id: int) -> None:
    """Take a document out of a composer; one that was sent stays."""
    db.execute("DELETE FROM documents WHERE id = ? AND message_id IS NULL", (document_id,))


def documents_of_chat(db: sqlite3.Connection, chat_id: int) -> dict[int, tuple[DocumentInfo, ...]]:
    """Documents of all messages of a chat, by message id."""
    found: dict[int, list[DocumentInfo]] = {}
    for row in db.execute(
        f"SELECT {_COLUMNS} FROM documents WHERE chat_id = ? AND message_id IS NOT NULL ORDER BY id", (chat_id,)
    ):
        found.setdefault(row["message_id"], []).append(rows.document(row))
    return {message_id: tuple(items) for message_id, items in found.items()}


def texts_of_message(db: sqlite3.Connection, message_id: int) -> tuple[tuple[str, str], ...]:
    """(name, text) of a message's documents in order."""
    found = db.execute(
        "SELECT d.name, t.text FROM documents d JOIN document_texts t USING (sha256)"
        " WHERE d.message_id = ? ORDER BY d.id",
        (message_id,),
    )
    return tuple((row["name"], row["text"]) for row in found)


def drop_unused_texts(db: sqlite3.Connection) -> None:
    """Erase texts that no document names any more."""
    db.execute("DELETE FROM document_texts WHERE sha256 NOT IN (SELECT sha256 FROM documents)")
