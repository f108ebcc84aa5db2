"""The text stream never shows half a character and never loses one."""

from hypothesis import given
from hypothesis import strategies as st

from engine.text_stream import TextStream


def byte_stream() -> TextStream:
    return TextStream(lambda id: bytes([id]))


@given(st.text())
def test_byte_by_byte_shows_each_character_when_it_is_whole(text: str) -> None:
    stream = byte_stream()
    shown = ""
    for character in text:
        *first, last = character.encode()
        assert all(stream.push(byte) == "" for byte in first)
        shown += (now := stream.push(last))
        assert now == character
    assert shown == text and stream.finish() == ""


@given(st.binary(), st.lists(st.integers(1, 5)))
def test_any_bytes_in_any_pieces_agree_with_decoding_at_once(raw: bytes, sizes: list[int]) -> None:
    pieces, at = [], 0
    for size in [*sizes, len(raw)]:
        pieces.append(raw[at : at + size])
        at += size
    stream = TextStream(lambda id: pieces[id])
    shown = "".join(stream.push(id) for id in range(len(pieces)))
    assert shown + stream.finish() == raw.decode(errors="replace")


def test_an_unfinished_character_is_held_back_and_then_replaced() -> None:
    stream = byte_stream()
    first, second, third, _ = "😀".encode()
    assert stream.push(ord("a")) == "a"
    assert stream.push(first) + stream.push(second) + stream.push(third) == ""
    assert stream.finish() == "\N{REPLACEMENT CHARACTER}"
    assert stream.finish() == ""


def test_a_character_that_breaks_off_does_not_swallow_what_follows() -> None:
    stream = byte_stream()
    assert stream.push("é".encode()[0]) == ""
    assert stream.push(ord("x")) == "\N{REPLACEMENT CHARACTER}x"


def test_a_finished_stream_starts_afresh() -> None:
    stream = byte_stream()
    stream.push(0xC3)
    stream.finish()
    assert stream.push(0xA9) == "\N{REPLACEMENT CHARACTER}" and stream.push(ord("b")) == "b"
