"""KL row by row for one domain: where along the tape two arms part. The limit is a line, the worst row a mark. GUI
thread."""

from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QFont, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.telemetry.chart_style import line_pen, make_plot, series_colours, style_plot
from app.theme import Theme
from engine.qualify.records import DomainVerdict, PairStatistics

_HEIGHT = 180


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualifyPage", text)


def shown_pair(verdict: DomainVerdict) -> PairStatistics:
    """The cross pair that is furthest apart."""
    return max(verdict.cross, key=lambda pair: pair.mean_kl)


class KlChart(QWidget):
    """Made when first shown."""

    def __init__(self, theme: Theme, small: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._small = theme, small
        self._verdict: DomainVerdict | None = None
        self._plot: Any = None
        self._curve: Any = None
        self._limit: Any = None
        self._mark: Any = None
        self.setFixedHeight(_HEIGHT)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def showEvent(self, event: QShowEvent) -> None:
        if self._plot is None:
            self._make()
        super().showEvent(event)

    def show_verdict(self, verdict: DomainVerdict | None) -> None:
        self._verdict = verdict
        if self._plot is not None:
            self._draw()

    def set_theme(self, theme: Theme, small: QFont) -> None:
        self._theme, self._small = theme, small
        if self._plot is not None:
            self._style()

    def _make(self) -> None:
        import pyqtgraph

        self._plot = make_plot(_tr("KL of each row"))
        self._curve = self._plot.plot()
        self._mark = self._plot.plot(pen=None, symbol="o", symbolSize=8)
        self._limit = pyqtgraph.InfiniteLine(angle=0)
        self._plot.addItem(self._limit)
        self._column.addWidget(self._plot)
        self._style()
        self._draw()

    def _style(self) -> None:
        colours = series_colours(self._theme)
        style_plot(self._plot, self._theme, self._small)
        self._curve.setPen(line_pen(colours.prefill))
        self._limit.setPen(line_pen(colours.mask, dashed=True))
        self._mark.setSymbolBrush(QColor(colours.decode))
        self._mark.setSymbolPen(QColor(colours.decode))

    def _draw(self) -> None:
        if self._verdict is None or not self._verdict.cross:
            self._curve.setData([], [])
            self._mark.setData([], [])
            return
        pair = shown_pair(self._verdict)
        limit = next(check.limit for check in self._verdict.checks if check.rule == "mean KL")
        self._curve.setData(list(range(1, len(pair.row_kl) + 1)), list(pair.row_kl))
        self._mark.setData([pair.worst_row + 1], [pair.worst_kl])
        self._limit.setValue(limit)
        self._plot.setXRange(0, len(pair.row_kl) + 1, padding=0)
        self._plot.setYRange(0, max(limit, pair.worst_kl) * 1.15, padding=0)
