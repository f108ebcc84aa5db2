"""Builds GGUF files byte by byte, sound or damaged, so that the reader's tests do not depend on another writer."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
_FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def scalar(kind: int, value: object) -> bytes:
    if kind == STR:
        assert isinstance(value, (str, bytes))
        return text(value)
    return struct.pack("<" + _FORMATS[kind], value)


def array(kind: int, values: Sequence[object]) -> bytes:
    return struct.pack("<IQ", kind, len(values)) + b"".join(scalar(kind, value) for value in values)


def nested(depth: int) -> bytes:
    """An empty byte array inside `depth` - 1 one-element arrays."""
    return struct.pack("<IQ", ARR, 1) * (depth - 1) + struct.pack("<IQ", U8, 0)


@dataclass
class Tensor:
    name: str | bytes
    ne: tuple[int, ...]
    type_id: int
    offset: int
    dimensions: int | None = None

    def pack(self) -> bytes:
        count = len(self.ne) if self.dimensions is None else self.dimensions
        sizes = struct.pack(f"<{len(self.ne)}Q", *self.ne)
        return text(self.name) + struct.pack("<I", count) + sizes + struct.pack("<IQ", self.type_id, self.offset)


@dataclass
class Gguf:
    """`keys` are (name, type, packed value). The counts default to the truth and can be made to lie."""

    keys: list[tuple[str | bytes, int, bytes]] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    data: bytes = b""
    version: int = 3
    magic: bytes = b"GGUF"
    tensor_count: int | None = None
    key_count: int | None = None
    alignment: int = 32

    def header(self) -> bytes:
        tensor_count = len(self.tensors) if self.tensor_count is None else self.tensor_count
        key_count = len(self.keys) if self.key_count is None else self.key_count
        out = self.magic + struct.pack("<IQQ", self.version, tensor_count, key_count)
        out += b"".join(text(name) + struct.pack("<I", kind) + value for name, kind, value in self.keys)
        return out + b"".join(tensor.pack() for tensor in self.tensors)

    def pack(self) -> bytes:
        header = self.header()
        return header + bytes(-len(header) % self.alignment) + self.data


def small_file() -> Gguf:
    """One of everything: each value type, arrays, and three tensors whose last byte is the file's last."""
    return Gguf(
        keys=[
            ("general.architecture", STR, text("deepseek4")),
            ("a.u8", U8, scalar(U8, 200)),
            ("a.i64", I64, scalar(I64, -5)),
            ("a.f32", F32, scalar(F32, 0.5)),
            ("a.yes", BOOL, scalar(BOOL, True)),
            ("a.ints", ARR, array(I32, [1, -2, 3])),
            ("a.floats", ARR, array(F32, [1.5, 2.5])),
            ("a.bools", ARR, array(BOOL, [True, False])),
            ("a.texts", ARR, array(STR, ["", "é", "abc"])),
            ("a.nested", ARR, nested(3)),
        ],
        tensors=[
            Tensor("x", (4, 2), 0, 0),
            Tensor("q", (32, 1, 2), 8, 32),
            Tensor("h", (3,), 1, 128),
        ],
        data=bytes(range(128)) + bytes(range(6)),
    )
