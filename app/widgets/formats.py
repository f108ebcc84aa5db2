"""Numbers as the whole window shows them: three significant digits, always a unit, the locale's separators, a dash
for what is not known yet. Pure functions; GUI thread by habit (they use the default QLocale and translations).

A number and its unit are one thing, but text that runs from right to left would put "1 GiB" as "GiB 1". So whatever
joins a number to a unit or to another number goes through `isolated`; tests/app/test_number_order.py finds what does
not. A label takes its direction from its text, but buttons, lists and menus take theirs from the window, where "Save…"
would be "…Save" while it is not translated: what they show goes through `isolated` as a whole, and
tests/app/window/test_reading_order.py finds what does not.
"""

import math

from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtGui import QGuiApplication

from app.plain_words import span_unit

UNKNOWN = "–"
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def _tr(text: str, disambiguation: str | None = None, n: int = -1) -> str:
    return QCoreApplication.translate("Formats", text, disambiguation, n)


def isolated(text: str) -> str:
    """The text as a piece that keeps its own order in a window that is mirrored; elsewhere the text alone.

    Its first letter tells the order, so that a translation from right to left is right too. The pair of signs is
    U+2068 FIRST STRONG ISOLATE and U+2069 POP DIRECTIONAL ISOLATE (UAX #9); neither is drawn.
    """
    mirrored = QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if mirrored else text


def significant(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits, never in scientific notation."""
    if not math.isfinite(value):
        return UNKNOWN
    magnitude = 0 if value == 0 else math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    magnitude = 0 if rounded == 0 else math.floor(math.log10(abs(rounded)))  # 9.996 became 10.0
    return QLocale().toString(float(rounded), "f", max(0, digits - 1 - magnitude))


def count(value: int | None) -> str:
    """A whole number with the locale's separators."""
    return UNKNOWN if value is None else QLocale().toString(value)


def speed(tok_s: float | None) -> str:
    """A speed in tokens per second."""
    return UNKNOWN if tok_s is None else isolated(_tr("{speed} tok/s").format(speed=significant(tok_s)))


def tokens(value: int | None) -> str:
    """A number of tokens, in words."""
    return _tr("– tokens") if value is None else isolated(_tr("%Ln token(s)", None, value))


def size(n_bytes: int | None) -> str:
    """Bytes with a binary unit."""
    if n_bytes is None:
        return UNKNOWN
    value, unit = float(n_bytes), 0
    while value >= 1024 and unit < len(_BINARY) - 1:
        value /= 1024
        unit += 1
    return isolated(f"{count(n_bytes) if unit == 0 else significant(value)} {_BINARY[unit]}")


def power_of_1024(exponent: int) -> str:
    """A mark of a scale: 1 B, 1 KiB and so on to 1 PiB, without decimals."""
    return isolated(f"1 {_BINARY[exponent]}")


def duration(seconds: float | None) -> str:
    """A time span in its `span_unit`, from a minute on in minutes and hours; a negative one is 0."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    seconds = max(0.0, seconds)
    unit = span_unit(seconds)
    if unit == "milliseconds":
        return isolated(_tr("{milliseconds} ms").format(milliseconds=count(round(1000 * seconds))))
    if unit == "tenths":
        return tenths(seconds)
    whole = round(seconds)
    if whole < 60:
        return isolated(_tr("{seconds} s").format(seconds=count(whole)))
    minutes = whole // 60
    if minutes < 60:
        return isolated(_tr("{minutes} min {seconds} s").format(minutes=count(minutes), seconds=count(whole % 60)))
    return isolated(_tr("{hours} h {minutes} min").format(hours=count(minutes // 60), minutes=count(minutes % 60)))


def time_left(seconds: float | None) -> str:
    """An estimate of a time span: like `duration`, but never in milliseconds, which it cannot know. Overdue is 0."""
    if seconds is None or not math.isfinite(seconds) or seconds >= 1:
        return duration(seconds)
    return tenths(max(0.0, seconds))


def tenths(seconds: float) -> str:
    """Seconds with one decimal, however many they are."""
    return isolated(_tr("{seconds} s").format(seconds=QLocale().toString(float(seconds), "f", 1)))


def percent(share: float) -> str:
    """A share of 0 to 1 as a whole percentage."""
    return isolated(_tr("{percent} %").format(percent=QLocale().toString(round(100 * share))))
