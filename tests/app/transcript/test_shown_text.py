"""What find looks at: the words of a message as they are shown, and where words stand in them."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.transcript.message_layout import MessageLayout
from app.transcript.model import MessageView, Role
from app.transcript.shown_text import in_utf16, places_of, words_in_steps
from app.transcript.text_style import TextStyle

SOURCES = [
    "A **bold** and *slanted* ~~word~~ with `code  in it`.\nSame paragraph.",
    "# Title\n\nLine  \nbroken\\\ntwice &amp; &uuml; \\*not bold\\*",
    "- one\n\n  two\n- three\n  1. four\n\n     ```c\n     int x;\n     int y;\n     ```\n",
    "> quoted\n> words\n\n---\n\n<b>tag</b> <http://a.example/x>",
    "| A | B |\n|---|---|\n| c *d* | e |\n|   | f |\n\nafter",
    "| A |\n|---|\n" + "".join(f"| r{n} |\n" for n in range(45)),
    "![cat](http://a.example/c.png) ![](http://a.example/d.png) [a link][r]\n\n[r]: http://a.example",
    "```python\nx = 1\n\ny = 2\n```\n\n    indented\n",
    "",
]
_BREAKS = dict.fromkeys(map(ord, "\u2028\u2029\ufdd0\ufdd1\n"), "\n")


def shown_text(source: str) -> str:
    words: list[str] = []

    def take() -> Iterator[None]:
        words.extend((yield from words_in_steps(source)))

    for _ in take():
        pass
    return "\n".join(words)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.translate(_BREAKS).split("\n") if line.strip()]


@pytest.mark.parametrize("source", SOURCES)
def test_it_is_what_the_documents_hold(source: str, style: TextStyle) -> None:
    layout = MessageLayout(MessageView(1, Role.ASSISTANT, source), style)
    layout.set_width(600)
    shown = [line for placed in layout.blocks() for line in _lines(placed.layout.raw_text(style))]
    assert _lines(shown_text(source)) == shown


def test_offsets_hold_after_letters_that_fold_to_two() -> None:
    assert places_of("Fuß, Gruß, Ziel", "ziel") == [(11, 15)]
    assert places_of("İİ end", "end") == [(3, 6)]
    assert places_of("Die Straße", "strasse") == [(4, 10)]
    assert places_of("Spaß", "s") == [(0, 1), (3, 4)]  # both halves of one letter are one match


@given(st.text(st.sampled_from("aßsSİﬁi😀 x")), st.text(st.sampled_from("aßsSİﬁi😀 "), min_size=1, max_size=3))
def test_every_match_is_the_needle(text: str, word: str) -> None:
    needle = word.casefold()
    found = places_of(text, needle)
    assert bool(found) == (needle in text.casefold())
    for start, end in found:
        assert needle in text[start:end].casefold()
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def test_documents_count_in_utf16() -> None:
    text = "😀a😀a"
    assert in_utf16(text, places_of(text, "a")) == [(2, 3), (5, 6)]
