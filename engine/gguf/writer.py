"""Writes GGUF version 3 files: metadata with the types it was read with, a tensor table, then each tensor's bytes.

engine.convert streams whole models through it, tests make small files with it. Pure Python; one thread.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from engine.gguf.cursor import NUMBER_DTYPES, Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.reader import DEFAULT_ALIGNMENT, MAGIC
from engine.tensor_source import Buffer

_VERSION = 3
_TYPE_OF_DTYPE = {dtype: kind for kind, dtype in NUMBER_DTYPES.items() if kind is not ValueType.BOOL}


@dataclass(frozen=True, slots=True)
class NewTensor:
    """A tensor to be written: `shape` in torch order, `nbytes` of blocks of GGUF type `type_id`."""

    name: str
    shape: tuple[int, ...]
    type_id: int
    nbytes: int


class GgufWriter:
    """Writes the header at once; then `write` takes the tensors' bytes in the order of `tensors`, in any pieces."""

    def __init__(self, out: BinaryIO, metadata: Metadata, tensors: Sequence[NewTensor]) -> None:
        self._out = out
        self._alignment = metadata.get_int("general.alignment", DEFAULT_ALIGNMENT)
        self._tensors = list(tensors)
        self._current = 0
        self._left = tensors[0].nbytes if tensors else 0
        header = _header(metadata, tensors, self._alignment)
        out.write(header + bytes(-len(header) % self._alignment))

    def write(self, data: Buffer) -> None:
        """The next bytes of the current tensor. Raises ValueError when they are more than it has room for."""
        size = memoryview(data).nbytes
        if size > self._left or self._current == len(self._tensors):
            raise ValueError(f"{size} bytes, but tensor {self._current} has room for {self._left}")
        self._out.write(data)
        self._left -= size
        if self._left == 0:
            self._out.write(bytes(-self._tensors[self._current].nbytes % self._alignment))
            self._current += 1
            self._left = self._tensors[self._current].nbytes if self._current < len(self._tensors) else 0

    def finish(self) -> None:
        """Raises ValueError when tensors are still to come."""
        if self._current < len(self._tensors):
            raise ValueError(f"tensor {self._tensors[self._current].name} lacks {self._left} bytes")


def file_bytes(metadata: Metadata, tensors: Sequence[NewTensor]) -> int:
    """How long the whole file will be."""
    alignment = metadata.get_int("general.alignment", DEFAULT_ALIGNMENT)
    sizes = [len(_header(metadata, tensors, alignment)), *(tensor.nbytes for tensor in tensors)]
    return sum(size + -size % alignment for size in sizes)


def _header(metadata: Metadata, tensors: Sequence[NewTensor], alignment: int) -> bytes:
    keys = list(metadata.typed_items())
    parts = [MAGIC, struct.pack("<IQQ", _VERSION, len(tensors), len(keys))]
    for key, kind, value in keys:
        parts += [_text(key), struct.pack("<I", kind), _value(kind, value)]
    offset = 0
    for tensor in tensors:
        sizes = reversed(tensor.shape)  # GGUF counts the fastest axis first
        parts += [_text(tensor.name), struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *sizes)]
        parts.append(struct.pack("<IQ", tensor.type_id, offset))
        offset += tensor.nbytes + -tensor.nbytes % alignment
    return b"".join(parts)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(kind: ValueType, value: Value) -> bytes:
    if kind is ValueType.STRING:
        assert isinstance(value, str)
        return _text(value)
    if kind is ValueType.ARRAY:
        assert isinstance(value, (list, np.ndarray))
        return _array(value)
    return np.array(value, NUMBER_DTYPES[kind]).tobytes()


def _array(values: "list[Value] | np.ndarray") -> bytes:
    """An element type, a count and the elements. A list that is empty has lost its element type: texts are as good."""
    if isinstance(values, np.ndarray):
        kind = ValueType.BOOL if values.dtype == np.bool_ else _TYPE_OF_DTYPE[values.dtype]
        return struct.pack("<IQ", kind, len(values)) + values.tobytes()
    kind = ValueType.ARRAY if values and not isinstance(values[0], str) else ValueType.STRING
    return struct.pack("<IQ", kind, len(values)) + b"".join(_value(kind, value) for value in values)
