"""Narrow windows and large text: the chat keeps its room."""

import pytest

from app.window_sides import Sides, sides_that_fit
from tests.app.window.driver import WindowDriver

BOTH, NONE = Sides(True, True), Sides(False, False)


@pytest.mark.parametrize(
    ("width", "character", "shown"),
    [
        (1440, 8.0, Sides(True, True)),
        (1000, 8.0, Sides(True, False)),
        (560, 8.0, Sides(False, False)),
        (1440, 13.0, Sides(True, False)),
        (0, 8.0, Sides(False, False)),
    ],
)
def test_the_panel_gives_way_first(width: float, character: float, shown: Sides) -> None:
    assert sides_that_fit(width, character, BOTH, NONE) == shown


def test_what_is_not_wanted_is_never_shown_and_what_is_asked_for_always() -> None:
    assert sides_that_fit(5_000, 8.0, NONE, NONE) == NONE
    assert sides_that_fit(300, 8.0, BOTH, BOTH) == BOTH
    assert sides_that_fit(300, 8.0, NONE, BOTH) == NONE


def test_a_narrow_window_hides_the_sides_and_brings_them_back(driver: WindowDriver) -> None:
    window = driver.window
    assert window.sidebar.isVisible() and window.panel.isVisible()
    window.resize(480, 700)
    driver.wait(lambda: not window.sidebar.isVisible() and not window.panel.isVisible())
    driver.trigger("sidebar")
    assert window.sidebar.isVisible()
    driver.trigger("sidebar")
    assert not window.sidebar.isVisible()
    driver.trigger("sidebar")
    window.resize(1400, 800)
    driver.wait(lambda: window.sidebar.isVisible() and window.panel.isVisible())
