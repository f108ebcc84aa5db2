"""Numbers as people read them."""

import pytest
from PySide6.QtCore import QLocale

from app.plain_words import seconds_text
from app.widgets import formats


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (0.01234, "0.0123"),
        (9.996, "10.0"),
        (52.34, "52.3"),
        (999.6, "1,000"),
        (1523.7, "1,520"),
        (-3.14159, "-3.14"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert formats.significant(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_a_dash(value: float) -> None:
    assert formats.significant(value) == formats.UNKNOWN


def test_unknown_is_a_dash_and_never_zero() -> None:
    assert formats.UNKNOWN == formats.speed(None) == formats.size(None) == formats.duration(None) == formats.count(None)


def test_units_are_binary_and_shown() -> None:
    assert [formats.size(n) for n in (17, 1024, 482_133, 39_500_000, 3 << 30)] == [
        "17 B", "1.00 KiB", "471 KiB", "37.7 MiB", "3.00 GiB",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5.0, "0 ms"),
        (0.0, "0 ms"),
        (0.033, "33 ms"),
        (0.84, "840 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (42.4, "42 s"),
        (59.7, "1 min 0 s"),
        (125, "2 min 5 s"),
        (7320, "2 h 2 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (-0.4, "0.0 s"), (-42.0, "0.0 s"), (0.033, "0.0 s"), (0.84, "0.8 s"), (42.4, "42 s")],
)
def test_an_estimate_is_never_in_milliseconds(seconds: float | None, text: str) -> None:
    assert formats.time_left(seconds) == text


def test_a_short_duration_in_german() -> None:
    QLocale.setDefault(QLocale(QLocale.Language.German))
    assert (formats.duration(0.033), formats.duration(1.3)) == ("33 ms", "1,3 s")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.033, "٣٣ ms"), (1.3, "١٫٣ s"), (42.4, "٤٢ s"), (125, "٢ min ٥ s"), (7320, "٢ h ٢ min")],
)
def test_durations_have_the_digits_of_the_language(seconds: float, text: str) -> None:
    QLocale.setDefault(QLocale(QLocale.Language.Arabic, QLocale.Country.Egypt))
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5.0, "0 ms"), (0.097, "97 ms"), (0.9996, "1.0 s"), (9.96, "10 s"), (42.4, "42 s")]
)
def test_a_terminal_shows_short_durations_in_the_same_units(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_percent() -> None:
    assert formats.percent(0.424) == "42 %"
