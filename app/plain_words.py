"""Sizes, numbers and foreign text for a terminal: without Qt and its language, the same on every machine.

Used by the commands and by the doctor. The window's own words are in app.widgets.formats.
"""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Bytes in the largest binary unit that gives at least 1, with three significant digits."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    decimals = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{decimals}f} {_UNITS[unit]}"


def seconds_text(seconds: float) -> str:
    """A time span: milliseconds below a second, tenths below ten seconds, whole seconds above."""
    if round(1000 * seconds) < 1000:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"


def significant(number: float | None) -> str:
    """Three significant digits with separators; a dash for what is not known."""
    if number is None:
        return "-"
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{number:#.3g}"


def printable(text: str) -> str:
    """Text from a file without line breaks and escape sequences that would change the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
