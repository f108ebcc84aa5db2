"""A strict reader of one safetensors file: the header's table of tensors, and zero-copy bytes of each.

engine.hf.source opens a model's files with it. Everything the header claims is checked against the file before
it is used; an open file does not change, so any thread may read from it.
"""

import contextlib
import math
import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from engine.errors import ModelFileError
from engine.mapped_file import map_file
from engine.strict_json import parse_object

MAX_HEADER_BYTES = 100_000_000  # the limit of the format
MAX_DIMENSIONS = 8
ITEM_BYTES: Mapping[str, int] = MappingProxyType(
    {
        **{"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1},
        **{"U16": 2, "I16": 2, "F16": 2, "BF16": 2},
        **{"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8},
    }
)
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class SafeTensor:
    """One entry: its shape in torch order, the format's name of its type, and where its bytes lie in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


class SafetensorsFile:
    """An open file. Views from `data` keep the mapping alive after `close`."""

    def __init__(self, path: Path, mapping: mmap.mmap) -> None:
        self.path, self.file_bytes = path, len(mapping)
        self._mapping, self._view = mapping, memoryview(mapping)
        start, header = self._read_header()
        entries = [self._entry(name, value, start) for name, value in header.items() if name != "__metadata__"]
        self._check_room(entries, start)
        self.tensors: Mapping[str, SafeTensor] = MappingProxyType({entry.name: entry for entry in entries})

    @classmethod
    def open(cls, path: Path) -> "SafetensorsFile":
        """Map and check a file. Raises ModelFileError for anything that is not a sound safetensors file."""
        return cls(path, map_file(path, "safetensors file"))

    def data(self, tensor: SafeTensor) -> memoryview:
        """The stored bytes of a tensor: read-only, no copy."""
        return self._view[tensor.offset : tensor.offset + tensor.nbytes]

    def close(self) -> None:
        """Let go of the file. Views handed out stay readable; the mapping goes with the last of them."""
        self._view.release()
        with contextlib.suppress(BufferError):  # a view is still in use: the mapping is released together with it
            self._mapping.close()

    def _read_header(self) -> tuple[int, Mapping[str, object]]:
        """Where the data begins, and the parsed header."""
        length = _LENGTH.unpack_from(self._view)[0] if self.file_bytes >= _LENGTH.size else 0
        start = _LENGTH.size + length
        if not 0 < length <= MAX_HEADER_BYTES or start > self.file_bytes:
            raise ModelFileError(
                f"{self.path} is not a whole safetensors file: it has {self.file_bytes:,} bytes, but gives its header "
                f"{length:,}."
            )
        return start, parse_object(bytes(self._view[_LENGTH.size : start]), f"{self.path}'s header")

    def _entry(self, name: str, value: object, start: int) -> SafeTensor:
        entry = value if isinstance(value, dict) else {}
        dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
        if not isinstance(dtype, str) or not _is_counts(shape, MAX_DIMENSIONS) or not _is_counts(offsets, 2):
            raise self._damage(name, "is not described by a type, a shape and two offsets")
        if dtype not in ITEM_BYTES:
            raise self._damage(name, f"is of type {dtype!r}, which is not known")
        assert isinstance(shape, list) and isinstance(offsets, list)
        size = math.prod(shape) * ITEM_BYTES[dtype]
        if len(offsets) != 2 or offsets[1] - offsets[0] != size:
            raise self._damage(name, f"needs {size:,} bytes for its shape {shape}, but its offsets are {offsets}")
        if start + offsets[1] > self.file_bytes:
            raise self._damage(name, f"ends at byte {start + offsets[1]:,}, but the file has {self.file_bytes:,} bytes")
        return SafeTensor(name, dtype, tuple(shape), start + offsets[0], size)

    def _check_room(self, entries: Sequence[SafeTensor], start: int) -> None:
        """The format lays tensors end to end, without holes, from the header to the end of the file."""
        end = start
        for entry in sorted(entries, key=lambda entry: (entry.offset, entry.nbytes)):
            if entry.offset != end:
                raise self._damage(entry.name, "overlaps another tensor" if entry.offset < end else "follows a hole")
            end += entry.nbytes
        if end != self.file_bytes:
            raise ModelFileError(f"{self.path} is damaged: {self.file_bytes - end:,} bytes at its end are no tensor's.")

    def _damage(self, name: str, problem: str) -> ModelFileError:
        return ModelFileError(f"{self.path} is damaged: tensor {name!r} {problem}.")


def _is_counts(value: object, most: int) -> bool:
    """Whether a JSON value is a list of at most `most` whole numbers that can be sizes or offsets."""
    if not isinstance(value, list) or len(value) > most:
        return False
    return all(type(item) is int and 0 <= item < 1 << 48 for item in value)
