"""Files that lie: every kind of damage is one sentence with the file, the field and the offset, and costs no memory."""

import os
import re
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ModelFileError
from engine.gguf.cursor import MAX_ARRAY_DEPTH, MAX_HEADER_BYTES
from engine.gguf.reader import GgufFile
from tests.engine import gguf_bytes as gb
from tests.engine.gguf_bytes import Gguf, Tensor, small_file

SMALL = small_file().pack()


def complaint(path: Path, content: bytes) -> str:
    """What opening a file of these bytes says; checks the shape of every message."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        GgufFile.open(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and message.endswith(".") and "\n" not in message
    return message


def key(name: str | bytes, kind: int, value: bytes) -> Gguf:
    return Gguf(keys=[(name, kind, value)])


def test_truncation_at_every_byte(tmp_path: Path) -> None:
    for size in range(1, len(SMALL)):
        said = complaint(tmp_path / "t.gguf", SMALL[:size])
        assert re.search(r"byte \d", said), said


def test_a_file_cut_inside_the_padding_after_its_last_tensor_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "padded.gguf"
    path.write_bytes(SMALL + bytes(20))
    with GgufFile.open(path) as file:
        assert bytes(file.data(file.tensors["h"])) == bytes(range(6))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_changed_bytes_never_do_worse_than_a_clear_refusal(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.sampled_from([0, 1, 2, 9, 0x7F, 0x80, 0xFF, content[at] ^ 1, content[at] ^ 0x80]))
    path = tmp_path_factory.getbasetemp() / "changed.gguf"
    path.write_bytes(bytes(content))
    try:
        file = GgufFile.open(path)
    except ModelFileError as error:
        assert str(error).startswith(str(path))
        return
    with file:
        taken: list[tuple[int, int]] = []
        for info in file.tensors.values():
            assert len(file.data(info)) == info.nbytes > 0
            assert file.data_offset <= info.offset and info.offset + info.nbytes <= len(content)
            assert all(info.offset >= end or info.offset + info.nbytes <= start for start, end in taken)
            taken.append((info.offset, info.offset + info.nbytes))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_after_a_sound_start_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.gguf"
    for counts in ((1, 0), (0, 1), (2, 3)):
        path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, *counts) + rest)
        try:
            GgufFile.open(path).close()
        except ModelFileError as error:
            assert str(error).startswith(str(path))


def test_files_that_are_no_model(tmp_path: Path) -> None:
    absent = tmp_path / "absent.gguf"
    with pytest.raises(ModelFileError, match=f"{re.escape(str(absent))} does not exist"):
        GgufFile.open(absent)
    with pytest.raises(ModelFileError, match="is a folder"):
        GgufFile.open(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not an ordinary file"):
        GgufFile.open(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="cannot be opened"):
        GgufFile.open(tmp_path / ("x" * 300))
    path = tmp_path / "x"
    assert "is empty" in complaint(path, b"")
    assert "not a GGUF model file" in complaint(path, b"PK\x03\x04 something else altogether")
    assert "big-endian" in complaint(path, b"GGUF" + struct.pack(">IQQ", 3, 0, 0))
    assert "version 1" in complaint(path, Gguf(version=1).pack())
    assert "version 4" in complaint(path, Gguf(version=4).pack())


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.gguf"
    path.write_bytes(SMALL)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ModelFileError, match=r"locked\.gguf cannot be opened: Permission denied"):
        GgufFile.open(path)


def test_version_2_is_read_like_version_3(tmp_path: Path) -> None:
    path = tmp_path / "v2.gguf"
    file = small_file()
    file.version = 2
    path.write_bytes(file.pack())
    with GgufFile.open(path) as opened:
        assert opened.version == 2 and opened.get_int("a.u8") == 200


HUGE = (1 << 64) - 1


@pytest.mark.parametrize(
    ("file", "field"),
    [
        (Gguf(tensor_count=HUGE), "the tensor count at byte 8 "),
        (Gguf(tensor_count=1000), "the tensor count at byte 8 is 1,000, which cannot fit"),
        (Gguf(key_count=HUGE), "the metadata key count at byte 16 "),
        (Gguf(key_count=1000), "the metadata key count at byte 16 is 1,000, which cannot fit"),
        (key("k", gb.STR, struct.pack("<Q", HUGE)), "the length of metadata key 'k' at byte 37 "),
        (key("k", gb.STR, struct.pack("<Q", 100)), "the length of metadata key 'k' at byte 37 is 100"),
        (key("k", gb.ARR, struct.pack("<IQ", gb.U8, HUGE)), "the element count of metadata key 'k' at byte 41 "),
        (key("k", gb.ARR, struct.pack("<IQ", gb.F64, 1 << 24)), "the element count of metadata key 'k' at byte 41 "),
        (key("k", gb.ARR, struct.pack("<IQ", gb.STR, 1 << 24)), "the element count of metadata key 'k' at byte 41 "),
        (key("k", gb.ARR, struct.pack("<IQ", gb.ARR, 1 << 24)), "the element count of metadata key 'k' at byte 41 "),
        (
            key("k", gb.ARR, struct.pack("<IQQQ", gb.STR, 2, 0, HUGE)),
            "the length of element 1 of metadata key 'k' at byte 57 ",
        ),
        (Gguf(keys=[(b"", gb.U8, b"1")]), "metadata key 1 at byte 24 has no name"),
        (Gguf(keys=[(b"\xff", gb.U8, b"1")]), "the name of metadata key 1 at byte 24 is not valid UTF-8"),
        (Gguf(keys=[("k" * 70_000, gb.U8, b"1")]), "more than the limit of 65,536"),
        (Gguf(keys=[("k", gb.U8, b"1"), ("k", gb.I8, b"1")]), "metadata key 'k' at byte 38 appears twice"),
        (key("k", 13, bytes(8)), "the type of metadata key 'k' at byte 33 is 13"),
        (key("k", gb.BOOL, b"\x02"), "metadata key 'k' at byte 37 is neither true nor false"),
        (key("k", gb.ARR, gb.array(gb.U8, [0, 2]).replace(b"\x00", b"\x07", 1)), "neither true nor false"),
        (key("k", gb.STR, gb.text(b"\xff\xfe")), "metadata key 'k' at byte 37 is not valid UTF-8"),
        (key("k", gb.ARR, gb.array(gb.STR, [b"ok", b"\xff"])), "element 1 of metadata key 'k' at byte 59 is not"),
        (key("k", gb.F32, struct.pack("<f", float("nan"))), "metadata key 'k' at byte 37 is nan"),
        (key("k", gb.F64, struct.pack("<d", float("inf"))), "metadata key 'k' at byte 37 is inf"),
        (key("k", gb.ARR, gb.nested(MAX_ARRAY_DEPTH + 1)), "nests arrays more than 4 deep"),
        (key("k", gb.ARR, gb.nested(5000)), "nests arrays more than 4 deep"),
    ],
)
def test_metadata_that_lies(tmp_path: Path, file: Gguf, field: str) -> None:
    if "neither" in field and file.keys[0][1] == gb.ARR:  # the same for an array of truth values
        file = key("k", gb.ARR, struct.pack("<IQ", gb.BOOL, 2) + b"\x01\x02")
    assert field in complaint(tmp_path / "m.gguf", file.pack())


def tensors(*entries: Tensor, size: int = 256) -> Gguf:
    return Gguf(tensors=list(entries), data=bytes(size))


@pytest.mark.parametrize(
    ("file", "field"),
    [
        (tensors(Tensor("", (4,), 0, 0)), "tensor 1 at byte 24 has no name"),
        (tensors(Tensor("x", (4,), 0, 0), Tensor("x", (4,), 0, 32)), "tensor 'x' at byte 57 appears twice"),
        (tensors(Tensor("x", (), 0, 0)), "the dimension count of tensor 'x' at byte 33 is 0"),
        (tensors(Tensor("x", (1, 1, 1, 1, 1), 0, 0)), "the dimension count of tensor 'x' at byte 33 is 5"),
        (tensors(Tensor("x", (4,), 0, 0, dimensions=HUGE >> 32)), "the dimension count of tensor 'x' at byte 33 "),
        (tensors(Tensor("x", (0,), 0, 0)), "dimension 0 of tensor 'x' at byte 37 is 0"),
        (tensors(Tensor("x", (4, 0), 0, 0)), "dimension 1 of tensor 'x' at byte 45 is 0"),
        (tensors(Tensor("x", (HUGE,), 0, 0)), "dimension 0 of tensor 'x' at byte 37 "),
        (tensors(Tensor("x", (1 << 32, 1 << 32), 0, 0)), "dimension 1 of tensor 'x' at byte 45 "),
        (tensors(Tensor("x", (1 << 31, 1 << 31), 0, 0)), "tensor 'x' at byte 96 ends at byte"),
        (tensors(Tensor("x", (33,), 8, 0)), "the type of tensor 'x' at byte 45 does not fit: rows of 33"),
        (tensors(Tensor("x", (1, 32), 8, 0)), "the type of tensor 'x' at byte 53 does not fit: rows of 1 "),
        (tensors(Tensor("x", (4,), 4, 0)), "the type of tensor 'x' at byte 45 is 4"),
        (tensors(Tensor("x", (4,), 99, 0)), "the type of tensor 'x' at byte 45 is 99"),
        (tensors(Tensor("x", (4,), 1 << 31, 0)), "the type of tensor 'x' at byte 45 is 2,147,483,648"),
        (tensors(Tensor("x", (4,), 0, 8)), "tensor 'x' at byte 72 is not aligned to 32 bytes"),
        (tensors(Tensor("x", (4,), 0, HUGE - 31)), "only 320 bytes"),
        (tensors(Tensor("x", (4,), 0, 256)), "tensor 'x' at byte 320 ends at byte 336, but the file has only 320"),
        (tensors(Tensor("x", (65,), 0, 0)), "tensor 'x' at byte 64 ends at byte 324"),
        (tensors(Tensor("x", (4,), 0, 0), Tensor("y", (4,), 0, 0)), "overlaps another tensor"),
        (tensors(Tensor("x", (16,), 0, 0), Tensor("y", (4,), 0, 32)), "tensor 'x' at byte 96 overlaps another tensor"),
        (tensors(Tensor("y", (4,), 0, 32), Tensor("x", (16,), 0, 0)), "tensor 'x' at byte 96 overlaps another tensor"),
        (tensors(Tensor("x", (32,), 107, 64), Tensor("y", (4,), 0, 64)), "overlaps another tensor"),
        (tensors(Tensor("x", (32,), 107, 256)), "ends at byte"),
    ],
)
def test_tensors_that_lie(tmp_path: Path, file: Gguf, field: str) -> None:
    assert field in complaint(tmp_path / "m.gguf", file.pack())


@pytest.mark.parametrize("alignment", [0, 3, 48, 1 << 17])
def test_an_alignment_that_is_no_small_power_of_two_is_refused(tmp_path: Path, alignment: int) -> None:
    file = key("general.alignment", gb.U32, gb.scalar(gb.U32, alignment))
    assert "general.alignment" in complaint(tmp_path / "m.gguf", file.pack())


def test_another_alignment_is_honoured(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    file = Gguf(
        keys=[("general.alignment", gb.U32, gb.scalar(gb.U32, 8))],
        tensors=[Tensor("x", (2,), 0, 0), Tensor("y", (2,), 0, 8)],
        data=struct.pack("<4f", 1, 2, 3, 4),
        alignment=8,
    )
    path.write_bytes(file.pack())
    with GgufFile.open(path) as opened:
        assert struct.unpack("<2f", opened.data(opened.tensors["y"])) == (3, 4)


def test_an_alignment_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    assert "general.alignment" in complaint(tmp_path / "m", key("general.alignment", gb.STR, gb.text("32")).pack())


def test_a_type_with_several_meanings_gets_the_room_up_to_its_neighbour(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(tensors(Tensor("b", (32, 3), 107, 0), Tensor("a", (4,), 0, 64)).pack())
    with GgufFile.open(path) as file:
        assert file.tensors["b"].nbytes == 64 and "107" in file.tensors["b"].type_name
        assert list(file.tensors) == ["b", "a"]


@pytest.mark.parametrize(
    "file",
    [
        key("k", gb.ARR, struct.pack("<IQ", gb.U8, 1 << 24)),
        key("k", gb.ARR, struct.pack("<IQ", gb.STR, 1 << 20)),
        key("k", gb.STR, struct.pack("<Q", 1 << 26)),
        Gguf(tensor_count=1 << 16),
        Gguf(key_count=1 << 16),
        tensors(Tensor("x", (1 << 40,), 0, 0)),
    ],
)
def test_large_claims_of_small_files_allocate_nothing(tmp_path: Path, file: Gguf) -> None:
    path, content = tmp_path / "m.gguf", file.pack()
    complaint(path, content)  # imports and caches first
    tracemalloc.start()
    try:
        complaint(path, content)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_header_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    with open(path, "wb") as file:
        file.write(Gguf(keys=[], key_count=1).header() + gb.text("k"))
        file.write(struct.pack("<IQ", gb.STR, MAX_HEADER_BYTES))
        file.truncate(2 * MAX_HEADER_BYTES)  # sparse: takes no room on disk
    with pytest.raises(ModelFileError, match="beyond the limit of 67,108,864 bytes for a header"):
        GgufFile.open(path)
