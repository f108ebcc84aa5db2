"""What the field of the composer takes: neither too long a text nor too long a line."""

import pytest

from app.chat.editable import LONGEST_LINE, LONGEST_TEXT, is_editable

LINE = "x" * LONGEST_LINE


@pytest.mark.parametrize(
    ("text", "editable"),
    [
        ("", True),
        (LINE, True),
        (f"{LINE}\n{LINE}\n", True),
        (f"{LINE}x", False),
        (f"a\n{LINE}x\nb", False),
        (("x" * 99 + "\n") * (LONGEST_TEXT // 100), True),
        (("x" * 99 + "\n") * (LONGEST_TEXT // 100) + "x", False),
    ],
)
def test_a_long_line_is_not_editable_and_neither_is_a_long_text(text: str, *, editable: bool) -> None:
    assert is_editable(text) is editable
