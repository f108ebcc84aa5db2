"""The store as the app meets it: damaged, locked, read-only, full, newer, killed. One sentence, and it works on."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.chat.models import MessageState, Role
from app.errors import StoreError, StoreProblem
from app.store import chats, messages, search
from app.store.database import close_database, open_database, store_error
from app.store.schema import MIGRATIONS, migrate
from app.store.store import Store, StoreOpened

WAIT_MS = 90_000


class Opened:
    """A store, what opening told, and operations that wait for their answer."""

    def __init__(self, qtbot: QtBot, path: Path) -> None:
        self.qtbot = qtbot
        self.store = Store(path, busy_timeout_s=0.2)
        told: list[StoreOpened] = []
        self.store.open(told.append)
        qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
        self.told = told[0]

    def run(self, operation: Callable[[sqlite3.Connection], Any], *, reading: bool = False) -> Any:
        answers: list[Any] = []
        errors: list[BaseException] = []
        (self.store.read if reading else self.store.submit)(operation, answers.append, errors.append)
        self.qtbot.waitUntil(lambda: bool(answers or errors), timeout=WAIT_MS)
        if errors:
            raise errors[0]
        return answers[0]

    def add_chat(self, text: str) -> int:
        def add(db: sqlite3.Connection) -> int:
            chat_id = chats.create_chat(db, text)
            messages.add_message(db, chat_id, None, Role.USER, text)
            return chat_id

        return int(self.run(add))

    def titles(self) -> list[str]:
        return [row.title for row in self.run(chats.list_chats)]


OpenStore = Callable[[], Opened]


@pytest.fixture
def open_store(qtbot: QtBot, tmp_path: Path) -> Iterator[OpenStore]:
    made: list[Opened] = []

    def make() -> Opened:
        made.append(Opened(qtbot, tmp_path / "data" / "chats.sqlite3"))
        return made[-1]

    yield make
    for opened in made:
        opened.store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.sqlite3"


def test_what_is_written_is_there_after_reopening(open_store: OpenStore) -> None:
    first = open_store()
    assert first.told == StoreOpened("", False, 0)
    first.add_chat("hello")
    first.store.close()
    assert open_store().titles() == ["hello"]


def test_operations_run_in_order_on_one_other_thread(open_store: OpenStore) -> None:
    store = open_store()
    seen: list[tuple[int, int]] = []
    for number in range(200):
        store.store.submit(lambda db, number=number: seen.append((number, threading.get_ident())))
    store.titles()
    assert [number for number, _ in seen] == list(range(200))
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident()


def test_an_operation_that_fails_leaves_nothing_behind(open_store: OpenStore) -> None:
    store = open_store()

    def half(db: sqlite3.Connection) -> None:
        chats.create_chat(db, "half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.run(half)
    assert store.titles() == []
    store.add_chat("whole")
    assert store.titles() == ["whole"]


def test_a_read_beside_the_writes_sees_what_was_committed(open_store: OpenStore) -> None:
    store = open_store()
    for number in range(20):
        store.add_chat(f"chat {number}")
        assert len(store.run(chats.list_chats, reading=True)) == number + 1


def test_the_reading_connection_cannot_write(open_store: OpenStore) -> None:
    store = open_store()
    with pytest.raises(StoreError):
        store.run(lambda db: chats.create_chat(db, "x"), reading=True)
    assert store.titles() == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "not a database": lambda raw: b"this is not a database at all" * 100,
    "header": lambda raw: b"\xff" * 100 + raw[100:],
    "middle": lambda raw: raw[:4096] + b"\xa5" * (len(raw) - 8192) + raw[-4096:],
    "cut": lambda raw: raw[: len(raw) // 2 // 4096 * 4096 + 100],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_kept_aside_and_a_new_one_started(open_store: OpenStore, path: Path, damage: str) -> None:
    first = open_store()
    for number in range(50):
        first.add_chat(f"chat {number} " + "text " * 500)
    first.store.close()
    damaged = DAMAGES[damage](path.read_bytes())
    path.write_bytes(damaged)
    later = open_store()
    kept = [entry for entry in path.parent.glob("*.damaged-*") if not entry.name.endswith(("-wal", "-shm"))]
    assert [entry.read_bytes() for entry in kept] == [damaged]
    assert str(kept[0]) in later.told.warning
    assert not later.told.is_temporary
    later.add_chat("new")
    later.store.close()
    assert open_store().titles() == ["new"]


def test_a_damaged_search_index_is_built_again(open_store: OpenStore, path: Path) -> None:
    first = open_store()
    first.add_chat("zebra")
    first.store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE message_search_data SET block = x'0102' WHERE id > 1")
        db.execute("UPDATE title_search_data SET block = x'0102' WHERE id > 1")
        db.commit()
    later = open_store()
    later.run(lambda db: search.search(db, "zebra"))
    later.add_chat("gnu")
    assert {hit.title for hit in later.run(lambda db: search.search(db, "zebra"))} == {"zebra"}
    assert {hit.title for hit in later.run(lambda db: search.search(db, "gnu"))} == {"gnu"}


def test_a_locked_database_is_said_and_the_session_goes_on(open_store: OpenStore, path: Path) -> None:
    first = open_store()
    first.add_chat("on disk")
    first.store.close()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        later = open_store()
        assert later.told.is_temporary
        assert "locked by another program" in later.told.warning
        assert str(path) in later.told.warning
        later.add_chat("in memory")
        assert later.titles() == ["in memory"]
        assert later.run(chats.list_chats, reading=True)
        later.store.close()
        other.execute("ROLLBACK")
    assert open_store().titles() == ["on disk"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where nobody may")
def test_a_read_only_folder_shows_the_chats_and_says_so(open_store: OpenStore, path: Path) -> None:
    first = open_store()
    first.add_chat("on disk")
    first.store.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        later = open_store()
        assert later.told.is_temporary
        assert "cannot be written" in later.told.warning
        assert later.titles() == ["on disk"]
        later.add_chat("in memory")
        later.store.close()
    finally:
        path.parent.chmod(0o700)
        path.chmod(0o600)
    assert open_store().titles() == ["on disk"]


def test_chats_that_cannot_be_written_are_copied_with_what_the_log_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_database(path)
    chats.create_chat(first.connection, "on disk")  # still in the write-ahead log: nothing was folded in
    real = sqlite3.connect

    def refuse(name: str, **options: Any) -> sqlite3.Connection:
        if name == str(path):
            error = sqlite3.OperationalError("attempt to write a readonly database")
            error.sqlite_errorcode = sqlite3.SQLITE_READONLY
            raise error
        return real(name, **options)

    monkeypatch.setattr("app.store.database.sqlite3.connect", refuse)
    later = open_database(path)
    monkeypatch.undo()
    assert later.is_temporary
    assert "Earlier chats are shown" in later.warning
    assert [row.title for row in chats.list_chats(later.connection)] == ["on disk"]
    close_database(later)
    close_database(first)


def test_a_file_in_place_of_the_folder_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    opened = Opened(qtbot, tmp_path / "data" / "chats.sqlite3")
    assert opened.told.is_temporary
    assert str(tmp_path / "data") in opened.told.warning
    opened.add_chat("works")
    opened.store.close()


def test_a_full_disk_fails_one_write_and_not_the_next(open_store: OpenStore) -> None:
    store = open_store()
    store.add_chat("before")
    pages = store.run(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    store.run(lambda db: None)

    def limit(db: sqlite3.Connection, to: int) -> None:
        db.execute(f"PRAGMA max_page_count = {to}").fetchall()

    store.run(lambda db: limit(db, pages))
    with pytest.raises(StoreError) as caught:
        store.add_chat("too large " * 50_000)
    assert caught.value.problem is StoreProblem.DISK_FULL
    assert "is full" in str(caught.value)
    assert store.titles() == ["before"]
    store.run(lambda db: limit(db, 1 << 30))
    store.add_chat("after")
    assert store.titles() == ["after", "before"]


def test_a_newer_file_is_not_touched(open_store: OpenStore, path: Path) -> None:
    first = open_store()
    first.add_chat("from the future")
    first.store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    later = open_store()
    assert later.told.is_temporary
    assert "newer Haloband" in later.told.warning
    later.add_chat("in memory")
    later.store.close()
    assert path.read_bytes() == before


def test_an_older_file_is_copied_and_upgraded_whole_or_not_at_all(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "old.sqlite3", isolation_level=None)
    db.row_factory = sqlite3.Row
    migrate(db)
    chats.create_chat(db, "old")
    with pytest.raises(sqlite3.Error):
        migrate(db, (*MIGRATIONS, "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1);"))
    assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'extra'").fetchall()
    migrate(db, (*MIGRATIONS, "ALTER TABLE chats ADD COLUMN colour TEXT NOT NULL DEFAULT 'none';"))
    assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS) + 1
    assert [row["title"] for row in db.execute("SELECT title, colour FROM chats")] == ["old"]
    db.close()


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (sqlite3.SQLITE_CORRUPT, StoreProblem.DAMAGED),
        (sqlite3.SQLITE_NOTADB, StoreProblem.DAMAGED),
        (sqlite3.SQLITE_BUSY, StoreProblem.LOCKED),
        (sqlite3.SQLITE_FULL, StoreProblem.DISK_FULL),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreProblem.READ_ONLY),
        (sqlite3.SQLITE_CANTOPEN, StoreProblem.READ_ONLY),
        (sqlite3.SQLITE_IOERR, StoreProblem.OTHER),
    ],
)
def test_every_refusal_of_sqlite_has_its_words(code: int, problem: StoreProblem) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    described = store_error(error, Path("/data/chats.sqlite3"))
    assert described.problem is problem
    assert "/data" in str(described)


def test_close_is_clean_and_late_work_is_dropped(open_store: OpenStore) -> None:
    store = open_store()
    store.add_chat("x")
    store.store.close()
    store.store.submit(lambda db: chats.create_chat(db, "late"))
    store.store.read(chats.list_chats)
    assert open_store().titles() == ["x"]


# The child streams an answer through the real saver, the parent kills it without any warning.
_CHILD = """
import sys, time
from pathlib import Path
from app.chat.models import Role
from app.store import chats, messages
from app.store.database import open_database

db = open_database(Path(sys.argv[1])).connection
chat = chats.create_chat(db, "killed")
question = messages.add_message(db, chat, None, Role.USER, "the question")
answer = messages.start_answer(db, chat, question, "m")
text = ""
while True:
    text += "word "
    db.execute("BEGIN IMMEDIATE")
    messages.flush_answer(db, answer.id, text, "")
    db.execute("COMMIT")
    print(len(text), flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_sound_file_and_the_saved_text(open_store: OpenStore, path: Path) -> None:
    for round_number in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]
        )
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(5 + 7 * round_number)]
        time.sleep(0.001 * round_number)
        os.kill(child.pid, signal.SIGKILL)
        lines += child.stdout.read().splitlines()
        child.wait()
        saved = int([line for line in lines if line.strip()][-1])
        later = open_store()
        assert later.told == StoreOpened("", False, 1)
        found = later.run(lambda db: db.execute("SELECT role, text, state FROM messages ORDER BY id").fetchall())
        question, answer = (tuple(row) for row in found[-2:])
        assert question == ("user", "the question", "complete")
        assert answer[2] == MessageState.INTERRUPTED.value
        assert saved <= len(answer[1]) <= saved + len("word ")
        assert later.run(lambda db: db.execute("PRAGMA integrity_check").fetchone()[0]) == "ok"
        assert later.run(lambda db: search.search(db, "word"))
        later.store.close()
