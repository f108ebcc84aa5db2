"""Opening the chat database whatever state it is in, and the words for everything SQLite can refuse.

`open_database` never leaves the app without a store: a damaged file is kept aside and a new one started; a folder
that cannot be written gives a database in memory (with a copy of the chats, if they can be read) and a warning.
Store's thread only.
"""

import contextlib
import logging
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.errors import StoreError, StoreProblem
from app.files import set_aside
from app.store.schema import MIGRATIONS, migrate, stored_version

log = logging.getLogger("haloband.store")

BUSY_TIMEOUT_S = 5.0
_ALWAYS_CHECK_BYTES = 64 << 20  # above this a cleanly closed file is trusted; a check reads all of it
_MAX_COPY_BYTES = 512 << 20

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_READ_ONLY = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """A usable connection. `warning` is one sentence to show; `is_temporary` means nothing will be kept."""

    connection: sqlite3.Connection
    warning: str = ""
    is_temporary: bool = False


def open_database(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> OpenedDatabase:
    """Open or create the database at `path`; see the module for what happens when that fails. Never raises."""
    try:
        return OpenedDatabase(_open_checked(path, busy_timeout_s))
    except (StoreError, sqlite3.Error, OSError) as error:
        problem = store_error(error, path)
    if problem.problem is StoreProblem.DAMAGED:
        try:
            aside = _set_aside(path)
            connection = _open_checked(path, busy_timeout_s)
        except (StoreError, sqlite3.Error, OSError) as error:
            problem = store_error(error, path)
        else:
            return OpenedDatabase(
                connection, f"The chats on disk were damaged. They are kept as {aside}, a new file is used."
            )
    return _open_in_memory(path, problem)


def open_reader(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """A second connection, for reading only. Raises sqlite3.Error."""
    connection = _connect(str(path), busy_timeout_s)
    connection.execute("PRAGMA query_only = ON")
    return connection


def store_error(error: Exception, path: Path) -> StoreError:
    """The one clear sentence for an error of SQLite or the file system."""
    if isinstance(error, StoreError):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    if primary in _DAMAGED:
        return StoreError(f"The chat database {path} is damaged.", StoreProblem.DAMAGED)
    if primary in _LOCKED:
        return StoreError(f"The chat database {path} is locked by another program.", StoreProblem.LOCKED)
    if primary == sqlite3.SQLITE_FULL:
        return StoreError(f"The disk with {path.parent} is full.", StoreProblem.DISK_FULL)
    if primary in _READ_ONLY or isinstance(error, OSError):
        reason = getattr(error, "strerror", None)
        because = f" ({reason})" if reason else ""
        return StoreError(f"The data folder {path.parent} cannot be written{because}.", StoreProblem.READ_ONLY)
    return StoreError(f"The chat database {path} failed: {error}.", StoreProblem.OTHER)


def close_database(opened: OpenedDatabase) -> None:
    """Note a clean end, fold the write-ahead log in, and close."""
    connection = opened.connection
    if not opened.is_temporary:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('closed', '1')")
    connection.close()


def _open_checked(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    connection = _connect(str(path), busy_timeout_s)
    try:
        _refuse_newer(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        if stored_version(connection) and _needs_check(connection, path):
            _check(connection, path)
        if 0 < stored_version(connection) < len(MIGRATIONS):
            _back_up(connection, path)
        migrate(connection)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('closed', '0')")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(name: str, busy_timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=busy_timeout_s, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")  # a question is on the disk before it is answered
    return connection


def _refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    version = stored_version(connection)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The chats in {path} were written by a newer Haloband (format {version}, this one knows "
            f"{len(MIGRATIONS)}).",
            StoreProblem.NEWER,
        )


def _needs_check(connection: sqlite3.Connection, path: Path) -> bool:
    if path.stat().st_size <= _ALWAYS_CHECK_BYTES:
        return True
    row = connection.execute("SELECT value FROM meta WHERE key = 'closed'").fetchone()
    return row is None or row[0] != "1"


def _check(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        log.error("quick_check of %s: %s", path, found)
        raise StoreError(f"The chat database {path} is damaged.", StoreProblem.DAMAGED)


def _back_up(connection: sqlite3.Connection, path: Path) -> None:
    """A copy of an older file before it is changed."""
    with contextlib.closing(sqlite3.connect(path.with_name(f"{path.name}.v{stored_version(connection)}"))) as copy:
        connection.backup(copy)


def _set_aside(path: Path) -> Path:
    """Move the damaged file and what belongs to it; returns the main file's new name."""
    aside = set_aside(path)
    for suffix in ("-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def _open_in_memory(path: Path, problem: StoreError) -> OpenedDatabase:
    connection = _connect(":memory:", BUSY_TIMEOUT_S)
    copied = problem.problem in (StoreProblem.READ_ONLY, StoreProblem.DISK_FULL) and _copy_readable(path, connection)
    migrate(connection)
    shown = "Earlier chats are shown, but changes" if copied else "Chats of this session"
    return OpenedDatabase(connection, f"{problem} {shown} are not kept: copy what matters.", is_temporary=True)


def _copy_readable(path: Path, connection: sqlite3.Connection) -> bool:
    """Copy a database that can be read but not written, its write-ahead log included. True if it worked."""
    wal = path.with_name(f"{path.name}-wal")
    try:
        if path.stat().st_size > _MAX_COPY_BYTES:
            return False
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            if wal.exists():
                shutil.copyfile(wal, copy.with_name(wal.name))
            with contextlib.closing(_connect(str(copy), 0.0)) as source:
                if stored_version(source) != len(MIGRATIONS):
                    return False
                source.backup(connection)
    except (sqlite3.Error, OSError) as error:
        log.warning("the read-only chats could not be copied: %s", error)
        return False
    return True
