"""The fixed text: the same ids every time, exactly as many as asked for, and it says when it repeats."""

import hashlib

from engine.bench.text import bench_text, read_prose

KNOWN_SHA256 = "8061549557aebd2fd6e353d18d9197cb707029112bd52d4d8b174583a925848a"


class _Letters:
    """One token a letter."""

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, text: str) -> list[int]:
        self.encoded += len(text)
        return [ord(letter) for letter in text]


def test_the_text_is_the_one_that_earlier_runs_read() -> None:
    assert hashlib.sha256(read_prose().encode()).hexdigest() == KNOWN_SHA256


def test_a_prompt_has_exactly_the_tokens_asked_for_and_opens_with_the_given_id() -> None:
    found = bench_text(_Letters(), 512, first=7)
    assert len(found.ids) == 512
    assert found.ids[0] == 7
    assert "".join(map(chr, found.ids[1:])) == read_prose()[:511]
    assert (found.repeats, found.sha256) == (1, KNOWN_SHA256)


def test_a_longer_prompt_starts_with_the_shorter_one() -> None:
    short, long = bench_text(_Letters(), 512, 7), bench_text(_Letters(), 2048, 7)
    assert long.ids[:512] == short.ids


def test_a_short_prompt_does_not_encode_the_whole_book() -> None:
    letters = _Letters()
    bench_text(letters, 512)
    assert letters.encoded < 10_000


def test_a_prompt_longer_than_the_book_reads_it_again_and_says_so() -> None:
    length = len(read_prose())
    found = bench_text(_Letters(), length + 10)
    assert len(found.ids) == length + 10
    assert found.ids[length:] == found.ids[:10]
    assert found.repeats == 2
    assert "2 times" in found.description
    assert "times" not in bench_text(_Letters(), 10).description
