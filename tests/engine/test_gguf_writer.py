"""The GGUF writer: the public `gguf` reader and our own read back what it writes, value for value, byte for byte."""

import io
from pathlib import Path

import gguf
import numpy as np
import pytest

import resources
from engine.gguf.cursor import ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.reader import GgufFile
from engine.gguf.writer import GgufWriter, NewTensor, file_bytes
from tests.support.model_files import Keys, write_gguf

KEYS: Keys = {
    "general.architecture": (ValueType.STRING, "deepseek4"),
    "a.u8": (ValueType.UINT8, 200),
    "a.i8": (ValueType.INT8, -3),
    "a.u16": (ValueType.UINT16, 65_535),
    "a.i16": (ValueType.INT16, -5),
    "a.u32": (ValueType.UINT32, 1 << 31),
    "a.i32": (ValueType.INT32, -7),
    "a.u64": (ValueType.UINT64, (1 << 64) - 1),
    "a.i64": (ValueType.INT64, -(1 << 63)),
    "a.f32": (ValueType.FLOAT32, 0.1),
    "a.f64": (ValueType.FLOAT64, 0.1),
    "a.yes": (ValueType.BOOL, True),
    "a.text": (ValueType.STRING, "é\n\0日本"),
    "a.texts": (ValueType.ARRAY, ["", "é", "abc"]),
    "a.ints": (ValueType.ARRAY, np.array([1, -2], np.int32)),
    "a.floats": (ValueType.ARRAY, np.array([1.5, 2.5], np.float64)),
    "a.bools": (ValueType.ARRAY, np.array([True, False])),
    "a.nested": (ValueType.ARRAY, [np.array([1], np.uint8), np.array([], np.uint8)]),
    "a.none": (ValueType.ARRAY, []),
}


def same(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and (left == right or left == pytest.approx(right, rel=1e-7))


def test_every_kind_of_value_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "keys.gguf"
    write_gguf(path, KEYS, {"t": ((1,), 0, bytes(4))})
    with GgufFile.open(path) as file:
        found = {key: (kind, value) for key, kind, value in file.typed_items()}
    assert list(found) == list(KEYS)
    for key, (kind, value) in KEYS.items():
        assert found[key][0] is kind and same(found[key][1], value), key


def test_the_public_reader_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "public.gguf"
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    blocks = np.arange(34 * 3, dtype=np.uint8).reshape(3, 34)
    tensors = {"x": (values.shape, 0, values.tobytes()), "q": ((3, 32), 8, blocks.tobytes()), "y": ((1,), 0, bytes(4))}
    write_gguf(path, {key: entry for key, entry in KEYS.items() if key != "a.nested"}, tensors)
    reader = gguf.GGUFReader(path)
    for key, (_, value) in KEYS.items():
        if key not in ("a.nested", "a.none"):
            found = reader.fields[key].contents()
            assert found == pytest.approx(value) if not isinstance(value, (str, list)) else found == value
    x, q, _ = reader.tensors
    assert (x.name, list(x.shape), x.tensor_type) == ("x", [4, 3, 2], gguf.GGMLQuantizationType.F32)
    assert np.array_equal(x.data, values) and np.array_equal(q.data, blocks)


@pytest.mark.parametrize("alignment", [8, 32, 256])
def test_offsets_and_length_follow_the_alignment(tmp_path: Path, alignment: int) -> None:
    keys: Keys = {"general.alignment": (ValueType.UINT32, alignment)}
    path = tmp_path / "aligned.gguf"
    tensors = {"a": ((3,), 1, b"abcdef"), "b": ((1,), 0, b"wxyz")}
    write_gguf(path, keys, tensors)
    with GgufFile.open(path) as file:
        assert [bytes(file.data(info)) for info in file.tensors.values()] == [b"abcdef", b"wxyz"]
        assert all(info.offset % alignment == 0 for info in file.tensors.values())
    entries = [NewTensor(name, shape, type_id, len(raw)) for name, (shape, type_id, raw) in tensors.items()]
    assert file_bytes(Metadata("m", keys), entries) == path.stat().st_size


def test_the_embedded_model_rewritten_is_the_same_file(tmp_path: Path) -> None:
    with GgufFile.open(resources.embedded_model()) as file:
        keys = {key: (kind, value) for key, kind, value in file.typed_items()}
        tensors = {info.name: (info.shape, info.type_id, bytes(file.data(info))) for info in file.tensors.values()}
    copy = tmp_path / "copy.gguf"
    write_gguf(copy, keys, tensors)
    assert copy.read_bytes() == resources.embedded_model().read_bytes()


def test_pieces_may_be_cut_anywhere_but_must_add_up() -> None:
    entries = [NewTensor("a", (4,), 24, 4), NewTensor("b", (2,), 24, 2)]
    whole, pieces = io.BytesIO(), io.BytesIO()
    writer = GgufWriter(whole, Metadata("m", {}), entries)
    writer.write(b"abcd")
    writer.write(b"ef")
    writer.finish()
    writer = GgufWriter(pieces, Metadata("m", {}), entries)
    for piece in (b"a", b"bcd", b"e", b"f"):
        writer.write(piece)
    assert whole.getvalue() == pieces.getvalue()
    with pytest.raises(ValueError, match="room for 0"):
        writer.write(b"g")
    short = GgufWriter(io.BytesIO(), Metadata("m", {}), entries)
    short.write(b"abc")
    with pytest.raises(ValueError, match="room for 1"):
        short.write(b"de")
    with pytest.raises(ValueError, match="tensor a lacks 1 bytes"):
        short.finish()
