"""Tidying at start: what was deleted in earlier runs is erased for good. Functions on a connection; called by the store
within one transaction on its thread.
"""

import sqlite3

from app.store import documents, messages

# Messages below deleted ones that were not deleted themselves, each with its nearest ancestor that stays.
_ORPHANS = """
WITH RECURSIVE above (id, parent_id) AS (
    SELECT m.id, m.parent_id FROM messages m JOIN messages p ON p.id = m.parent_id
    WHERE m.deleted_at IS NULL AND p.deleted_at IS NOT NULL
    UNION
    SELECT above.id, p.parent_id FROM above JOIN messages p ON p.id = above.parent_id WHERE p.deleted_at IS NOT NULL
)
SELECT above.id, above.parent_id FROM above LEFT JOIN messages p ON p.id = above.parent_id
WHERE above.parent_id IS NULL OR p.deleted_at IS NULL ORDER BY above.id
"""


def purge_deleted(db: sqlite3.Connection) -> None:
    """Erase what was deleted in earlier runs, and texts that only it used."""
    db.execute("DELETE FROM chats WHERE deleted_at IS NOT NULL")
    _lift_orphans(db)
    db.execute("DELETE FROM messages WHERE deleted_at IS NOT NULL")  # with all below, which were marked with it
    documents.drop_unused_texts(db)


def _lift_orphans(db: sqlite3.Connection) -> None:
    """Earlier versions could store a question below a message that was deleted while the question was counted. It was
    never deleted itself: it moves up to what stays, and is shown again."""
    for row in db.execute(_ORPHANS).fetchall():
        db.execute("UPDATE messages SET parent_id = ? WHERE id = ?", (row["parent_id"], row["id"]))
        messages.select(db, row["id"])
