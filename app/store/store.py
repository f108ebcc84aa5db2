"""Store: the chats, for the GUI thread. All work runs on one thread, so that every read sees every write before it.

An operation is a function of a connection (app/store/chats.py and its neighbours); `submit` runs it in one transaction
and answers on the GUI thread. Searches and exports, which may take long, run on a second thread with a connection of
its own, so that they never hold up the text of a running answer.
"""

import contextlib
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject

from app.errors import StoreError, record_error
from app.store import messages, tidying
from app.store.database import BUSY_TIMEOUT_S, OpenedDatabase, close_database, open_database, open_reader, store_error
from app.tasks import TaskThread

log = logging.getLogger("haloband.store")

# What a damaged full-text index says; our own constraints have codes of their own (SQLITE_CONSTRAINT_CHECK and so on).
_INDEX_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_CONSTRAINT})

T = TypeVar("T")
Operation = Callable[[sqlite3.Connection], T]


@dataclass(frozen=True, slots=True)
class StoreOpened:
    """What opening found. `warning` is one sentence to show; `interrupted` answers were closed after a kill."""

    warning: str
    is_temporary: bool
    interrupted: int


class Store(QObject):
    """One database. Create and use on the GUI thread; call `open` first and `close` last."""

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._writer = TaskThread("store", self)
        self._reader = TaskThread("store-reader", self)
        self._opened: OpenedDatabase | None = None  # store thread only
        self._reading: sqlite3.Connection | None = None  # reader thread only

    def open(self, done: Callable[[StoreOpened], None]) -> None:
        """Open, repair and tidy the database. Always succeeds, if need be in memory (see app/store/database.py)."""
        self._writer.submit(self._open, done)

    def submit(
        self,
        operation: Operation[T],
        done: Callable[[T], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Run an operation in one transaction. `failed` gets a StoreError, a LookupError for a row that is gone, or
        a bug; without it the error is logged."""
        self._writer.submit(lambda: self._run(operation), done, failed)

    def read(
        self,
        operation: Operation[T],
        done: Callable[[T], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Run a long reading operation beside the writes. It sees what was committed before it began."""
        self._writer.submit(self._has_file, lambda has_file: self._read(has_file, operation, done, failed), failed)

    def close(self) -> None:
        """Finish every operation, note the clean end and close. Nothing is answered any more."""
        self._reader.submit(self._close_reader)
        self._reader.close()
        self._writer.submit(self._close)
        self._writer.close()

    # ---- store thread

    def _open(self) -> StoreOpened:
        opened = self._opened = open_database(self._path, busy_timeout_s=self._busy_timeout_s)
        interrupted = 0
        try:
            interrupted = self._run(messages.close_interrupted)
            self._run(tidying.purge_deleted)
        except (StoreError, sqlite3.Error) as error:  # the chats are readable; tidying can wait
            record_error(error, "tidying the chats")
        return StoreOpened(opened.warning, opened.is_temporary, interrupted)

    def _run(self, operation: Operation[T]) -> T:
        if self._opened is None:
            raise StoreError("The chats are closed.")
        db = self._opened.connection
        try:
            return _in_transaction(db, operation)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) not in _INDEX_DAMAGE:
                raise store_error(error, self._path) from error
        log.warning("the search index is damaged: building it again")
        try:
            _rebuild_search(db)
            return _in_transaction(db, operation)
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def _has_file(self) -> bool:
        return self._opened is not None and not self._opened.is_temporary

    def _close(self) -> None:
        if self._opened is not None:
            close_database(self._opened)
            self._opened = None

    # ---- reader thread

    def _read(
        self,
        has_file: bool,
        operation: Operation[T],
        done: Callable[[T], None] | None,
        failed: Callable[[BaseException], None] | None,
    ) -> None:
        if has_file:
            self._reader.submit(lambda: self._run_reading(operation), done, failed)
        else:  # a database in memory has one connection
            self._writer.submit(lambda: self._run(operation), done, failed)

    def _run_reading(self, operation: Operation[T]) -> T:
        try:
            if self._reading is None:
                self._reading = open_reader(self._path, self._busy_timeout_s)
            return _in_transaction(self._reading, operation, "BEGIN")  # one state of the file from end to end
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def _close_reader(self) -> None:
        if self._reading is not None:
            self._reading.close()
            self._reading = None


def _in_transaction(db: sqlite3.Connection, operation: Operation[T], begin: str = "BEGIN IMMEDIATE") -> T:
    db.execute(begin)
    try:
        result = operation(db)
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back by itself after some errors
            db.execute("ROLLBACK")
        raise
    return result


def _rebuild_search(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO title_search (title_search) VALUES ('rebuild')")
    db.execute("INSERT INTO message_search (message_search) VALUES ('rebuild')")
    db.execute(  # an answer that streams is indexed when it ends
        "INSERT INTO message_search (message_search, rowid, text)"
        " SELECT 'delete', id, text FROM messages WHERE state = 'streaming'"
    )
