"""Bytes of a text file to text: byte order marks, UTF-8, then charset-normalizer's best guess. Documents thread."""

import codecs

import charset_normalizer
from PySide6.QtCore import QCoreApplication

from app.errors import DocumentError

_MARKS = (  # UTF-32 before UTF-16: its little-endian mark begins with the other's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 256 << 10  # the guess costs seconds a megabyte; the whole file is then decoded strictly
_WIDE = frozenset({"utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"})

# What nothing has written for twenty years, and what short German or French texts are often mistaken for.
_EXTINCT = [
    "hp_roman8",
    "mac_croatian",
    "mac_cyrillic",
    "mac_greek",
    "mac_iceland",
    "mac_latin2",
    "mac_roman",
    "mac_romanian",
    "mac_turkish",
]


def decode(name: str, raw: bytes) -> str:
    """The text, verbatim. Raises DocumentError for what is not text."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _strict(name, raw, encoding)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _guessed(name, raw)
    if "\0" in text:
        return _guessed(name, raw)
    return text


def _strict(name: str, raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(
            QCoreApplication.translate("Documents", "{name} says it is {encoding} but is not, at byte {place}.").format(
                name=name, encoding=encoding.upper().removesuffix("-SIG"), place=f"{error.start:,}"
            )
        ) from error


def _guessed(name: str, raw: bytes) -> str:
    has_zeros = b"\0" in raw
    best = _best_guess(raw[: _SAMPLE_BYTES - _SAMPLE_BYTES % 4])
    if best is not None and (best.encoding in _WIDE or not has_zeros):
        for encoding in (best.encoding, *best.could_be_from_charset):
            try:
                return raw.decode(encoding)
            except (UnicodeDecodeError, LookupError):
                continue
    if not has_zeros and best is not None:
        return raw.decode(best.encoding, errors="replace")  # one bad byte in a long file: shown as such
    raise DocumentError(
        QCoreApplication.translate("Documents", "{name} is not a text, PDF or Word (.docx) file.").format(name=name)
    )


def _best_guess(sample: bytes) -> charset_normalizer.CharsetMatch | None:
    """The likeliest reading. Equally good ones come in alphabetical order, which would read French as Czech."""
    matches = charset_normalizer.from_bytes(sample, cp_exclusion=_EXTINCT)
    best = matches.best()
    for match in matches:
        if best and match.encoding == "cp1252" and (match.chaos, match.coherence) == (best.chaos, best.coherence):
            return match
    return best
