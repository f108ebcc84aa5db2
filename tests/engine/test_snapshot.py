"""Saved sessions: exact wherever they are cut, refused whenever anything about them is wrong."""

import hashlib
import json
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.errors import SnapshotError
from engine.loading import Model
from engine.session import Session
from engine.snapshot import read_header, save_file
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import oracle_case

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
        ({"tokens": [1, 2]}, "shapes"),
        ({"tokens": "abc"}, "header"),
        ({"tokens": [-1]}, "header"),
        ({"tokens": 5}, "header"),
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
        read_header(blob[:at] + bytes([blob[at] ^ flip]) + blob[at + 1 :])


@given(st.binary(max_size=400))
@settings(max_examples=100)
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SnapshotError):
        read_header(data)


def test_another_arithmetic_is_another_model(tiny_path: Path, blob: bytes) -> None:
    other = engine.load(tiny_path, dtype="bfloat16")
    with pytest.raises(SnapshotError, match="another model"):
        other.session(context=512).restore(blob)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "deep" / "session.hbsnap"
    save_file(place, b"old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        save_file(place, b"new")
    assert place.read_bytes() == b"old"
    assert [entry.name for entry in place.parent.iterdir()] == ["session.hbsnap"]
