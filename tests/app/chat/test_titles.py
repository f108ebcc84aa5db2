"""Titles from questions: short, on one line, and from words only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.titles import MAX_CHARACTERS, title_from_question


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is a ring buffer? And why?", "What is a ring buffer?"),
        ("\n\n# Summarise this\ntext", "Summarise this"),
        ("- [ ] fix *the* `bug`.", "[ ] fix the bug"),
        ("```python\nprint('hi')\n```", "Print('hi')"),
        ("!!!\n???\nreal words", "Real words"),
        ("ça va ? oui", "Ça va ?"),
        ("为什么天是蓝的？ 请解释", "为什么天是蓝的？"),
        ("x" * 100, "X" + "x" * 58 + "…"),
        (
            "one two three four five six seven eight nine ten eleven twelve",
            "One two three four five six seven eight nine ten eleven…",
        ),
        ("   ", ""),
    ],
)
def test_examples(question: str, title: str) -> None:
    assert title_from_question(question) == title


def test_a_question_without_words_is_named_for_its_document() -> None:
    assert title_from_question("?", ["report.pdf", "b.txt"]) == "Report.pdf"


@given(st.text())
def test_any_text_gives_a_short_line(text: str) -> None:
    title = title_from_question(text)
    assert len(title) <= MAX_CHARACTERS
    assert len(title.splitlines()) <= 1
