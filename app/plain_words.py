"""Sizes, numbers and foreign text for a terminal: without Qt and its language, the same on every machine.

Used by the commands and by the doctor. The window's own words are in app.widgets.formats.
"""

from typing import Literal

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Bytes in the largest binary unit that gives at least 1, with three significant digits."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    decimals = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{decimals}f} {_UNITS[unit]}"


def span_unit(seconds: float) -> Literal["milliseconds", "tenths", "seconds"]:
    """What a time span is counted in, here and in the window: milliseconds below a second, tenths of a second below
    ten, whole seconds above. What would round to "1000 ms" or "10.0 s" is in the next unit."""
    if round(1000 * seconds) < 1000:
        return "milliseconds"
    return "tenths" if seconds < 9.95 else "seconds"


def seconds_text(seconds: float) -> str:
    """A time span in its `span_unit`; a negative one is 0."""
    seconds = max(0.0, seconds)
    unit = span_unit(seconds)
    if unit == "milliseconds":
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if unit == "tenths" else f"{seconds:.0f} s"


def significant(number: float | None) -> str:
    """Three significant digits with separators; a dash for what is not known."""
    if number is None:
        return "-"
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{number:#.3g}"


def printable(text: str) -> str:
    """Text from a file without line breaks and escape sequences that would change the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
