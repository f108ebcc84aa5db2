"""A chat's first title, made from its first question by plain rules: it costs no tokens and evicts no cache. Pure."""

import re
from collections.abc import Sequence

MAX_CHARACTERS = 60
_MARKS = re.compile(r"^(?:[#>*+\-]+\s+|\d+[.)]\s+|`{3,}\w*\s*)+|[*_`]{1,3}")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s")


def title_from_question(question: str, document_names: Sequence[str] = ()) -> str:
    """The first sentence of the question's first line with words, cut at a word; a document's name without one."""
    for line in question.splitlines():
        plain = " ".join(_MARKS.sub("", line.strip()).split())
        if any(char.isalnum() for char in plain):
            return _shorten(_SENTENCE_END.split(plain, maxsplit=1)[0].rstrip(".。:;, "))
    return _shorten(document_names[0]) if document_names else ""


def _shorten(text: str) -> str:
    text = text[:1].upper() + text[1:]
    if len(text) <= MAX_CHARACTERS:
        return text
    cut = text[: MAX_CHARACTERS - 1]
    at_word = cut.rpartition(" ")[0]
    return (at_word if len(at_word) >= MAX_CHARACTERS // 2 else cut).rstrip(" ,;:.-") + "…"
