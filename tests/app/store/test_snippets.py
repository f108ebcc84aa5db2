"""What a search shows of a message: plain words with the match marked, whatever Markdown it stands in."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.schema import migrate
from app.store.search import search
from app.store.snippets import CLOSE, OPEN, snippet

# Every construct of Markdown, with the word that is looked for and how it reads.
CONSTRUCTS = {
    "**an ostrich runs**": "an ostrich runs",
    "an *ostrich* __runs__": "an ostrich runs",
    "~~an ostrich~~ runs": "an ostrich runs",
    "an `ostrich` runs": "an ostrich runs",
    "# An ostrich": "An ostrich",
    "An ostrich\n===": "An ostrich",
    "- an ostrich\n- a gnu": "an ostrich · a gnu",
    "1. an ostrich\n2. a gnu": "an ostrich · a gnu",
    "> an **ostrich**": "an ostrich",
    "```python\nrun(ostrich)  # **now**\n```": "run(ostrich) # **now**",
    "    run(ostrich)": "run(ostrich)",
    "| bird | runs |\n|---|---|\n| ostrich | yes |": "bird · runs · ostrich · yes",
    "see [the ostrich](https://a.example/x)": "see the ostrich",
    "a [bird](https://a.b/ostrich)": "a bird (https://a.b/ostrich)",
    "see [the bird](https://ostrich.example)": "see the bird (https://ostrich.example)",
    "see <https://ostrich.example>": "see https://ostrich.example",
    "see [the ostrich][1]\n\n[1]: https://a.example": "see the ostrich",
    "![an ostrich](https://a.example/x.png)": "an ostrich",
    "An ostrich runs.\nIt is\nquick.": "An ostrich runs. It is quick.",
    "AT&amp;T has an \\*ostrich\\*": "AT&T has an *ostrich*",
    "```ostrich\nrun()\n```": "ostrich run()",
    "a <b>bold</b> ostrich": "a <b>bold</b> ostrich",
    "2 * 3 * 4 ostrich snake_case": "2 * 3 * 4 ostrich snake_case",
}
NEIGHBOURS = (
    "",
    "Before **it** all.",
    "# Head",
    "```\n# code **here**\n```",
    "- item `one`\n\n  more",
    "[x]: http://y.z",
)


def found_in(text: str, query: str = "ostrich") -> tuple[str, list[str]]:
    """The snippet that a search of the real index shows, and the marked words in it."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    migrate(db)
    db.execute("INSERT INTO chats (id, rank, created_at, updated_at) VALUES (1, 1, 0, 0)")
    db.execute(
        "INSERT INTO messages (chat_id, role, text, state, created_at) VALUES (1, 'assistant', ?, 'complete', 0)",
        (text,),
    )
    (hit,) = search(db, query)
    db.close()
    return hit.snippet, [hit.snippet[start : start + length] for start, length in hit.marks]


@pytest.mark.parametrize("markdown", CONSTRUCTS)
def test_every_construct_reads_as_plain_text_with_its_match_marked(markdown: str) -> None:
    shown, marked = found_in(markdown)
    assert shown == CONSTRUCTS[markdown]
    assert marked == ["ostrich"]


@given(
    st.sampled_from(sorted(CONSTRUCTS)),
    st.lists(st.sampled_from(NEIGHBOURS), max_size=4),
    st.lists(st.sampled_from(NEIGHBOURS), max_size=4),
)
def test_what_stands_around_a_paragraph_changes_nothing_in_it(
    markdown: str, above: list[str], below: list[str]
) -> None:
    filler = "A long paragraph with **many** `words` in it. " * 60
    text = "\n\n".join([*above, filler, *above, markdown, filler, *below])
    shown, marked = found_in(text)
    assert CONSTRUCTS[markdown] in shown
    assert marked == ["ostrich"]
    assert not {"**m", "`w", "```", "# Head"} & {shown[i : i + n] for n in (3, 2, 6) for i in range(len(shown))}
    assert len(shown) < 250


def test_the_match_stands_near_the_beginning() -> None:
    shown, marked = found_in("word " * 300 + "an **ostrich** runs " + "word " * 300)
    assert shown.startswith("…word") and shown.endswith("word…")
    assert shown.index("ostrich") < 30 and marked == ["ostrich"]
    assert "*" not in shown


def test_code_that_was_opened_far_above_stays_code() -> None:
    shown, marked = found_in("```sh\n" + "echo **a**\n\n" * 500 + "# an __ostrich__\n\n" + "done\n" * 500 + "```")
    assert "# an __ostrich__" in shown and marked == ["ostrich"]


def test_the_place_with_most_of_the_words_is_shown() -> None:
    shown, marked = found_in("an ostrich " + "x " * 200 + "\n\nthe **ostrich** can *run*", "run ostr")
    assert shown == "the ostrich can run"
    assert marked == ["ostrich", "run"]


def test_a_match_in_nothing_that_is_shown_is_still_shown() -> None:
    shown, marked = found_in("Text.\n\n[unused]: https://ostrich.example")
    assert "ostrich.example" in shown and marked == ["ostrich"]


def test_a_script_without_spaces_keeps_its_mark() -> None:
    shown, marked = found_in("鴕" * 400, "鴕")
    assert len(shown) < 250 and marked and set(marked[0]) == {"鴕"}


@given(st.text(alphabet=st.sampled_from([*"ab *_`#[]()|>-~\n\\!<&;:1.", OPEN, CLOSE, "\x02", "😀"])))
def test_any_text_gives_one_line_and_marks_inside_it(marked: str) -> None:
    shown, marks = snippet(marked)
    assert "\n" not in shown and OPEN not in shown and CLOSE not in shown
    assert all(0 <= start < start + length <= len(shown) for start, length in marks)
