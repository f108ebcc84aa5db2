"""Colours of the window, derived from one palette: surfaces, text, one accent, signals, code.

Every colour that carries text is pushed until it reads at 4.5:1 on the surface it is drawn on, so that a system
palette with weak contrast still gives a readable window. Pure values, GUI thread by habit only: `theme_controller`
decides which theme is on, widgets take the `Theme` and draw.
"""

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

READABLE = 4.5  # WCAG 2.1 AA, text
VISIBLE = 3.0  # WCAG 2.1 AA, marks and focus rings
RADIUS = 8


@dataclass(frozen=True, slots=True)
class CodeColours:
    """Roles of highlighted code, as #rrggbb, readable on `Theme.raised`."""

    comment: str
    keyword: str
    string: str
    number: str
    function: str
    type: str
    inserted: str
    deleted: str


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours as #rrggbb. `window` is chrome, `base` the reading surface, `raised` cards, code and fields."""

    is_dark: bool
    window: str
    base: str
    raised: str
    hover: str
    hairline: str
    outline: str
    text: str
    muted: str
    accent: str
    on_accent: str
    accent_tint: str
    selection: str
    danger: str
    warning: str
    success: str
    code: CodeColours


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour, 0 to 1 (WCAG 2.1)."""
    c = QColor(colour)

    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF())


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1)."""
    la, lb = sorted((luminance(a), luminance(b)), reverse=True)
    return (la + 0.05) / (lb + 0.05)


def mix(a: str, b: str, share: float) -> str:
    """Colour a with `share` (0 to 1) of b in it, mixed in sRGB."""
    ca, cb = QColor(a), QColor(b)
    channels = (
        round(x + (y - x) * share) for x, y in ((ca.red(), cb.red()), (ca.green(), cb.green()), (ca.blue(), cb.blue()))
    )
    return "#{:02x}{:02x}{:02x}".format(*channels)


def ensure_contrast(colour: str, surfaces: tuple[str, ...], ratio: float) -> str:
    """The nearest colour to `colour`, towards black or white, with at least `ratio` on every surface."""
    mean = sum(luminance(surface) for surface in surfaces) / len(surfaces)
    goal = "#000000" if mean > 0.18 else "#ffffff"
    for step in range(51):
        candidate = mix(colour, goal, step / 50)
        if all(contrast(candidate, surface) >= ratio for surface in surfaces):
            return candidate
    return goal


_CODE_LIGHT = CodeColours("#5f6b76", "#8430a8", "#1f7a3d", "#9a4a00", "#1a5fb4", "#0b6e79", "#1f7a3d", "#b3261e")
_CODE_DARK = CodeColours("#98a2ad", "#d7a1f0", "#8fd19e", "#f0b27a", "#8ab8ff", "#6fd3dc", "#8fd19e", "#ff9c94")


def _readable_code(colours: CodeColours, surface: str) -> CodeColours:
    names = CodeColours.__dataclass_fields__
    return CodeColours(**{name: ensure_contrast(getattr(colours, name), (surface,), READABLE) for name in names})


def theme_from_palette(palette: QPalette) -> Theme:
    """Derive every colour from the palette's window, base, text and accent."""
    window, base = palette.window().color().name(), palette.base().color().name()
    is_dark = luminance(base) < 0.18
    raised = mix(base, "#ffffff" if is_dark else "#10141c", 0.06 if is_dark else 0.045)
    hover = mix(base, "#ffffff" if is_dark else "#10141c", 0.11 if is_dark else 0.085)
    surfaces = (window, base, raised)
    text = ensure_contrast(palette.text().color().name(), (*surfaces, hover), 7.0)
    accent = ensure_contrast(palette.accent().color().name(), surfaces, READABLE)
    signals = ("#ff8a80", "#f2c14e", "#7fd89a") if is_dark else ("#b3261e", "#8a5a00", "#1f7a3d")
    danger, warning, success = (ensure_contrast(signal, surfaces, READABLE) for signal in signals)
    on_accent = max(("#ffffff", "#000000"), key=lambda c: contrast(c, accent))
    return Theme(
        is_dark=is_dark,
        window=window,
        base=base,
        raised=raised,
        hover=hover,
        hairline=mix(base, text, 0.15 if is_dark else 0.12),
        outline=ensure_contrast(mix(base, text, 0.4), (window, base), VISIBLE),
        text=text,
        muted=ensure_contrast(mix(text, base, 0.36), (*surfaces, hover), READABLE),
        accent=accent,
        on_accent=on_accent,
        accent_tint=mix(base, accent, 0.16 if is_dark else 0.1),
        selection=mix(base, accent, 0.4 if is_dark else 0.28),
        danger=danger,
        warning=warning,
        success=success,
        code=_readable_code(_CODE_DARK if is_dark else _CODE_LIGHT, raised),
    )


def make_palette(window: str, base: str, text: str, accent: str) -> QPalette:
    """A whole Fusion palette from four colours; disabled text is dimmed."""
    palette = QPalette(QColor(window))
    is_dark = luminance(base) < 0.18
    roles = QPalette.ColorRole
    raised = mix(base, "#ffffff" if is_dark else "#10141c", 0.06)
    pairs = {
        roles.Window: window,
        roles.Base: base,
        roles.AlternateBase: raised,
        roles.Button: raised,
        roles.ToolTipBase: raised,
        roles.ToolTipText: text,
        roles.Text: text,
        roles.WindowText: text,
        roles.ButtonText: text,
        roles.BrightText: text,
        roles.PlaceholderText: mix(text, base, 0.38),
        roles.Accent: accent,
        roles.Highlight: accent,
        roles.HighlightedText: max(("#ffffff", "#000000"), key=lambda c: contrast(c, accent)),
        roles.Link: accent,
    }
    for role, colour in pairs.items():
        palette.setColor(role, QColor(colour))
    for role in (roles.Text, roles.WindowText, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(mix(text, base, 0.5)))
    return palette


def light_palette() -> QPalette:
    """Our light palette, for desktops without one and for a forced light theme."""
    return make_palette("#f4f5f6", "#ffffff", "#1a1d21", "#0b7285")


def dark_palette() -> QPalette:
    """Our dark palette, for a forced dark theme."""
    return make_palette("#17191c", "#1d2024", "#e8eaed", "#4cc2d1")
