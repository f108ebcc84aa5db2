"""Which documents become text of the composer's field, and which pastes into a question that is changed: the field lays
a line out again at every key, so a longer text or a longer line would hold up the typing. Pure."""

LONGEST_TEXT = 200_000  # characters
LONGEST_LINE = 10_000  # characters; ten times as many take 10 to 80 ms a key


def is_editable(text: str) -> bool:
    """True if the text can be typed in."""
    return len(text) <= LONGEST_TEXT and max(map(len, text.split("\n"))) <= LONGEST_LINE
