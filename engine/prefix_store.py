"""Long conversations on disk, so that a document read yesterday need not be read again: a folder of snapshots.

The app's worker thread keeps a session after its answer and restores the longest stored prefix before the next one.
A snapshot also holds where the last question began and ended, so that after a restart it can be edited and its answer
regenerated; both share the snapshot's rows and add 17.0 MiB each for V4 Flash (docs/memory.md). A file that is damaged,
foreign or unreadable only means that the prompt is read again; it is removed where possible.
"""

import contextlib
import functools
import hashlib
import logging
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.backends.failures import is_out_of_memory
from engine.errors import SnapshotError
from engine.faces import SessionFace
from engine.snapshot import replaced_file
from engine.state import Checkpoint

log = logging.getLogger(__name__)

MIN_TOKENS = 2048  # below it, reading again is faster than a person notices
LIMIT_BYTES = 4 << 30
_SUFFIX = ".hbsnap"
_POINT = re.compile(r"(\d{1,10})(\+?)\.([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A position of a file: its tokens' number and digest, and whether the logits after them are known."""

    tokens: int
    has_logits: bool
    digest: str

    @property
    def name(self) -> str:
        return f"{self.tokens}{'+' if self.has_logits else ''}.{self.digest}"


@dataclass(frozen=True, slots=True)
class StoredPrefix:
    """One file. Its points, ascending, stand in its name, so that looking up opens nothing."""

    path: Path
    points: tuple[StoredPoint, ...]

    @property
    def end(self) -> StoredPoint:
        return self.points[-1]


class PrefixStore:
    """Snapshots of sessions in `folder`, oldest use removed first beyond `limit_bytes`. One thread at a time."""

    def __init__(self, folder: Path, min_tokens: int | None = None, limit_bytes: int = LIMIT_BYTES) -> None:
        self.folder, self.limit_bytes = folder, limit_bytes
        self.min_tokens = MIN_TOKENS if min_tokens is None else min_tokens

    def keep(self, session: SessionFace, end: int | None = None) -> Path | None:
        """Save the session, up to a position `end` that it can return to, if it is long enough; the file, or None.

        Too little memory and a full or read-only disk are logged, not raised.
        """
        points = [point for point in session.timeline.points(end) if point.position >= self.min_tokens]
        if not points:
            return None
        tokens = session.tokens[: points[-1].position]
        scope, named = _scope(session), tuple(_described(points, tokens))
        path = self.folder / f"{scope}-{'-'.join(point.name for point in named)}{_SUFFIX}"
        try:
            for stored in self._stored(scope):
                if set(named) <= set(stored.points):
                    return stored.path
            with replaced_file(path) as file:
                session.save(file, points)
            self._drop_beginnings(scope, tokens, path)
            self._make_room(path)
        except Exception as error:
            if not (isinstance(error, OSError) or is_out_of_memory(error)):
                raise
            log.warning("the session of %d tokens could not be kept in %s: %s", len(tokens), self.folder, error)
            return None
        return path

    def restore(self, session: SessionFace, ids: Sequence[int]) -> int:
        """Bring the longest stored prefix of `ids` into the session if it beats what the session holds.

        Returns the tokens of `ids` that need not be computed; all of them only where the logits after them are known.
        """
        failed = set[Path]()
        while True:
            held = session.timeline.reusable(ids)  # again each time: a file that fails half read costs what was held
            found = [each for each in self._matching(session, ids, held) if each[1].path not in failed]
            if not found:
                return held
            _, best = max(found, key=lambda each: each[0])
            if self._load(session, best):
                return session.timeline.reusable(ids)
            failed.add(best.path)

    def _matching(self, session: SessionFace, ids: Sequence[int], held: int) -> Iterator[tuple[int, StoredPrefix]]:
        """Every file that fits the session and shares a beginning of more than `held` tokens with `ids`, after the
        number of tokens it shares.
        """
        digest = functools.cache(lambda tokens: _digest(ids[:tokens]))
        for stored in self._stored(_scope(session)):
            for point in reversed(stored.points if stored.end.tokens <= session.context else ()):
                if point.tokens <= held:
                    break  # before a digest: it reads all of a long conversation's tokens
                is_whole = point.tokens == len(ids) and point.has_logits
                if (point.tokens < len(ids) or is_whole) and point.digest == digest(point.tokens):
                    yield point.tokens, stored
                    break

    def _load(self, session: SessionFace, stored: StoredPrefix) -> bool:
        try:
            with stored.path.open("rb") as file:
                session.load(file)
        except (OSError, SnapshotError) as error:
            log.warning("%s could not be used and is removed: %s", stored.path, error)
            with contextlib.suppress(OSError):
                stored.path.unlink()
            return False
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            log.warning("%s could not be used for want of memory: %s", stored.path, error)
            return False
        with contextlib.suppress(OSError):
            stored.path.touch()
        return True

    def _stored(self, scope: str) -> Iterator[StoredPrefix]:
        for path in self.folder.glob(f"{scope}-*{_SUFFIX}"):
            found = [_POINT.fullmatch(part) for part in path.name.removesuffix(_SUFFIX).split("-")[1:]]
            points = [StoredPoint(int(each[1]), bool(each[2]), each[3]) for each in found if each]
            if points and len(points) == len(found):
                yield StoredPrefix(path, tuple(points))

    def _drop_beginnings(self, scope: str, tokens: Sequence[int], newest: Path) -> None:
        """Remove earlier states of the same conversation: the newest one serves every later turn."""
        for stored in self._stored(scope):
            end = stored.end
            if stored.path != newest and end.tokens <= len(tokens) and end.digest == _digest(tokens[: end.tokens]):
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
    origin = session.origin
    text = f"{origin.fingerprint} {origin.rounding} {origin.mode}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _described(points: Sequence[Checkpoint], tokens: Sequence[int]) -> Iterator[StoredPoint]:
    for point in points:
        yield StoredPoint(point.position, point.logits is not None, _digest(tokens[: point.position]))


def _digest(ids: Sequence[int]) -> str:
    return hashlib.sha256(array("q", ids).tobytes()).hexdigest()[:16]
