"""Cutting Markdown into blocks: whole, streamed, and verbatim text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.transcript.markdown import Block, BlockKind, StreamParser, parse_blocks, plain_blocks

SAMPLE = """# Title

A paragraph with **bold**,
two lines long.

3. three
4. four
   - inner
   - list

- bullet
- other

> quoted
> text

```python
print("x")

print("y")
```

| a | b |
|---|--:|
| 1 | 2 |

---

Last"""

# Lines that begin, continue or end every kind of block. Reference definitions are left out on purpose: they act
# backwards over the whole text, and the last parse of an answer settles them.
LINES = st.sampled_from(
    ["# h", "text", "more *text*", "", "- a", "  - b", "1. x", "2. y", "7) z", "> q", "```py", "```", "    code",
     "| a | b |", "|---|---|", "---", "===", "* star", "  indented", "~~~", "<b>", "\\", "`tick", "\t- tab"]
)  # fmt: skip


def keys(blocks: list[Block]) -> list[tuple[object, ...]]:
    return [(b.kind, b.source, b.text, b.language, b.is_list_item, b.ordinal) for b in blocks]


def test_every_kind_of_block_is_told_apart() -> None:
    blocks = parse_blocks(SAMPLE)
    assert [b.kind for b in blocks].count(BlockKind.CODE) == 1
    code = next(b for b in blocks if b.kind is BlockKind.CODE)
    assert (code.language, code.text) == ("python", 'print("x")\n\nprint("y")')
    assert [b.ordinal for b in blocks if b.ordinal is not None] == [3, 4]


def test_list_items_are_blocks_of_their_own_and_keep_their_numbers() -> None:
    blocks = parse_blocks("5. a\n5. b\n5. c")
    assert [(b.ordinal, b.is_list_item) for b in blocks] == [(5, False), (6, True), (7, True)]


@given(st.lists(LINES, max_size=30), st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(max_examples=400, deadline=None)
def test_a_streamed_text_gives_the_blocks_of_the_whole_text(lines: list[str], sizes: list[int]) -> None:
    source = "\n".join(lines)
    parser, at, turn = StreamParser(), 0, 0
    while at < len(source):
        size = sizes[turn % len(sizes)]
        parser.push(source[at : at + size])
        at, turn = at + size, turn + 1
    assert keys(parser.blocks()) == keys(parse_blocks(source))


def test_blocks_before_the_last_are_never_parsed_again() -> None:
    parser = StreamParser()
    parser.push("one\n\ntwo\n\nthr")
    first = parser.blocks()[:2]
    parser.push("ee\n\nfour")
    assert all(a is b for a, b in zip(first, parser.blocks(), strict=False))


@given(st.text(max_size=400), st.integers(0, 40))
@settings(deadline=None)
def test_plain_text_is_cut_without_losing_a_character(text: str, repeats: int) -> None:
    whole = text * repeats
    assert "".join(b.source for b in plain_blocks(whole)) == whole


def test_a_megabyte_without_line_breaks_is_cut_into_small_blocks() -> None:
    blocks = plain_blocks("x" * 1_000_000)
    assert max(len(b.text) for b in blocks) <= 6_000
    assert all(b.joins_previous for b in blocks[1:])
