"""A strict reader for GGUF version 2 and 3 files that nobody vouches for: metadata, tensor table, zero-copy data.

The model loader and `haloband inspect` call it; an open file may be read from several threads, for nothing changes
after `open`. Every count, length, offset and dimension is checked against the file before it is used.
"""

import contextlib
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from engine.errors import ModelFileError
from engine.gguf.cursor import HeaderCursor, Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.types import AMBIGUOUS_TYPES, BLOCK_TYPES, type_name
from engine.mapped_file import map_file

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 16
MAX_NAME_BYTES = 1 << 16
MAX_DIMENSIONS = 4
MAX_ALIGNMENT = 1 << 16
DEFAULT_ALIGNMENT = 32
_LEAST_KEY_BYTES = 8 + 4 + 1  # name length, type, one byte of value
_LEAST_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8  # name length, dimension count, one dimension, type, offset


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where a tensor lies. `shape` is in torch order (rows first), `offset` counts from the start of the file.

    For a type id with several meanings `nbytes` is the room up to the next tensor, padding included.
    """

    name: str
    shape: tuple[int, ...]
    type_id: int
    type_name: str
    offset: int
    nbytes: int

    @property
    def elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count


class GgufFile(Metadata):
    """An open GGUF file. Close it, or use it as a context manager; views from `data` keep the mapping alive."""

    def __init__(self, path: Path, mapping: mmap.mmap) -> None:
        self.path = path
        self.file_bytes = len(mapping)
        self._mapping = mapping
        self._view = memoryview(mapping)
        cursor = HeaderCursor(self._view, str(path))
        self.version, tensor_count, key_count = _read_preamble(cursor, path)
        super().__init__(str(path), _read_metadata(cursor, key_count))
        self.alignment = self._read_alignment()
        tensors = _read_tensor_table(cursor, tensor_count)
        self.data_offset = -(-cursor.offset // self.alignment) * self.alignment
        self.tensors: Mapping[str, TensorInfo] = MappingProxyType(self._place(cursor, tensors))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Map and check a file. Raises ModelFileError for anything that is not a sound GGUF file."""
        place = Path(path)
        return cls(place, map_file(place, "GGUF model file"))

    def data(self, info: TensorInfo) -> memoryview:
        """The stored bytes of a tensor: read-only, no copy."""
        return self._view[info.offset : info.offset + info.nbytes]

    def close(self) -> None:
        """Let go of the file. Views handed out by `data` stay readable; the mapping goes with the last of them."""
        self._view.release()
        with contextlib.suppress(BufferError):  # a view is still in use: the mapping is released together with it
            self._mapping.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_alignment(self) -> int:
        alignment = self.get_int("general.alignment", DEFAULT_ALIGNMENT)
        if not 0 < alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
            raise ModelFileError(
                f"{self.path} is damaged: general.alignment is {alignment:,}, "
                f"but must be a power of two up to {MAX_ALIGNMENT:,}."
            )
        return alignment

    def _place(self, cursor: HeaderCursor, tensors: list[TensorInfo]) -> dict[str, TensorInfo]:
        """Turn relative into absolute offsets; refuse tensors that are misaligned, overlap, or leave the file."""
        placed: dict[str, TensorInfo] = {}
        in_file_order = sorted(tensors, key=lambda info: info.offset)
        ends = [info.offset for info in in_file_order[1:]] + [self.file_bytes - self.data_offset]
        for info, room_end in zip(in_file_order, ends, strict=bool(tensors)):  # a file may hold no tensor
            field, offset = f"tensor {info.name!r}", info.offset + self.data_offset
            if info.offset % self.alignment:
                cursor.fail(field, offset, f"is not aligned to {self.alignment} bytes")
            room = room_end - info.offset
            nbytes = info.nbytes if info.type_id in BLOCK_TYPES else room
            if offset + max(nbytes, 1) > self.file_bytes:
                end = f"{offset + nbytes:,}"
                cursor.fail(field, offset, f"ends at byte {end}, but the file has only {self.file_bytes:,} bytes")
            if nbytes > room or room <= 0:
                cursor.fail(field, offset, "overlaps another tensor")
            placed[info.name] = replace(info, offset=offset, nbytes=nbytes)
        return {info.name: placed[info.name] for info in tensors}


def _read_preamble(cursor: HeaderCursor, path: Path) -> tuple[int, int, int]:
    """Magic, version and the two counts: (version, tensors, keys)."""
    magic = cursor.head(len(MAGIC))
    if magic != MAGIC[: len(magic)]:
        raise ModelFileError(f'{path} is not a GGUF model file: it does not begin with "GGUF" at byte 0.')
    cursor.take(len(MAGIC), "the magic number")
    start = cursor.offset
    version = cursor.u32("the format version")
    if version not in VERSIONS:
        if int.from_bytes(version.to_bytes(4, "little"), "big") in VERSIONS:
            raise ModelFileError(
                f"{path} is a big-endian GGUF file (version at byte {start}); only little-endian works."
            )
        raise ModelFileError(f"{path} has GGUF version {version:,} at byte {start}; only versions 2 and 3 can be read.")
    tensor_count = cursor.count("the tensor count", MAX_TENSORS, _LEAST_TENSOR_BYTES)
    key_count = cursor.count("the metadata key count", MAX_KEYS, _LEAST_KEY_BYTES)
    return version, tensor_count, key_count


def _read_metadata(cursor: HeaderCursor, key_count: int) -> dict[str, tuple[ValueType, Value]]:
    metadata: dict[str, tuple[ValueType, Value]] = {}
    for index in range(key_count):
        start = cursor.offset
        key = cursor.text(f"the name of metadata key {index + 1:,}", MAX_NAME_BYTES)
        field = f"metadata key {key!r}"
        if not key:
            cursor.fail(f"metadata key {index + 1:,}", start, "has no name")
        if key in metadata:
            cursor.fail(field, start, "appears twice")
        kind = cursor.value_type(field)
        metadata[key] = (kind, cursor.value(kind, field))
    return metadata


def _read_tensor_table(cursor: HeaderCursor, tensor_count: int) -> list[TensorInfo]:
    """The tensor entries, offsets still relative to the data section."""
    tensors: dict[str, TensorInfo] = {}
    for index in range(tensor_count):
        start = cursor.offset
        name = cursor.text(f"the name of tensor {index + 1:,}", MAX_NAME_BYTES)
        if not name:
            cursor.fail(f"tensor {index + 1:,}", start, "has no name")
        if name in tensors:
            cursor.fail(f"tensor {name!r}", start, "appears twice")
        tensors[name] = _read_tensor_entry(cursor, name)
    return list(tensors.values())


def _read_tensor_entry(cursor: HeaderCursor, name: str) -> TensorInfo:
    field = f"tensor {name!r}"
    start = cursor.offset
    dimensions = cursor.u32(f"the dimension count of {field}")
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        cursor.fail(f"the dimension count of {field}", start, f"is {dimensions:,}, not 1 to {MAX_DIMENSIONS}")
    start = cursor.offset
    sizes = [cursor.u64(f"dimension {axis} of {field}") for axis in range(dimensions)]
    elements = 1
    for axis, size in enumerate(sizes):
        elements *= size
        if not 0 < elements < 1 << 63:
            cursor.fail(f"dimension {axis} of {field}", start + 8 * axis, f"is {size:,}, which gives no sound size")
    start = cursor.offset
    type_id = cursor.u32(f"the type of {field}")
    nbytes = 0
    if block_type := BLOCK_TYPES.get(type_id):
        try:
            nbytes = block_type.row_bytes(sizes[0]) * (elements // sizes[0])
        except ValueError as error:
            cursor.fail(f"the type of {field}", start, f"does not fit: {error}")
    elif type_id not in AMBIGUOUS_TYPES:
        cursor.fail(f"the type of {field}", start, f"is {type_id:,}, which is not a known number format")
    offset = cursor.u64(f"the offset of {field}")
    return TensorInfo(name, tuple(reversed(sizes)), type_id, type_name(type_id), offset, nbytes)
