"""How charts look: series colours that stay apart for colour-blind people in both themes, and a bare plot widget.

GUI thread.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QColor, QFont

from app.theme import VISIBLE, Theme, ensure_contrast
from app.widgets.formats import count, isolated


@dataclass(frozen=True, slots=True)
class SeriesColours:
    """#rrggbb, after Okabe and Ito's palette: blue against orange differ for every kind of colour blindness."""

    prefill: str
    decode: str
    held: str
    plain: str
    mask: str


def series_colours(theme: Theme) -> SeriesColours:
    """The series' colours on the theme's base, each at least 3:1 against it."""
    wished = ("#56b4e9", "#e69f00", "#56b4e9", "#e69f00", "#8d949c") if theme.is_dark else (
        "#0072b2", "#c45100", "#0072b2", "#c45100", "#7a828a"
    )  # fmt: skip
    return SeriesColours(*(ensure_contrast(colour, (theme.base,), VISIBLE) for colour in wished))


def make_plot(name: str, unit: str = "") -> Any:  # Any: pyqtgraph has no types
    """A plot without menus, buttons or mouse: a picture. `name` is what a screen reader says, `unit` that of x."""
    import pyqtgraph

    plot = pyqtgraph.PlotWidget()
    plot.setAccessibleName(name)
    plot.setMouseEnabled(x=False, y=False)
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setFrameShape(plot.Shape.NoFrame)
    plot.getPlotItem().setContentsMargins(0, 4, 8, 0)
    plot.getPlotItem().setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # mirrored, pyqtgraph parts axis and grid
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.enableAutoSIPrefix(False)
        axis.tickStrings = functools.partial(tick_strings, unit=unit if side == "bottom" else "")
        axis.setStyle(tickLength=0, tickTextOffset=6, autoReduceTextSpace=False, maxTickLevel=0)
    plot.getAxis("left").setWidth(48)
    return plot


def style_plot(plot: Any, theme: Theme, small: QFont) -> None:
    """Put the theme's colours and the small font on a plot's surface and axes."""
    plot.setBackground(QColor(theme.base))
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(QColor(theme.hairline))
        axis.setTextPen(QColor(theme.muted))
        axis.setTickFont(small)
    plot.showGrid(x=False, y=True, alpha=0.25)


def line_pen(colour: str, *, dashed: bool = False) -> Any:
    """A two-pixel line."""
    import pyqtgraph

    return pyqtgraph.mkPen(QColor(colour), width=2, style=Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine)


def tick_strings(values: Sequence[float], scale: float, spacing: float, unit: str = "") -> list[str]:
    """Ticks in the locale's digits, with the unit."""
    del spacing
    numbers = [axis_number(value * scale) for value in values]
    return [isolated(f"{number} {unit}") for number in numbers] if unit else numbers


def axis_number(value: float) -> str:
    """A number beside an axis: whole numbers whole, others without trailing zeros."""
    is_whole = abs(value) >= 100 or value == round(value)
    return count(round(value)) if is_whole else QLocale().toString(value, "g", 3)


def scale_ticks(top: float) -> list[list[tuple[float, str]]]:
    """Two ticks for a small plot from 0 to `top`: 0, and the largest of 1, 2, 5 times a power of ten that fits."""
    if top <= 0:
        return [[]]
    power = 10.0 ** math.floor(math.log10(top))
    nice = max(step * power for step in (1, 2, 5) if step * power <= top * (1 + 1e-9))
    return [[(0.0, "0"), (nice, axis_number(nice))]]
