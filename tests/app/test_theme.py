"""Contrast of every colour that carries text, for our palettes and for awkward ones of a desktop."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QPalette

from app.theme import (
    READABLE,
    VISIBLE,
    CodeColours,
    Theme,
    contrast,
    dark_palette,
    ensure_contrast,
    light_palette,
    make_palette,
    theme_from_palette,
)
from app.widgets.stylesheet import stylesheet

PALETTES = {
    "light": light_palette(),
    "dark": dark_palette(),
    "grey desktop": make_palette("#c0c0c0", "#d4d0c8", "#404040", "#88aacc"),
    "black desktop": make_palette("#000000", "#000000", "#999999", "#222288"),
    "pale desktop": make_palette("#ffffff", "#ffffff", "#aaaaaa", "#ffee88"),
}


@pytest.fixture(params=PALETTES.values(), ids=PALETTES.keys())
def theme(request: pytest.FixtureRequest) -> Theme:
    palette = request.param
    assert isinstance(palette, QPalette)
    return theme_from_palette(palette)


def test_text_reads_on_every_surface(theme: Theme) -> None:
    for name in ("text", "muted", "accent", "danger", "warning", "success"):
        for surface in (theme.window, theme.base, theme.raised):
            assert contrast(getattr(theme, name), surface) >= READABLE, (name, surface)
    assert contrast(theme.text, theme.selection) >= READABLE
    assert contrast(theme.text, theme.hover) >= READABLE
    assert contrast(theme.muted, theme.hover) >= READABLE
    assert contrast(theme.on_accent, theme.accent) >= READABLE


def test_code_colours_read_on_code_and_on_selected_code(theme: Theme) -> None:
    for name in CodeColours.__dataclass_fields__:
        assert contrast(getattr(theme.code, name), theme.raised) >= READABLE, name


def test_outlines_can_be_seen(theme: Theme) -> None:
    assert contrast(theme.outline, theme.base) >= VISIBLE
    assert contrast(theme.accent, theme.base) >= VISIBLE


def test_contrast_is_the_standard_ratio() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@given(st.integers(0, 0xFFFFFF), st.integers(0, 0xFFFFFF))
@settings(max_examples=200, deadline=None)
def test_any_colour_can_be_made_readable_on_any_surface(colour: int, surface: int) -> None:
    made = ensure_contrast(f"#{colour:06x}", (f"#{surface:06x}",), READABLE)
    assert contrast(made, f"#{surface:06x}") >= READABLE


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_style_sheet_has_every_colour_filled_in(is_dark: bool) -> None:
    sheet = stylesheet(theme_from_palette(dark_palette() if is_dark else light_palette()), 9.0, 12.5, "/icons")
    assert "$" not in sheet
    assert sheet.count("{") == sheet.count("}")
