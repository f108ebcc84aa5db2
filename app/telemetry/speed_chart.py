"""The chart of prefill and decode speed over one run: two plots on one time axis, since the scales differ a
hundredfold. A speed without a line yet has no plot; the chart's place in the panel stays. GUI thread."""

from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.telemetry.chart_style import charts_are_ready, line_pen, make_plot, scale_ticks, series_colours, style_plot
from app.telemetry.live_meter import SpeedPoint
from app.theme import Theme
from app.widgets.basics import label

_PLOT_HEIGHT = 72
_RETRY_MS = 200


def _tr(text: str) -> str:
    return QCoreApplication.translate("LivePanel", text)


class SpeedChart(QWidget):
    """Give it the points of the run whenever they have changed."""

    def __init__(self, theme: Theme, small: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._small = theme, small
        self._points: tuple[SpeedPoint, ...] = ()
        self._plots: dict[str, Any] = {}
        self._curves: dict[str, Any] = {}
        self._empty = label(_tr("Speeds over time appear here."), tone="muted", size="small")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setFixedHeight(2 * _PLOT_HEIGHT + 20)
        self._retry = QTimer(self, singleShot=True, interval=_RETRY_MS)
        self._retry.timeout.connect(self._draw)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._empty)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._retry.start()  # what a plot needs is imported once the window stands

    def show_points(self, points: tuple[SpeedPoint, ...]) -> None:
        if points == self._points:
            return
        self._points = points
        if self.isVisible():
            self._draw()

    def set_theme(self, theme: Theme, small: QFont) -> None:
        self._theme, self._small = theme, small
        if self._plots:
            self._style()

    def _make(self) -> None:
        names = {"prefill": _tr("Prefill speed over time"), "decode": _tr("Decode speed over time")}
        for key, name in names.items():
            plot = make_plot(name, "s")
            self._plots[key] = plot
            self._curves[key] = plot.plot(connect="finite")
            self._column.addWidget(plot)
        self._plots["decode"].setXLink(self._plots["prefill"])
        self._style()

    def _style(self) -> None:
        colours = series_colours(self._theme)
        for key, colour in (("prefill", colours.prefill), ("decode", colours.decode)):
            style_plot(self._plots[key], self._theme, self._small)
            self._curves[key].setPen(line_pen(colour))

    @property
    def drawn(self) -> tuple[str, ...]:
        """The speeds that have a plot now: those with a line, which takes two points."""
        return tuple(key for key, plot in self._plots.items() if not plot.isHidden())

    def _draw(self) -> None:
        if not charts_are_ready():
            self._retry.start()
            return
        if not self._plots:
            if len(self._points) < 2:
                return
            self._make()
        end = self._points[-1].at_s if self._points else 1.0
        prefill = [(point.at_s, point.prefill) for point in self._points if point.prefill is not None]
        decode = [(point.at_s, point.decode) for point in self._points if point.decode is not None]
        lines = {"prefill": prefill, "decode": decode}
        with_line = [key for key, line in lines.items() if len(line) >= 2]
        self._empty.setVisible(not with_line)
        for key, line in lines.items():
            self._plots[key].setVisible(key in with_line)
            self._plots[key].showAxis("bottom", key == with_line[-1] if with_line else False)
            self._curves[key].setData([at for at, _ in line], [value for _, value in line])
            top = max((value for _, value in line), default=0.0)
            self._plots[key].setYRange(0, top * 1.15 or 1.0, padding=0)
            self._plots[key].getAxis("left").setTicks(scale_ticks(top))
            self._plots[key].setXRange(0, max(1.0, end), padding=0)
