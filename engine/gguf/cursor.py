"""A bounds-checked cursor over the header of a GGUF file: the only place that turns its bytes into Python values.

Used by engine.gguf.reader alone, on whichever thread opens the file. Nothing is allocated on the word of the file: each
count and length is first held against the bytes that are left and against a fixed limit. Every error is a
ModelFileError of one sentence with the file, the field and the byte offset.
"""

import math
import struct
from enum import IntEnum
from typing import Never

import numpy as np
import numpy.typing as npt

from engine.errors import ModelFileError

MAX_HEADER_BYTES = 64 * 1024 * 1024  # the real model's header is about 5 MiB
MAX_ARRAY_DEPTH = 4
MAX_ARRAY_ITEMS = 1 << 24


class ValueType(IntEnum):
    """Metadata value types of the GGUF format."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


NUMBER_DTYPES: dict[ValueType, np.dtype[np.generic]] = {
    ValueType.UINT8: np.dtype("u1"),
    ValueType.INT8: np.dtype("i1"),
    ValueType.UINT16: np.dtype("<u2"),
    ValueType.INT16: np.dtype("<i2"),
    ValueType.UINT32: np.dtype("<u4"),
    ValueType.INT32: np.dtype("<i4"),
    ValueType.FLOAT32: np.dtype("<f4"),
    ValueType.BOOL: np.dtype("u1"),
    ValueType.UINT64: np.dtype("<u8"),
    ValueType.INT64: np.dtype("<i8"),
    ValueType.FLOAT64: np.dtype("<f8"),
}
# The fewest bytes one array element can take: an empty string is a length, an empty array a type and a count.
_LEAST_BYTES = {ValueType.STRING: 8, ValueType.ARRAY: 12}

# Number arrays stay packed (bool arrays as dtype bool); string arrays and nested arrays are lists.
Value = int | float | bool | str | npt.NDArray[np.generic] | list["Value"]

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


class HeaderCursor:
    """Reads forward through `buffer`, which belongs to the file named `name`. `offset` is the next byte."""

    __slots__ = ("_buffer", "_limit", "_name", "offset")

    def __init__(self, buffer: memoryview, name: str) -> None:
        self._buffer = buffer
        self._name = name
        self._limit = min(len(buffer), MAX_HEADER_BYTES)
        self.offset = 0

    def fail(self, field: str, offset: int, problem: str) -> Never:
        """Raise the one-sentence error for `field` at `offset`."""
        raise ModelFileError(f"{self._name} is damaged: {field} at byte {offset:,} {problem}.")

    def take(self, count: int, field: str) -> int:
        """Step over `count` bytes that must exist; returns where they start."""
        start = self.offset
        if count > self._limit - start:
            left = len(self._buffer) - start
            if count <= left:
                self.fail(field, start, f"lies beyond the limit of {MAX_HEADER_BYTES:,} bytes for a header")
            self.fail(field, start, f"needs {count:,} bytes, but only {left:,} are left in the file")
        self.offset = start + count
        return start

    def head(self, count: int) -> bytes:
        """Up to `count` next bytes, without stepping over them."""
        return bytes(self._buffer[self.offset : self.offset + count])

    def u32(self, field: str) -> int:
        value: int = _U32.unpack_from(self._buffer, self.take(4, field))[0]
        return value

    def u64(self, field: str) -> int:
        value: int = _U64.unpack_from(self._buffer, self.take(8, field))[0]
        return value

    def count(self, field: str, limit: int, least_bytes: int) -> int:
        """An element count: at most `limit`, and `least_bytes` each must fit in what is left of the file."""
        start = self.offset
        value = self.u64(field)
        if value > limit:
            self.fail(field, start, f"is {value:,}, more than the limit of {limit:,}")
        left = len(self._buffer) - self.offset
        if value * least_bytes > left:
            self.fail(field, start, f"is {value:,}, which cannot fit in the {left:,} bytes left in the file")
        return value

    def text(self, field: str, limit: int) -> str:
        """A length-prefixed UTF-8 string of at most `limit` bytes."""
        start = self.offset
        size = self.count(f"the length of {field}", limit, 1)
        begin = self.take(size, field)
        try:
            return str(self._buffer[begin : begin + size], "utf-8")
        except UnicodeDecodeError:
            self.fail(field, start, "is not valid UTF-8")

    def value_type(self, field: str) -> ValueType:
        start = self.offset
        code = self.u32(f"the type of {field}")
        try:
            return ValueType(code)
        except ValueError:
            self.fail(f"the type of {field}", start, f"is {code}, which GGUF does not define")

    def value(self, kind: ValueType, field: str, depth: int = 0) -> Value:
        """One value of type `kind`."""
        if kind is ValueType.STRING:
            return self.text(field, MAX_HEADER_BYTES)
        if kind is ValueType.ARRAY:
            return self._array(field, depth + 1)
        start = self.offset
        number = self._numbers(kind, 1, field)[0].item()
        if isinstance(number, float) and not math.isfinite(number):
            self.fail(field, start, f"is {number}, not a finite number")
        if isinstance(number, (bool, int, float)):
            return number
        raise AssertionError(kind)

    def _numbers(self, kind: ValueType, count: int, field: str) -> npt.NDArray[np.generic]:
        dtype = NUMBER_DTYPES[kind]
        start = self.take(count * dtype.itemsize, field)
        numbers: npt.NDArray[np.generic] = np.frombuffer(self._buffer, dtype, count, start).copy()
        if kind is not ValueType.BOOL:
            return numbers
        if count and int(numbers.view(np.uint8).max()) > 1:
            self.fail(field, start, "is neither true nor false")
        return numbers.view(np.bool_)

    def _array(self, field: str, depth: int) -> Value:
        start = self.offset
        if depth > MAX_ARRAY_DEPTH:
            self.fail(field, start, f"nests arrays more than {MAX_ARRAY_DEPTH} deep")
        kind = self.value_type(f"the elements of {field}")
        least = _LEAST_BYTES.get(kind) or NUMBER_DTYPES[kind].itemsize
        count = self.count(f"the element count of {field}", MAX_ARRAY_ITEMS, least)
        if kind is ValueType.STRING:
            return self._strings(count, field)
        if kind is ValueType.ARRAY:
            return [self.value(kind, field, depth) for _ in range(count)]
        return self._numbers(kind, count, field)

    def _strings(self, count: int, field: str) -> list[Value]:
        """`count` strings. A vocabulary has a quarter of a million, so the loop keeps its state in locals."""
        buffer, limit, offset = self._buffer, self._limit, self.offset
        unpack = _U64.unpack_from
        strings: list[Value] = []
        for index in range(count):
            begin = offset + 8
            end = begin + unpack(buffer, offset)[0] if begin <= limit else limit + 1
            if end > limit:
                self.offset = offset
                self.text(f"element {index:,} of {field}", MAX_HEADER_BYTES)  # says what is wrong
            try:
                strings.append(str(buffer[begin:end], "utf-8"))
            except UnicodeDecodeError:
                self.fail(f"element {index:,} of {field}", offset, "is not valid UTF-8")
            offset = end
        self.offset = offset
        return strings
