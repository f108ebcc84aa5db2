"""Titles from questions: short, on one line, and from words only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.titles import MAX_CHARACTERS, title_from_question

CODE = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)"
TRACE = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\nValueError: bad'


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is a ring buffer? And why?", "What is a ring buffer?"),
        ("\n\n# Summarise this\ntext", "Summarise this"),
        ("- [ ] fix *the* `bug`.", "[ ] fix the bug"),
        ("!!!\n???\nreal words", "Real words"),
        ("x" * 100, "X" + "x" * 58 + "…"),
        (
            "one two three four five six seven eight nine ten eleven twelve",
            "One two three four five six seven eight nine ten eleven…",
        ),
        ("   ", ""),
        ("https://www.example.org/a/long/path?with=query explain this", "example.org explain this"),
        ("What's new in Python 3.12? I heard of it.", "What's new in Python 3.12?"),
        ("e.g. what does i.e. mean?", "e.g. what does i.e. mean?"),
        ("Dr. Smith wrote a letter. Fix it.", "Dr. Smith wrote a letter"),
        ("keep snake_case_names and *.py", "Keep snake_case_names and *.py"),
    ],
)
def test_plain_questions(question: str, title: str) -> None:
    assert title_from_question(question) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        (f"{CODE}\n\nWhy is this slow?", "Why is this slow?"),
        (f"Why is this slow?\n\n{CODE}", "Why is this slow?"),
        ("```python\nprint('hi')\n```\nWhat does this print?", "What does this print?"),
        ("What does this print?\n```python\nprint('hi')\n```", "What does this print?"),
        ("```python\nprint('hi')\n```", "print('hi')"),
        (f"{TRACE}\n\nhow do I fix this", "How do I fix this"),
        ("<html><body>x</body></html>\nmake this responsive", "Make this responsive"),
        ("SELECT * FROM users WHERE id = 1;", "SELECT * FROM users WHERE id = 1"),
        ("$ git push origin main\nerror: failed to push\nWhat now?", "What now?"),
        ("let me know what a class on Monday is", "Let me know what a class on Monday is"),
    ],
)
def test_code_is_passed_over_where_something_is_said(question: str, title: str) -> None:
    assert title_from_question(question) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 50 + "\n\nWhich animal jumps?", "Which animal jumps?"),
        ("Please summarise the following:\n\n" + "A long text. " * 100, "Please summarise the following"),
        ("Fasse das zusammen:\nEin langer Text", "Fasse das zusammen"),
        ("Subject: Meeting\n\nDear all,\nwe meet.\n\nMake this shorter", "Make this shorter"),
        ("> quoted mail\n> more\n\nReply politely.", "Reply politely"),
        ("1. apples\n2. pears\nsort these", "Sort these"),
        ("Explain how rain forms.\n\nUse three steps.", "Explain how rain forms"),
    ],
)
def test_what_a_question_is_about_is_passed_over(question: str, title: str) -> None:
    assert title_from_question(question) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Hi", "Hi"),
        ("Hello!", "Hello!"),
        ("Guten Morgen", "Guten Morgen"),
        ("hi there, can you help me with a letter?", "Can you help me with a letter?"),
        ("Hallo! Wie funktioniert ein Kühlschrank?", "Wie funktioniert ein Kühlschrank?"),
        ("Hidden files: how do I list them?", "Hidden files: how do I list them?"),
    ],
)
def test_a_greeting_gives_way_to_what_follows(question: str, title: str) -> None:
    assert title_from_question(question) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("ça va ? oui", "Ça va ?"),
        ("¿Qué es un halo? Explícamelo.", "¿Qué es un halo?"),
        ("Что такое гало? Объясни.", "Что такое гало?"),
        ("为什么天是蓝的？请解释。", "为什么天是蓝的？"),
        ("日本の首都はどこですか。教えてください", "日本の首都はどこですか"),
        ("ما هي الهالة؟ اشرح", "ما هي الهالة؟"),
    ],
)
def test_other_languages(question: str, title: str) -> None:
    assert title_from_question(question) == title


def test_a_document_names_a_question_that_says_little() -> None:
    assert title_from_question("?", ["report.pdf", "b.txt"]) == "report.pdf"
    assert title_from_question("Summarise this.", ["report.pdf"]) == "Summarise this – report.pdf"
    assert title_from_question("Summarise this.", ["Pasted text 1"]) == "Summarise this"
    assert title_from_question("What is the capital of the halo?", ["a.pdf"]) == "What is the capital of the halo?"


@pytest.mark.parametrize(
    "text", ["(" * 200_000, "a(" * 100_000, "*a" * 100_000, "```\n" * 50_000, "# " * 100_000, "_a_" * 70_000]
)
def test_hostile_text_is_no_slower_than_its_length(text: str) -> None:
    """A pattern that runs in circles would hang here."""
    assert len(title_from_question(text)) <= MAX_CHARACTERS


@given(st.text())
def test_any_text_gives_a_short_line(text: str) -> None:
    title = title_from_question(text)
    assert len(title) <= MAX_CHARACTERS
    assert len(title.splitlines()) <= 1
