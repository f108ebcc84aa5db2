"""Sentences of the engine, the doctor and the store in the window's language, with their values. Any thread.

Those rooms speak English and know no translation. Where the window shows what they say it calls `translated`, which
knows a sentence again by what stands between its values. resources/translations/sentences.json lists all of them;
packaging/translations.py finds them in the source, and a test fails where one is missing or has no translation.
"""

import functools
import json
import re
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QLocale

from resources import ROOT

_FILE = ROOT / "translations" / "sentences.json"
_LONGEST = 4_000  # characters; what is longer is no sentence of ours
_DEEPEST = 4  # sentences in sentences
_SLOT = re.compile(r"\{(\w+)(?::(\w))?\}")
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")
_SIZE = re.compile(r"\d[\d.,]* (?:[KMGT]i)?B")
_LIKE_NUMBER = re.compile(r"-?\d")
_NOT_BRACES = ("{{", "{"), ("}}", "}")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """`source` as the list has it; `literals` stand around the values that `names` and `kinds` tell."""

    source: str
    literals: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    def values(self, text: str) -> list[str] | None:
        """What stands in the places of this sentence, None if the text is another one. Each value is as short as can
        be: if the sentence fits in any way, then it fits so."""
        first, *rest = self.literals
        if not rest:
            return [] if text == first else None
        if not text.startswith(first) or not text.endswith(rest[-1]):
            return None
        found, at, end = [], len(first), len(text) - len(rest[-1])
        for literal in rest[:-1]:
            place = text.find(literal, at, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(literal)
        found.append(text[at:end])
        return found if at <= end and self._are_numbers(found) else None

    def _are_numbers(self, values: list[str]) -> bool:
        """Whether numbers stand where they should: "{used:n} of {total:n}" is not every text with an "of"."""
        return all(kind != "n" or _LIKE_NUMBER.match(value) for kind, value in zip(self.kinds, values, strict=True))


def translated(text: str) -> str:
    """A sentence in the window's language; one that is not known, or has no translation, as it is."""
    if _SIZE.fullmatch(text):
        return _number(text)
    first, line_break, rest = text.partition("\n")  # a compiler's whole log, say, stands below the sentence about it
    known = _known(first)
    if known is not None:
        return f"{known}{line_break}{rest}"
    return (_known(text) if line_break else None) or text


def _known(text: str) -> str | None:
    return _translated(text, _DEEPEST) if 0 < len(text) <= _LONGEST else None


def _translated(text: str, depth: int) -> str | None:
    """None for what is not known."""
    for sentence in _sentences():
        values = sentence.values(text)
        if values is not None:
            return _put(sentence, values, depth)
    several = _several(text, depth)
    if several is not None:
        return several
    name, colon, rest = text.partition(": ")  # a file's name, say, before a sentence about it
    known = _translated(rest, depth - 1) if colon and depth else None
    return None if known is None else f"{name}: {known}"


def _several(text: str, depth: int) -> str | None:
    """Reasons with "; " between them; None for a single one, or if any is not known."""
    parts = text.split("; ")
    if len(parts) == 1:
        return None
    known = [_translated(part, depth) for part in parts]
    found = [reason for reason in known if reason is not None]
    return "; ".join(found) if len(found) == len(parts) else None


def _put(sentence: _Sentence, values: list[str], depth: int) -> str:
    target = QCoreApplication.translate("Sentences", sentence.source)
    shown = {
        name: _value(value, kind, depth)
        for name, kind, value in zip(sentence.names, sentence.kinds, values, strict=True)
    }
    return _plain(_SLOT.sub(lambda slot: shown[slot[1]], target))


def _value(value: str, kind: str, depth: int) -> str:
    if kind == "n":
        return _number(value)
    if kind != "w" or not depth:
        return value
    known = _translated(value, depth - 1)
    if known is None and not value.endswith("."):  # a sentence that goes on in another has lost its full stop
        whole = _translated(f"{value}.", depth - 1)
        known = None if whole is None else whole.removesuffix(".")
    return value if known is None else known


def _number(text: str) -> str:
    """Numbers with the locale's separators, and with what stands between and behind them."""
    return _NUMBER.sub(lambda found: _localised(found[1], found[2]), text)


def _localised(whole: str, decimals: str | None) -> str:
    locale = QLocale()
    shown = locale.toString(int(whole.replace(",", ""))) if "," in whole else whole
    return f"{shown}{locale.decimalPoint()}{decimals}" if decimals else shown


def _plain(text: str) -> str:
    for written, meant in _NOT_BRACES:
        text = text.replace(written, meant)
    return text


@functools.cache
def _sentences() -> tuple[_Sentence, ...]:
    """The longest first: a short one may fit where a longer one says more."""
    made = [_read(source) for source in json.loads(_FILE.read_text(encoding="utf-8"))]
    return tuple(sorted(made, key=lambda sentence: -sum(map(len, sentence.literals))))


def _read(source: str) -> _Sentence:
    pieces = _SLOT.split(source)  # text, name, kind, text, name, kind, text
    literals = tuple(_plain(piece or "") for piece in pieces[::3])
    return _Sentence(source, literals, tuple(pieces[1::3]), tuple(kind or "" for kind in pieces[2::3]))
