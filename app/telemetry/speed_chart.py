"""The chart of prefill and decode speed over one run: two plots on one time axis, since the scales differ a
hundredfold. A speed without a line yet has no plot; the chart's place in the panel stays. GUI thread."""

from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.telemetry.chart_library import charts_are_ready
from app.telemetry.chart_style import line_pen, make_plot, scale_ticks, series_colours, style_plot
from app.telemetry.live_meter import SpeedPoint
from app.theme import Theme
from app.widgets.basics import label

_PLOT_HEIGHT = 72
_RETRY_MS = 50


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
        for key in self._plots:
            self._style(key)

    def _make(self, key: str) -> None:
        """The plot of one speed: a fiftieth of a second of work, so each is made when it has its first line."""
        names = {"prefill": _tr("Prefill speed over time"), "decode": _tr("Decode speed over time")}
        plot = make_plot(names[key], "s")
        self._plots[key] = plot
        self._curves[key] = plot.plot(connect="finite")
        self._column.insertWidget(1 if key == "prefill" else self._column.count(), plot)  # after the empty text
        self._style(key)

    def _style(self, key: str) -> None:
        colours = series_colours(self._theme)
        style_plot(self._plots[key], self._theme, self._small)
        self._curves[key].setPen(line_pen(colours.prefill if key == "prefill" else colours.decode))

    @property
    def drawn(self) -> tuple[str, ...]:
        """The speeds that have a plot now: those with a line, which takes two points."""
        return tuple(key for key in ("prefill", "decode") if key in self._plots and not self._plots[key].isHidden())

    def _draw(self) -> None:
        if not charts_are_ready():
            self._retry.start()
            return
        end = self._points[-1].at_s if self._points else 1.0
        prefill = [(point.at_s, point.prefill) for point in self._points if point.prefill is not None]
        decode = [(point.at_s, point.decode) for point in self._points if point.decode is not None]
        lines = {"prefill": prefill, "decode": decode}
        with_line = [key for key, line in lines.items() if len(line) >= 2]
        self._empty.setVisible(not with_line)
        for key in with_line:
            if key not in self._plots:
                self._make(key)
        for key, plot in self._plots.items():
            line = lines[key]
            plot.setVisible(key in with_line)
            plot.showAxis("bottom", bool(with_line) and key == with_line[-1])
            self._curves[key].setData([at for at, _ in line], [value for _, value in line])
            top = max((value for _, value in line), default=0.0)
            plot.setYRange(0, top * 1.15 or 1.0, padding=0)
            plot.getAxis("left").setTicks(scale_ticks(top))
            plot.setXRange(0, max(1.0, end), padding=0)
