"""Full-text search over titles and messages. Reads only; runs on the store's reading thread.

What a person types is never FTS syntax: each word is quoted, and matches as the beginning of a word.
"""

import sqlite3

from app.chat.models import SearchHit
from app.store.rows import clean_text
from app.store.snippets import CLOSE, OPEN, snippet, split_marks

MAX_HITS = 200
MAX_QUERY_CHARACTERS = 200


def search(db: sqlite3.Connection, query: str, limit: int = MAX_HITS) -> tuple[SearchHit, ...]:
    """Chats that match, the ones matching by title first; each chat once, with its best place."""
    expression = match_expression(query)
    if not expression:
        return ()
    hits = {hit.chat_id: hit for hit in _in_titles(db, expression, limit)}
    for hit in _in_messages(db, expression, limit):
        hits.setdefault(hit.chat_id, hit)
    return tuple(hits.values())[:limit]


def match_expression(query: str) -> str:
    """The FTS5 expression for typed words; empty if there are none."""
    cleaned = clean_text(query[:MAX_QUERY_CHARACTERS]).replace("\0", " ")
    words = [word for word in cleaned.replace('"', " ").split() if any(char.isalnum() for char in word)]
    return " ".join(f'"{word}"*' for word in words)


def _in_titles(db: sqlite3.Connection, expression: str, limit: int) -> list[SearchHit]:
    found = db.execute(
        "SELECT c.id, c.title, c.updated_at, highlight(title_search, 0, ?, ?) AS marked"
        " FROM title_search JOIN chats c ON c.id = title_search.rowid"
        " WHERE title_search MATCH ? AND c.deleted_at IS NULL ORDER BY c.rank DESC LIMIT ?",
        (OPEN, CLOSE, expression, limit),
    )
    return [SearchHit(row["id"], row["title"], None, *split_marks(row["marked"]), row["updated_at"]) for row in found]


def _in_messages(db: sqlite3.Connection, expression: str, limit: int) -> list[SearchHit]:
    """The best message of each chat. Ranking first and texts after: only the best are read."""
    found = db.execute(
        "WITH matched AS (SELECT rowid AS id, rank AS score FROM message_search WHERE message_search MATCH ?1),"
        " best AS (SELECT m.id, m.chat_id, min(matched.score) AS score FROM matched JOIN messages m USING (id)"
        "   JOIN chats c ON c.id = m.chat_id WHERE c.deleted_at IS NULL AND m.deleted_at IS NULL"
        "   GROUP BY m.chat_id ORDER BY score LIMIT ?2)"
        " SELECT best.id, c.id AS chat_id, c.title, c.updated_at,"
        " (SELECT highlight(message_search, 0, ?3, ?4) FROM message_search"
        "  WHERE message_search MATCH ?1 AND rowid = best.id) AS marked"
        " FROM best JOIN chats c ON c.id = best.chat_id ORDER BY c.rank DESC",
        (expression, limit, OPEN, CLOSE),
    )
    return [
        SearchHit(row["chat_id"], row["title"], row["id"], *snippet(row["marked"] or ""), row["updated_at"])
        for row in found
    ]
