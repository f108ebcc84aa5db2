"""Speed against depth: rows as points over the tokens in the session, an earlier run dashed. GUI thread."""

from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QFont, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.telemetry.chart_style import line_pen, make_plot, scale_ticks, series_colours, style_plot
from app.telemetry.figure_tile import Swatch
from app.theme import Theme, mix
from app.widgets.basics import label
from engine.bench.records import BenchRow, Figure

_PLOT_HEIGHT, _AXIS_HEIGHT = 88, 20
_FIGURES = (Figure.PREFILL, Figure.DECODE)
Points = list[tuple[float, float]]


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchmarkPanel", text)


class _Title(QWidget):
    """The colour of a curve and its name."""

    def __init__(self, text: str, colour: str) -> None:
        super().__init__()
        self.swatch = Swatch(colour)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.swatch)
        line.addWidget(label(text, tone="muted", size="small"), 1)


def depth_points(rows: tuple[BenchRow, ...], figure: Figure) -> Points:
    """(tokens in the session when the figure was taken, mean speed), by depth. A prompt stands at its end."""
    found = [(float(row.context), stats.mean) for row in rows if (stats := row.stats(figure)) is not None]
    return sorted(found)


class DepthChart(QWidget):
    """Two plots on one axis of tokens, prefill above decode."""

    def __init__(self, theme: Theme, small: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._small = theme, small
        self._rows: tuple[BenchRow, ...] = ()
        self._earlier: tuple[BenchRow, ...] = ()
        self._plots: dict[Figure, Any] = {}
        self._curves: dict[tuple[Figure, bool], Any] = {}
        self._titles = {
            Figure.PREFILL: _Title(_tr("Prefill tok/s against tokens in the session"), theme.muted),
            Figure.DECODE: _Title(_tr("Decode tok/s"), theme.muted),
        }
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 8, 0, 0)
        self._column.setSpacing(0)

    def showEvent(self, event: QShowEvent) -> None:
        if not self._plots:
            self._make()
        super().showEvent(event)

    @property
    def has_curve(self) -> bool:
        """Whether any figure is known at two depths; a single point is no curve."""
        return any(len({x for x, _ in depth_points(self._rows, figure)}) > 1 for figure in _FIGURES)

    def show_rows(self, rows: tuple[BenchRow, ...], earlier: tuple[BenchRow, ...] = ()) -> None:
        self._rows, self._earlier = rows, earlier
        if self._plots:
            self._draw()

    def set_theme(self, theme: Theme, small: QFont) -> None:
        self._theme, self._small = theme, small
        if self._plots:
            self._style()

    def _make(self) -> None:
        names = {
            Figure.PREFILL: _tr("Prefill speed against tokens in the session"),
            Figure.DECODE: _tr("Decode speed against tokens in the session"),
        }
        for figure, name in names.items():
            plot = make_plot(name)
            for is_earlier in (True, False):
                self._curves[figure, is_earlier] = plot.plot(symbol="o", symbolSize=6)
            plot.setFixedHeight(_PLOT_HEIGHT + (_AXIS_HEIGHT if figure is Figure.DECODE else 0))
            self._plots[figure] = plot
            self._column.addWidget(self._titles[figure])
            self._column.addWidget(plot)
        self._plots[Figure.DECODE].setXLink(self._plots[Figure.PREFILL])
        self._style()
        self._draw()

    def _style(self) -> None:
        colours = series_colours(self._theme)
        for figure, colour in ((Figure.PREFILL, colours.prefill), (Figure.DECODE, colours.decode)):
            style_plot(self._plots[figure], self._theme, self._small)
            self._titles[figure].swatch.set_colour(colour)
            for is_earlier in (True, False):
                tone = mix(colour, self._theme.base, 0.45) if is_earlier else colour
                curve = self._curves[figure, is_earlier]
                curve.setPen(line_pen(tone, dashed=is_earlier))
                curve.setSymbolBrush(QColor(tone))
                curve.setSymbolPen(QColor(tone))

    def _draw(self) -> None:
        deepest = 1.0
        has_decode = bool(depth_points(self._rows, Figure.DECODE))
        self._plots[Figure.PREFILL].showAxis("bottom", not has_decode)
        self._plots[Figure.PREFILL].setFixedHeight(_PLOT_HEIGHT + (0 if has_decode else _AXIS_HEIGHT))
        for figure, plot in self._plots.items():
            for widget in (self._titles[figure], plot):
                widget.setVisible(bool(depth_points(self._rows, figure)))
            now, before = depth_points(self._rows, figure), depth_points(self._earlier, figure)
            for line, is_earlier in ((before, True), (now, False)):
                self._curves[figure, is_earlier].setData([x for x, _ in line], [y for _, y in line])
            top = max((y for _, y in now + before), default=0.0)
            deepest = max([deepest, *(x for x, _ in now + before)])
            plot.setYRange(0, top * 1.15 or 1.0, padding=0)
            plot.getAxis("left").setTicks(scale_ticks(top))
        self._plots[Figure.PREFILL].setXRange(-0.03 * deepest, deepest * 1.05, padding=0)
