"""The tables of the chat database and how an older file becomes a newer one. Runs on the store's thread at opening.

Messages form a tree: siblings (same parent) are versions of one message, and `selected_child_id` says which one is
shown, so a branch is found by walking down and earlier versions stay reachable. Deleting marks with `deleted_at`;
rows go for good at the next start. There is no cascade along parent_id, because SQLite stops at 1,000 levels.
"""

import sqlite3
from collections.abc import Sequence

_VERSION_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE chats (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    title_is_manual INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    draft TEXT NOT NULL DEFAULT '',
    system_prompt TEXT,
    settings TEXT NOT NULL DEFAULT '{}',
    history_from_id INTEGER,
    selected_root_id INTEGER,
    rank INTEGER NOT NULL,       -- order of last use; unlike a time it cannot run backwards
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    deleted_at REAL
);
CREATE INDEX chats_by_rank ON chats (pinned DESC, rank DESC) WHERE deleted_at IS NULL;

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    chat_id INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent_id INTEGER REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED,
    selected_child_id INTEGER,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text TEXT NOT NULL DEFAULT '',
    reasoning TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL CHECK (state IN ('streaming', 'complete', 'stopped', 'failed', 'interrupted')),
    created_at REAL NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    finish_reason TEXT,
    prompt_tokens INTEGER, cached_tokens INTEGER, completion_tokens INTEGER,
    prefill_s REAL, decode_s REAL, first_token_s REAL, prefill_tok_s REAL, decode_tok_s REAL,
    reasoning_s REAL,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    deleted_at REAL
);
CREATE INDEX messages_by_parent ON messages (chat_id, parent_id);
CREATE INDEX messages_by_parent_id ON messages (parent_id);  -- what the foreign key looks up when rows go
CREATE INDEX messages_streaming ON messages (id) WHERE state = 'streaming';

-- A text is kept once however many questions (edits, branches) carry it.
CREATE TABLE document_texts (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    chat_id INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message_id INTEGER REFERENCES messages (id) ON DELETE CASCADE,  -- NULL: waits in the composer
    sha256 TEXT NOT NULL REFERENCES document_texts (sha256),
    name TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    tokens INTEGER,
    preview TEXT NOT NULL
);
CREATE INDEX documents_by_message ON documents (message_id);
CREATE INDEX documents_by_chat ON documents (chat_id);
CREATE INDEX documents_by_text ON documents (sha256);

CREATE VIRTUAL TABLE title_search USING fts5 (
    title, content='chats', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);
CREATE TRIGGER chats_search_insert AFTER INSERT ON chats BEGIN
    INSERT INTO title_search (rowid, title) VALUES (new.id, new.title);
END;
CREATE TRIGGER chats_search_update AFTER UPDATE OF title ON chats BEGIN
    INSERT INTO title_search (title_search, rowid, title) VALUES ('delete', old.id, old.title);
    INSERT INTO title_search (rowid, title) VALUES (new.id, new.title);
END;
CREATE TRIGGER chats_search_delete AFTER DELETE ON chats BEGIN
    INSERT INTO title_search (title_search, rowid, title) VALUES ('delete', old.id, old.title);
END;

-- A streaming answer is indexed once, when it ends, and not at each flush.
CREATE VIRTUAL TABLE message_search USING fts5 (
    text, content='messages', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);
CREATE TRIGGER messages_search_insert AFTER INSERT ON messages WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_search (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER messages_search_update AFTER UPDATE OF text, state ON messages BEGIN
    INSERT INTO message_search (message_search, rowid, text)
        SELECT 'delete', old.id, old.text WHERE old.state <> 'streaming';
    INSERT INTO message_search (rowid, text) SELECT new.id, new.text WHERE new.state <> 'streaming';
END;
CREATE TRIGGER messages_search_delete AFTER DELETE ON messages WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_search (message_search, rowid, text) VALUES ('delete', old.id, old.text);
END;
"""

# MIGRATIONS[n] takes a file from user_version n to n + 1. Rows that exist are never rewritten here.
MIGRATIONS: tuple[str, ...] = (_VERSION_1,)


def stored_version(connection: sqlite3.Connection) -> int:
    """The file's user_version; 0 for a new file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring the file to the newest version, each step whole or not at all."""
    for version in range(stored_version(connection), len(migrations)):
        # executescript would commit first; a script with its own BEGIN and COMMIT is one transaction
        script = f"BEGIN IMMEDIATE;\n{migrations[version]}\nPRAGMA user_version = {version + 1};\nCOMMIT;"
        try:
            connection.executescript(script)
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
