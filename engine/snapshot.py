"""A session's state as a file: the format, its writer, and a reader that believes nothing.

Layout, little endian: magic "HBSNAP\\0\\0" (8 bytes), version u32, header length u32, header (JSON, UTF-8), tensor
bytes in header order, SHA-256 (32 bytes) of everything before it. The header names the model's fingerprint, the
session's mode, the rounding of rows, the token ids, each tensor's shape, and the points: the positions that the session
can return to, the last of them where it stands. Only rows in use are stored, once for all points; each point adds the
tensors that later tokens overwrite, and the logits where they are known. See docs/memory.md.

Reading and writing go piece by piece: besides the token ids, neither takes memory that grows with the state.
"""

import contextlib
import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import torch

from engine.errors import SnapshotError
from engine.state import Checkpoint, LayerState, SessionState

MAGIC = b"HBSNAP\0\0"
VERSION = 2
_PREFIX = struct.Struct("<8sII")
_DIGEST_BYTES = 32
_MAX_HEADER_BYTES = 1 << 28  # a million token ids in decimal is 8 MiB
_MAX_POINTS = 16  # each takes memory
_PIECE_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Origin:
    """What a state depends on besides its tokens: the model, the session's mode, the stored form of rows."""

    fingerprint: str
    mode: str
    rounding: str


@dataclass(frozen=True, slots=True)
class SnapshotHeader:
    """What a snapshot says of itself. `tokens` are the ids the state has consumed, in order; `points` are positions,
    ascending, each with whether the logits after it are stored."""

    origin: Origin
    tokens: tuple[int, ...]
    points: tuple[tuple[int, bool], ...]


def write_snapshot(
    file: BinaryIO, state: SessionState, tokens: Sequence[int], points: Sequence[Checkpoint], origin: Origin
) -> None:
    """Write `state` as it was at the last of `points`, whose position must be len(tokens)."""
    if not points or points[-1].position != len(tokens):
        raise ValueError(f"{len(tokens)} tokens for a state at {[point.position for point in points]}")
    tensors = _stored_tensors(state, points)
    header = {
        "fingerprint": origin.fingerprint,
        "mode": origin.mode,
        "rounding": origin.rounding,
        "tokens": list(tokens),
        "points": [[point.position, point.logits is not None] for point in points],
        "shapes": [list(tensor.shape) for tensor in tensors],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    digest = hashlib.sha256()
    for part in (_PREFIX.pack(MAGIC, VERSION, len(text)), text):
        digest.update(part)
        file.write(part)
    for tensor in tensors:
        for piece in _pieces(tensor):
            content = piece.cpu().numpy().data
            digest.update(content)
            file.write(content)
    file.write(digest.digest())


def read_header(file: BinaryIO, source: str = "the snapshot") -> SnapshotHeader:
    """Check a snapshot as a whole and return its header. Raises SnapshotError naming `source` and what is wrong."""
    return _parse(file, source)[0]


def checked_snapshot(
    file: BinaryIO, state: SessionState, origin: Origin, source: str = "the snapshot"
) -> tuple[list[int], list[Checkpoint]]:
    """Check a snapshot that is to replace `state`, which stays as it is; its token ids, and room for its points.

    Leaves `file` where `read_state` goes on. Raises SnapshotError naming `source` and what is wrong.
    """
    header, shapes, body_bytes = _parse(file, source)
    _check_origin(header.origin, origin, source)
    position = len(header.tokens)
    if max(header.tokens, default=0) >= state.config.vocab:
        raise SnapshotError(f"{source} holds token ids outside the vocabulary of {state.config.vocab}")
    if position > state.context:
        raise SnapshotError(f"{source} holds {position} tokens, this session's context {state.context}")
    points = [_room_for(state, at, has_logits) for at, has_logits in header.points]
    targets = _stored_tensors(state, points)
    if shapes != [list(tensor.shape) for tensor in targets]:
        raise SnapshotError(f"{source} does not have this model's shapes")
    if body_bytes != sum(tensor.nbytes for tensor in targets):
        raise SnapshotError(f"{source} has {body_bytes} bytes of rows where its header promises another number")
    return list(header.tokens), points


def read_state(file: BinaryIO, state: SessionState, points: Sequence[Checkpoint]) -> None:
    """Fill `points`, and `state` up to the last of them, from a snapshot that `checked_snapshot` has just let pass.

    After an OSError, where the file changes or fails meanwhile, the state is worth nothing and must be reset.
    """
    for tensor in _stored_tensors(state, points):
        _fill(tensor, file)
    state.restore_volatile(points[-1])


@contextlib.contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """A file written beside `path` and then renamed: readers see the old file or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=path.name[:64], suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _stored_tensors(state: SessionState, points: Sequence[Checkpoint]) -> list[torch.Tensor]:
    """All that is stored, in a fixed order: what each point holds, then views of the rows in use at the last."""
    found: list[torch.Tensor] = []
    for point in points:
        found += [*point.tensors, *([] if point.logits is None else [point.logits])]
    for layer in state.layers:
        count = _rows_at(layer, points[-1].position)
        found += [layer.compressed[:count], layer.index[:count]]
    return found


def _rows_at(layer: LayerState, position: int) -> int:
    return position // layer.ratio if layer.ratio else 0


def _room_for(state: SessionState, position: int, has_logits: bool) -> Checkpoint:
    """A checkpoint whose values are still to be read."""
    tensors = tuple(torch.empty_like(tensor) for layer in state.layers for tensor in layer.volatile())
    return Checkpoint(position, tensors, torch.empty(state.config.vocab, device=state.device) if has_logits else None)


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """A contiguous tensor's bytes as views, uint8, of a few MiB each."""
    flat = tensor.view(-1).view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)
    return (flat[at : at + _PIECE_BYTES] for at in range(0, flat.numel(), _PIECE_BYTES))


def _fill(tensor: torch.Tensor, file: BinaryIO) -> None:
    for piece in _pieces(tensor):
        content = file.read(piece.numel())
        if len(content) != piece.numel():
            raise OSError("the file became shorter while it was read")
        piece.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))


def _check_origin(found: Origin, own: Origin, source: str) -> None:
    if found.fingerprint != own.fingerprint:
        raise SnapshotError(f"{source} belongs to another model")
    if found.mode != own.mode:
        raise SnapshotError(f"{source} was made in {found.mode} mode, this session is in {own.mode} mode")
    if found.rounding != own.rounding:
        raise SnapshotError(f"{source} stores rows as {found.rounding}, this session as {own.rounding}")


def _parse(file: BinaryIO, source: str) -> tuple[SnapshotHeader, object, int]:
    """The header, the shapes it claims and the bytes of the tensors, where `file` then stands; all of it is checked."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    start = file.read(_PREFIX.size)
    if size < _PREFIX.size + _DIGEST_BYTES or start[: len(MAGIC)] != MAGIC:
        raise SnapshotError(f"{source} is not a saved Haloband session")
    _, version, length = _PREFIX.unpack(start)
    if version != VERSION:
        raise SnapshotError(f"{source} has format version {version}, this program reads {VERSION}")
    body_bytes = size - _PREFIX.size - length - _DIGEST_BYTES
    if length > _MAX_HEADER_BYTES or body_bytes < 0:
        raise SnapshotError(f"{source} is cut short: its header does not fit the file")
    if not _is_sealed(file, size - _DIGEST_BYTES):
        raise SnapshotError(f"{source} is damaged: its checksum does not match")
    file.seek(_PREFIX.size)
    try:
        header = json.loads(file.read(length))
        return _header(header), header["shapes"], body_bytes
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SnapshotError(f"{source} has a header that cannot be read") from None


def _is_sealed(file: BinaryIO, count: int) -> bool:
    """Whether the checksum after the first `count` bytes is theirs."""
    digest = hashlib.sha256()
    file.seek(0)
    while count:
        content = file.read(min(count, _PIECE_BYTES))
        if not content:
            return False
        digest.update(content)
        count -= len(content)
    return digest.digest() == file.read(_DIGEST_BYTES)


def _header(raw: dict[str, object]) -> SnapshotHeader:
    """The header's checked values. Raises ValueError, KeyError or TypeError for any that cannot be."""
    tokens, points = raw["tokens"], raw["points"]
    if not isinstance(tokens, list) or not all(type(token) is int and token >= 0 for token in tokens):
        raise ValueError("token ids")
    if not isinstance(points, list) or not 1 <= len(points) <= _MAX_POINTS:
        raise ValueError("points")
    found = tuple((at, has_logits) for at, has_logits in points)
    if not all(type(at) is int and type(has_logits) is bool for at, has_logits in found):
        raise ValueError("points")
    positions = [at for at, _ in found]
    if positions[0] < 0 or positions[-1] != len(tokens) or positions != sorted(set(positions)):
        raise ValueError("points")
    origin = Origin(*(str(raw[key]) for key in ("fingerprint", "mode", "rounding")))
    return SnapshotHeader(origin, tuple(tokens), found)
