"""One bar a layer on a logarithmic scale: bytes held now, what plain attention would hold, masks never allocated.

What is held is a solid bar; the other two are marks above it, so that 43 layers fit the panel and can still be told
apart. The table twin has the same numbers (layer_table). GUI thread.
"""

import math

from PySide6.QtCore import QEvent, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app.telemetry.chart_style import series_colours
from app.telemetry.layer_table import layer_sentence
from app.theme import Theme
from app.widgets.formats import power_of_1024
from engine.ledger import LayerMemory, MemoryReport

_HEIGHT = 148
_FOOT = 18
_MARK = 3
_FAINT = 36  # alpha of what plain attention would hold beyond what is held
_DECADE = 10  # powers of two between grid lines: KiB, MiB, GiB


class LayerBars(QWidget):
    """Shows a MemoryReport; a tooltip tells the numbers of the layer under the pointer."""

    def __init__(self, theme: Theme, small: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._small = theme, small
        self._report: MemoryReport | None = None
        self.setFixedHeight(_HEIGHT)
        self.setMouseTracking(True)

    def show_report(self, report: MemoryReport | None) -> None:
        self._report = report
        self.update()

    def set_theme(self, theme: Theme, small: QFont) -> None:
        self._theme, self._small = theme, small
        self.update()

    def layer_at(self, x: float) -> LayerMemory | None:
        """The layer whose bar is drawn at a horizontal position."""
        area = self._area()
        if self._report is None or not self._report.layers or not area.left() <= x < area.right():
            return None
        layers = self._report.layers
        return layers[min(len(layers) - 1, int((x - area.left()) / area.width() * len(layers)))]

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            layer = self.layer_at(event.pos().x())
            QToolTip.showText(event.globalPos(), "" if layer is None else layer_sentence(layer), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setFont(self._small)
        area, scale = self._area(), self._scale()
        self._paint_grid(painter, area, scale)
        if self._report is not None:
            self._paint_bars(painter, area, scale, self._report.layers)
        painter.end()

    def _area(self) -> QRectF:
        gutter = QFontMetricsF(self._small).horizontalAdvance(power_of_1024(3)) + 8
        return QRectF(gutter, 6, max(1.0, self.width() - gutter - 8), _HEIGHT - _FOOT - 6)

    def _scale(self) -> tuple[int, int]:
        """Exponents of two of the lowest and the highest grid line."""
        values = [value for layer in (self._report.layers if self._report else ()) for value in _values(layer) if value]
        if not values:
            return 10, 30
        low = math.floor(math.log2(min(values)) / _DECADE) * _DECADE
        return low, max(math.ceil(math.log2(max(values)) + 0.5), low + _DECADE)

    def _paint_grid(self, painter: QPainter, area: QRectF, scale: tuple[int, int]) -> None:
        metrics = QFontMetricsF(self._small)
        for exponent in range(scale[0], scale[1] + 1, _DECADE):
            y = area.bottom() - area.height() * _share(2.0**exponent, scale)
            painter.setPen(QPen(QColor(self._theme.hairline), 1))
            painter.drawLine(int(area.left()), round(y), int(area.right()), round(y))
            painter.setPen(QColor(self._theme.muted))
            text = power_of_1024(exponent // _DECADE)
            baseline = min(max(y + metrics.ascent() / 2 - 1, metrics.ascent()), area.bottom() + 2)
            painter.drawText(int(area.left() - metrics.horizontalAdvance(text) - 6), round(baseline), text)

    def _paint_bars(
        self, painter: QPainter, area: QRectF, scale: tuple[int, int], layers: tuple[LayerMemory, ...]
    ) -> None:
        colours = series_colours(self._theme)
        slot = area.width() / max(1, len(layers))
        width = max(1.0, min(slot * 0.72, 28.0))
        for index, layer in enumerate(layers):
            left = area.left() + slot * (index + 0.5) - width / 2
            held, plain, mask = _values(layer)
            faint = QColor(colours.plain)
            faint.setAlpha(_FAINT)
            for value, colour in ((plain, faint), (held, QColor(colours.held))):
                height = area.height() * _share(value, scale)
                painter.fillRect(QRectF(left, area.bottom() - height, width, height), colour)
            for value, name in ((plain, colours.plain), (mask, colours.mask)):
                if value:
                    y = area.bottom() - area.height() * _share(value, scale)
                    painter.fillRect(QRectF(left, y - _MARK / 2, width, _MARK), QColor(name))
        self._paint_numbers(painter, area, slot, len(layers))

    def _paint_numbers(self, painter: QPainter, area: QRectF, slot: float, count: int) -> None:
        """Layer numbers below the bars, as many as have room; layers count from 0 as in the file."""
        metrics = QFontMetricsF(self._small)
        every = next(
            step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if step * slot > metrics.horizontalAdvance("000")
        )
        painter.setPen(QColor(self._theme.muted))
        for index in range(0, count, every):
            text = str(index)
            x = area.left() + slot * (index + 0.5) - metrics.horizontalAdvance(text) / 2
            painter.drawText(round(x), round(area.bottom() + metrics.ascent() + 4), text)


def _values(layer: LayerMemory) -> tuple[int, int, int]:
    return layer.held_bytes, layer.plain_bytes, layer.mask_bytes


def _share(value: float, scale: tuple[int, int]) -> float:
    """Height of a value between the scale's ends, 0 to 1; nothing has no height."""
    if value <= 0:
        return 0.0
    return min(1.0, max(0.0, (math.log2(value) - scale[0]) / (scale[1] - scale[0])))
