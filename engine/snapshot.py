"""A session's state as bytes: the format, its writer, and a reader that believes nothing.

Layout, little endian: magic "HBSNAP\\0\\0" (8 bytes), version u32, header length u32, header (JSON, UTF-8), tensor
bytes in header order, SHA-256 (32 bytes) of everything before it. The header names the model's fingerprint, the
session's mode, the rounding of rows, the token ids and each tensor's shape; only rows in use are stored. A file is
written beside its place and renamed, so a crash leaves the old one. See docs/memory.md.
"""

import hashlib
import json
import os
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import SnapshotError
from engine.state import LayerState, SessionState

MAGIC = b"HBSNAP\0\0"
VERSION = 2
_PREFIX = struct.Struct("<8sII")
_DIGEST_BYTES = 32
_MAX_HEADER_BYTES = 1 << 28  # a million token ids in decimal is 8 MiB


@dataclass(frozen=True, slots=True)
class SnapshotHeader:
    """What a snapshot says of itself. `tokens` are the ids the state has consumed, in order."""

    fingerprint: str
    mode: str
    rounding: str
    tokens: tuple[int, ...]


def write_snapshot(state: SessionState, tokens: list[int], fingerprint: str, mode: str) -> bytes:
    """The state at its committed position, which must be len(tokens)."""
    if len(tokens) != state.position:
        raise ValueError(f"{len(tokens)} tokens for a state at position {state.position}")
    tensors = _stored_tensors(state, state.position)
    header = {
        "fingerprint": fingerprint,
        "mode": mode,
        "rounding": state.rounding.value,
        "tokens": tokens,
        "shapes": [list(tensor.shape) for tensor in tensors],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    held = [tensor.contiguous().cpu() for tensor in tensors if tensor.numel()]
    body = b"".join(tensor.view(torch.uint8).numpy().tobytes() for tensor in held)
    data = _PREFIX.pack(MAGIC, VERSION, len(text)) + text + body
    return data + hashlib.sha256(data).digest()


def read_header(data: bytes, source: str = "the snapshot") -> SnapshotHeader:
    """Check a snapshot as a whole and return its header. Raises SnapshotError naming `source` and what is wrong."""
    return _parse(data, source)[0]


def read_snapshot(
    data: bytes, state: SessionState, fingerprint: str, mode: str, source: str = "the snapshot"
) -> list[int]:
    """Load a snapshot into `state` and return its token ids. On SnapshotError the state is as it was."""
    header, shapes, body = _parse(data, source)
    if header.fingerprint != fingerprint:
        raise SnapshotError(f"{source} belongs to another model")
    if header.mode != mode:
        raise SnapshotError(f"{source} was made in {header.mode} mode, this session is in {mode} mode")
    if header.rounding != state.rounding.value:
        raise SnapshotError(f"{source} stores rows as {header.rounding}, this session as {state.rounding.value}")
    position = len(header.tokens)
    if max(header.tokens, default=0) >= state.config.vocab:
        raise SnapshotError(f"{source} holds token ids outside the vocabulary of {state.config.vocab}")
    if position > state.context:
        raise SnapshotError(f"{source} holds {position} tokens, this session's context {state.context}")
    targets = _stored_tensors(state, position)
    if shapes != [list(tensor.shape) for tensor in targets]:
        raise SnapshotError(f"{source} does not have this model's shapes")
    if len(body) != sum(tensor.nbytes for tensor in targets):
        raise SnapshotError(f"{source} has {len(body)} bytes of rows where its header promises another number")
    _fill(targets, body)
    state.position = position
    return list(header.tokens)


def save_file(path: Path, data: bytes) -> None:
    """Write beside the place and rename: readers see the old file or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _stored_tensors(state: SessionState, position: int) -> list[torch.Tensor]:
    """Views of everything a position needs, in a fixed order: overwritten tensors, then the rows in use."""
    found: list[torch.Tensor] = []
    for layer in state.layers:
        found += layer.volatile()
        count = _rows_at(layer, position)
        found += [layer.compressed[:count], layer.index[:count]]
    return found


def _rows_at(layer: LayerState, position: int) -> int:
    return position // layer.ratio if layer.ratio else 0


def _fill(targets: list[torch.Tensor], body: bytes) -> None:
    offset = 0
    for tensor in targets:
        if tensor.numel():
            raw = torch.frombuffer(bytearray(body[offset : offset + tensor.nbytes]), dtype=tensor.dtype)
            tensor.copy_(raw.view(tensor.shape))
            offset += tensor.nbytes


def _parse(data: bytes, source: str) -> tuple[SnapshotHeader, list[list[int]], bytes]:
    if len(data) < _PREFIX.size + _DIGEST_BYTES or data[:8] != MAGIC:
        raise SnapshotError(f"{source} is not a saved Haloband session")
    _, version, length = _PREFIX.unpack_from(data)
    if version != VERSION:
        raise SnapshotError(f"{source} has format version {version}, this program reads {VERSION}")
    if length > min(_MAX_HEADER_BYTES, len(data) - _PREFIX.size - _DIGEST_BYTES):
        raise SnapshotError(f"{source} is cut short: its header does not fit the file")
    if hashlib.sha256(data[:-_DIGEST_BYTES]).digest() != data[-_DIGEST_BYTES:]:
        raise SnapshotError(f"{source} is damaged: its checksum does not match")
    text = data[_PREFIX.size : _PREFIX.size + length]
    body = data[_PREFIX.size + length : -_DIGEST_BYTES]
    try:
        header = json.loads(text)
        tokens = tuple(header["tokens"])
        if not all(type(token) is int and token >= 0 for token in tokens):
            raise ValueError("token ids")
        fingerprint, mode, rounding = (str(header[key]) for key in ("fingerprint", "mode", "rounding"))
        return SnapshotHeader(fingerprint, mode, rounding, tokens), header["shapes"], body
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SnapshotError(f"{source} has a header that cannot be read") from None
