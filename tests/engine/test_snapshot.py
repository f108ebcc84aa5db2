"""Saved sessions: exact wherever they are cut, refused whenever anything about them is wrong."""

import hashlib
import io
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.errors import SnapshotError
from engine.loading import Model
from engine.session import Session
from engine.snapshot import checked_snapshot, read_header, replaced_file, write_snapshot
from tests.engine.answering import answer, finished, ids_of, prompt
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import oracle_case

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["one_torch_thread"]  # a fixture for every test here


def ids(first: int, last: int) -> list[int]:
    found: list[int] = oracle_case(300)["input_ids"].tolist()
    return found[first:last]


@pytest.fixture(scope="module")
def blob(tiny: Model) -> bytes:
    session = tiny.session(context=512)
    session.prefill(ids(0, 130))
    return session.snapshot()


@pytest.mark.parametrize("position", (1, 2, 3, 4, 5, 126, 127, 128, 129, 130, 131, 200))
def test_continuing_from_a_snapshot_equals_never_stopping(tiny: Model, position: int) -> None:
    session = tiny.session(context=512)
    session.prefill(ids(0, position))
    restored = tiny.session(context=512)
    restored.restore(session.snapshot())
    assert restored.tokens == session.tokens
    assert torch.equal(restored.prefill(ids(position, 260)), session.prefill(ids(position, 260)))
    assert restored.snapshot() == session.snapshot()


def test_restoring_replaces_a_longer_timeline(tiny: Model, blob: bytes) -> None:
    used = tiny.session(context=512)
    used.prefill(list(reversed(ids(0, 300))))
    used.restore(blob)
    fresh = tiny.session(context=512)
    fresh.restore(blob)
    assert torch.equal(used.prefill(ids(130, 260)), fresh.prefill(ids(130, 260)))


def test_positions_to_return_to_survive(tiny: Model) -> None:
    session, restored = tiny.session(context=512), tiny.session(context=512)
    said = ids_of(answer(session, prompt(130)))
    answer(session, prompt(130) + said + [7, 8, 9])
    restored.restore(session.snapshot())
    assert restored.snapshot() == session.snapshot()
    again = answer(restored, prompt(130) + said + [7, 8, 9])
    assert finished(again).usage.cached_tokens == 141
    edited = answer(restored, prompt(130) + said + [4, 5])
    assert finished(edited).usage.cached_tokens == 137
    earlier = answer(restored, prompt(130))
    assert finished(earlier).usage.cached_tokens == 0, "each further turn to change would add 17 MiB"
    assert ids_of(earlier) == said


def test_a_session_can_be_saved_as_it_was(tiny: Model) -> None:
    session, then = tiny.session(context=512), tiny.session(context=512)
    for each in (session, then):
        each.prefill(ids(0, 130))
        each.timeline.mark(None)
    session.prefill(ids(130, 260))
    file = io.BytesIO()
    session.save(file, session.timeline.points(200))
    assert file.getvalue() == then.snapshot()
    with pytest.raises(ValueError, match="tokens for a state"):
        write_snapshot(file, session.timeline.state, ids(0, 99), session.timeline.points(200), session.origin)


class WatchedFile(io.BytesIO):
    """A file that knows the largest piece it has given or taken, and may fail at its `fails_at`-th read."""

    largest, fails_at, reads = 0, -1, 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        if self.reads == self.fails_at:
            raise OSError(5, "Input/output error")
        found = super().read(size)
        self.largest = max(self.largest, len(found))
        return found

    def write(self, data: "ReadableBuffer", /) -> int:
        self.largest = max(self.largest, memoryview(data).nbytes)
        return super().write(data)


def test_a_state_goes_to_and_from_a_file_in_small_pieces(
    tiny: Model, blob: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.snapshot._PIECE_BYTES", 1000)
    assert len(blob) > 100_000
    session, file = tiny.session(context=512), WatchedFile(blob)
    session.load(file)
    assert file.largest == 1000
    written = WatchedFile()
    session.save(written, session.timeline.points())
    assert written.largest == 1000
    assert written.getvalue() == session.snapshot() == blob


def test_a_file_that_fails_leaves_an_empty_session_only_once_its_state_is_being_read(
    tiny: Model, blob: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.snapshot._PIECE_BYTES", 10_000)
    checked, loaded, session = WatchedFile(blob), WatchedFile(blob), tiny.session(context=512)
    checked_snapshot(checked, session.timeline.state, session.origin)
    session.load(loaded)
    assert 4 < checked.reads < loaded.reads
    for fails_at in range(1, loaded.reads + 1):
        session.reset()
        session.prefill(ids(0, 9))
        failing = WatchedFile(blob)
        failing.fails_at = fails_at
        with pytest.raises(OSError, match="Input/output"):
            session.load(failing)
        held = 9 if fails_at <= checked.reads else 0
        assert session.tokens == tuple(ids(0, held))
    assert torch.equal(session.prefill(ids(0, 90)), tiny.session(context=512).prefill(ids(0, 90)))


def test_too_little_memory_for_a_file_leaves_the_session_as_it_is(
    tiny: Model, blob: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object) -> None:
        raise MemoryError

    session = tiny.session(context=512)
    session.prefill(ids(0, 9))
    before = session.snapshot()
    monkeypatch.setattr("engine.snapshot._room_for", no_memory)
    with pytest.raises(MemoryError):
        session.restore(blob)
    assert session.snapshot() == before


def refused(session: Session, data: bytes, words: str) -> None:
    session.prefill(ids(0, 9))
    before = session.snapshot()
    with pytest.raises(SnapshotError, match=words):
        session.restore(data)
    assert session.snapshot() == before


def resealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def test_every_kind_of_damage_is_named_and_changes_nothing(tiny: Model, blob: bytes) -> None:
    def fresh() -> Session:
        return tiny.session(context=512)

    refused(fresh(), b"", "not a saved Haloband session")
    refused(fresh(), b"GGUF" * 40, "not a saved Haloband session")
    refused(fresh(), blob[:-1], "damaged")
    refused(fresh(), blob[:100] + bytes([blob[100] ^ 1]) + blob[101:], "damaged")
    for version in (1, 99):
        refused(fresh(), resealed(blob[:8] + struct.pack("<I", version) + blob[12:-32]), f"version {version}")
    refused(fresh(), resealed(blob[:12] + struct.pack("<I", 1 << 31) + blob[16:-32]), "cut short")
    refused(fresh(), resealed(blob[:-33]), "bytes of rows")
    refused(tiny.session(context=100), blob, "130 tokens")


def changed_header(blob: bytes, **changes: object) -> bytes:
    length = struct.unpack_from("<I", blob, 12)[0]
    header = json.loads(blob[16 : 16 + length]) | changes
    text = json.dumps(header).encode()
    return resealed(blob[:12] + struct.pack("<I", len(text)) + text + blob[16 + length : -32])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fingerprint": "x"}, "another model"),
        ({"mode": "dense"}, "made in dense mode, this session is in sparse mode"),
        ({"mode": "exact"}, "made in exact mode"),
        ({"rounding": "e4m3"}, "stores rows as e4m3"),
        ({"shapes": []}, "shapes"),
        ({"shapes": None}, "shapes"),
        ({"tokens": [1, 2]}, "header"),
        ({"tokens": [1, 2], "points": [[2, False]]}, "shapes"),
        ({"tokens": "abc"}, "header"),
        ({"tokens": [-1]}, "header"),
        ({"tokens": 5}, "header"),
        ({"points": []}, "header"),
        ({"points": None}, "header"),
        ({"points": [[129, False]]}, "header"),
        ({"points": [[130, 0]]}, "header"),
        ({"points": [[130]]}, "header"),
        ({"points": [[-1, False], [130, False]]}, "header"),
        ({"points": [[130, False], [130, False]]}, "header"),
        ({"points": [[True, False], [130, False]]}, "header"),
        ({"points": [[at, False] for at in range(100, 131)]}, "header"),
        ({"points": [[100, False], [130, False]]}, "shapes"),
        ({"points": [[130, True]]}, "shapes"),
        ({"tokens": [9999] * 130}, "vocabulary"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    tiny: Model, blob: bytes, changes: dict[str, object], words: str
) -> None:
    refused(tiny.session(context=512), changed_header(blob, **changes), words)


@given(st.integers(0, 1 << 20), st.integers(1, 255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_flipped_byte_is_refused(blob: bytes, at: int, flip: int) -> None:
    at %= len(blob)
    with pytest.raises(SnapshotError):
        read_header(io.BytesIO(blob[:at] + bytes([blob[at] ^ flip]) + blob[at + 1 :]))


@given(st.binary(max_size=400))
@settings(max_examples=100)
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SnapshotError):
        read_header(io.BytesIO(data))


def test_another_arithmetic_is_another_model(tiny_path: Path, blob: bytes) -> None:
    other = engine.load(tiny_path, dtype="bfloat16")
    with pytest.raises(SnapshotError, match="another model"):
        other.session(context=512).restore(blob)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "deep" / "session.hbsnap"

    def write(content: bytes) -> None:
        with replaced_file(place) as file:
            file.write(content)

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write(b"old")
    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write(b"new")
    assert place.read_bytes() == b"old"
    assert [entry.name for entry in place.parent.iterdir()] == ["session.hbsnap"]
