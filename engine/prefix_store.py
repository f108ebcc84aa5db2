"""Long conversations on disk, so that a document read yesterday need not be read again: a folder of snapshots.

The app's worker thread keeps a session after its answer and restores the longest stored prefix before the next one.
A file that is damaged, foreign or unreadable only means that the prompt is read again; it is removed where possible.
"""

import contextlib
import hashlib
import logging
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import SnapshotError
from engine.faces import SessionFace
from engine.snapshot import save_file

log = logging.getLogger(__name__)

MIN_TOKENS = 2048  # below it, reading again is faster than a person notices
LIMIT_BYTES = 4 << 30
_SUFFIX = ".hbsnap"


@dataclass(frozen=True, slots=True)
class StoredPrefix:
    """One file: its tokens' number and digest stand in its name, so that looking up opens nothing."""

    path: Path
    tokens: int
    digest: str


class PrefixStore:
    """Snapshots of sessions in `folder`, oldest use removed first beyond `limit_bytes`. One thread at a time."""

    def __init__(self, folder: Path, min_tokens: int | None = None, limit_bytes: int = LIMIT_BYTES) -> None:
        self.folder, self.limit_bytes = folder, limit_bytes
        self.min_tokens = MIN_TOKENS if min_tokens is None else min_tokens

    def keep(self, session: SessionFace) -> Path | None:
        """Save the session if it is long enough; the file, or None. A full or read-only disk is logged, not raised."""
        tokens = session.tokens
        if len(tokens) < self.min_tokens:
            return None
        path = self.folder / f"{_scope(session)}-{len(tokens)}-{_digest(tokens)}{_SUFFIX}"
        try:
            if not path.exists():
                save_file(path, session.snapshot())
                self._drop_beginnings(_scope(session), tokens)
                self._make_room(path)
        except OSError as error:
            log.warning("the session of %d tokens could not be kept in %s: %s", len(tokens), self.folder, error)
            return None
        return path

    def restore(self, session: SessionFace, ids: Sequence[int]) -> int:
        """Bring the longest stored prefix of `ids` into the session if it beats what the session holds.

        Returns the tokens that are now held of `ids`; at least one token of `ids` stays to be computed.
        """
        held = session.timeline.reusable(ids)
        for stored in sorted(self._stored(_scope(session)), key=lambda entry: -entry.tokens):
            if not held < stored.tokens < len(ids) or stored.tokens > session.context:
                continue
            if stored.digest == _digest(ids[: stored.tokens]) and self._load(session, stored):
                return stored.tokens
        return held

    def _load(self, session: SessionFace, stored: StoredPrefix) -> bool:
        try:
            session.restore(stored.path.read_bytes())
            stored.path.touch()
        except (OSError, SnapshotError) as error:
            log.warning("%s could not be used and is removed: %s", stored.path, error)
            with contextlib.suppress(OSError):
                stored.path.unlink()
            return False
        return True

    def _stored(self, scope: str) -> Iterator[StoredPrefix]:
        for path in self.folder.glob(f"{scope}-*{_SUFFIX}"):
            parts = path.stem.split("-")
            if len(parts) == 3 and parts[1].isdecimal():
                yield StoredPrefix(path, int(parts[1]), parts[2])

    def _drop_beginnings(self, scope: str, tokens: Sequence[int]) -> None:
        """Remove earlier states of the same conversation: the newest one serves every later turn."""
        for stored in self._stored(scope):
            if stored.tokens < len(tokens) and stored.digest == _digest(tokens[: stored.tokens]):
                stored.path.unlink(missing_ok=True)

    def _make_room(self, newest: Path) -> None:
        """Remove the least recently used files of any model until the folder fits its limit; the newest stays."""
        files = [(path.stat(), path) for path in self.folder.glob(f"*{_SUFFIX}") if path != newest]
        total = newest.stat().st_size + sum(status.st_size for status, _ in files)
        for status, path in sorted(files, key=lambda entry: entry[0].st_mtime_ns):
            if total <= self.limit_bytes:
                return
            path.unlink(missing_ok=True)
            total -= status.st_size


def _scope(session: SessionFace) -> str:
    """The model, its arithmetic, the stored form of rows and the mode: all that a state depends on."""
    text = f"{session.model.fingerprint} {session.timeline.state.rounding.value} {session.mode.value}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _digest(ids: Sequence[int]) -> str:
    return hashlib.sha256(array("q", ids).tobytes()).hexdigest()[:32]
