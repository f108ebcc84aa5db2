"""The Live panel: what the engine is doing now, how fast, and what memory it takes. GUI thread.

Connect `EngineHost.event_arrived` to `consume`. Events only change the meter; painting happens on a timer, ten times
a second at most, and only while the panel is visible.
"""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.protocol.events import Event
from app.telemetry import live_words
from app.telemetry.chart_style import series_colours
from app.telemetry.figure_tile import FigureTile
from app.telemetry.fonts import numeric_font
from app.telemetry.live_meter import Activity, LiveFigures, LiveMeter
from app.telemetry.machine_memory import MachineMemory, MemoryPoller, read_machine_memory
from app.telemetry.memory_section import MemorySection
from app.telemetry.speed_chart import SpeedChart
from app.telemetry.speed_table import SpeedTable
from app.theme import Theme, theme_from_palette
from app.widgets import formats
from app.widgets.basics import hairline, label
from app.window_panel import Panel
from engine.ledger import MemoryReport

PAINT_MS = 100


def _tr(text: str) -> str:
    return QCoreApplication.translate("LivePanel", text)


class LivePanel(Panel):
    """See the module's text. Call `shutdown` before the application ends."""

    def __init__(
        self,
        theme: Theme | None = None,
        read_memory: Callable[[], MachineMemory] = read_machine_memory,
        meter: LiveMeter | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        theme = theme or theme_from_palette(QApplication.palette())
        colours = series_colours(theme)
        self._meter = meter or LiveMeter()
        self._is_dirty = True
        self._shown_report: MemoryReport | None = None
        self.heading = label(tone="strong")
        self.progress_text = label(tone="muted", size="small", wraps=True)
        self.bar = QProgressBar()
        self.prefill = FigureTile(_tr("Prefill"), colours.prefill)
        self.decode = FigureTile(_tr("Decode"), colours.decode)
        self.facts: dict[str, QLabel] = {}
        self.chart = SpeedChart(theme, numeric_font())
        self.speed_table = SpeedTable()
        self.as_tables = QCheckBox(_tr("Show tables instead of charts"))
        self.memory = MemorySection(theme)
        self._poller = MemoryPoller(read_memory, self)
        self._timer = QTimer(self, interval=PAINT_MS)
        self._build()
        self.set_theme(theme)
        self._connect()
        self.paint_now()

    def consume(self, event: Event) -> None:
        """Take in an event of the engine host."""
        self._meter.consume(event)
        self._is_dirty = True

    def set_theme(self, theme: Theme) -> None:
        colours = series_colours(theme)
        self.prefill.swatch.set_colour(colours.prefill)
        self.decode.swatch.set_colour(colours.decode)
        for tile in (self.prefill, self.decode):
            tile.apply_font()
        for value in self.facts.values():
            value.setFont(numeric_font())
        self.progress_text.setFont(numeric_font())
        self.chart.set_theme(theme, numeric_font())
        self.speed_table.apply_font(numeric_font())
        self.memory.set_theme(theme)

    def shutdown(self) -> None:
        """Stop reading the machine's memory."""
        self._timer.stop()
        self._poller.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._poller.start()
        self._timer.start()
        self.paint_now()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        self._poller.stop()
        super().hideEvent(event)

    def paint_now(self) -> None:
        """Put the meter's numbers on the widgets."""
        self._is_dirty = False
        figures = self._meter.figures
        self.heading.setText(live_words.heading(figures))
        self.progress_text.setText(live_words.progress_text(figures))
        self.prefill.show_speed(figures.prefill_now, figures.prefill_run)
        self.decode.show_speed(figures.decode_now, figures.decode_run)
        self._show_bar(figures)
        self._show_facts(figures)
        if self.as_tables.isChecked():
            self.speed_table.show_points(self._meter.points)
        else:
            self.chart.show_points(self._meter.points)
        if figures.report is not self._shown_report:
            self._shown_report = figures.report
            self.memory.show_report(figures.report)

    def _build(self) -> None:
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(_tr("Prompt read"))
        place = self.bar.sizePolicy()
        place.setRetainSizeWhenHidden(True)  # nothing below it moves when a run begins
        self.bar.setSizePolicy(place)
        tiles = QHBoxLayout()
        tiles.setSpacing(16)
        tiles.addWidget(self.prefill, 1)
        tiles.addWidget(self.decode, 1)
        inside = QWidget()
        inside.setObjectName("page")  # the reading surface, as the panel itself
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self.heading)
        column.addWidget(self.bar)
        column.addWidget(self.progress_text)
        column.addSpacing(8)
        column.addLayout(tiles)
        column.addWidget(self.chart)
        column.addWidget(self.speed_table)
        column.addLayout(self._build_facts())
        column.addWidget(hairline())
        column.addWidget(self.memory)
        column.addWidget(hairline())
        column.addWidget(self.as_tables)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)
        self.speed_table.hide()

    def _build_facts(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        names = {
            "first_token": _tr("Time to first token"),
            "left": _tr("Prompt time left"),
            "prompt": _tr("Prompt"),
            "reused": _tr("Reused from cache"),
            "answer": _tr("Answer"),
        }
        for row, (key, name) in enumerate(names.items()):
            value = label(formats.UNKNOWN, size="small")
            grid.addWidget(label(name, tone="muted", size="small"), row, 0)
            grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignRight)
            self.facts[key] = value
        return grid

    def _connect(self) -> None:
        self._timer.timeout.connect(self._on_time_up)
        self._poller.read.connect(self.memory.show_machine)
        self.as_tables.toggled.connect(self._on_as_tables_toggled)

    def _show_bar(self, figures: LiveFigures) -> None:
        at = figures.progress
        share = at.tokens_done / at.tokens_total if at is not None and at.tokens_total else 0.0
        self.bar.setValue(round(1000 * share))
        self.bar.setVisible(figures.activity in (Activity.STARTING, Activity.PREFILL))

    def _show_facts(self, figures: LiveFigures) -> None:
        is_reading = figures.activity in (Activity.STARTING, Activity.PREFILL)
        left = formats.time_left(figures.left_s)
        texts = {
            "first_token": formats.duration(figures.first_token_s),
            "left": left if is_reading else formats.UNKNOWN,
            "prompt": _tokens(figures.prompt_tokens),
            "reused": _tokens(figures.reused),
            "answer": _tokens(figures.answer_tokens),
        }
        for key, text in texts.items():
            self.facts[key].setText(text)

    def _on_time_up(self) -> None:
        if self._is_dirty:
            self.paint_now()

    def _on_as_tables_toggled(self, is_table: bool) -> None:
        self.chart.setVisible(not is_table)
        self.speed_table.setVisible(is_table)
        self.memory.show_as_table(is_table)
        self.paint_now()


def _tokens(value: int | None) -> str:
    return formats.UNKNOWN if value is None else formats.tokens(value)
