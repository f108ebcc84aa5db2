"""The Benchmark panel: a view that shows what it is given and says what the person wants. GUI thread.

`BenchmarkController` stands between it and the engine host; a test may stand there instead. Buttons are a function of
`BenchState` and of the reason, if any, why nothing may start.
"""

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QScrollArea,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.bench import words
from app.bench.after_run import AfterRun
from app.bench.depth_chart import DepthChart
from app.bench.table_model import AGAINST, RUNS, SPEED, TEST, BenchTableModel
from app.sentences import translated
from app.telemetry.fonts import numeric_font
from app.theme import Theme, theme_from_palette
from app.widgets.basics import button, hairline, label, set_tone
from app.widgets.toast import announce
from app.window_panel import Panel
from engine.bench.history import History, SavedRun, compare_runs, setting_changes
from engine.bench.plans import Plan
from engine.bench.records import BenchEnded, BenchProgressed, BenchRow, BenchRun, BenchStarted, BenchUpdate, RowMeasured

_ROW_PADDING = 6
_SHOWN_LINES = 14


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchmarkPanel", text)


class BenchState(Enum):
    """What the panel's benchmark is doing."""

    IDLE = "idle"
    WAITING = "waiting"  # asked for; the engine has not begun
    RUNNING = "running"
    STOPPING = "stopping"


class BenchmarkPanel(Panel):
    """See the module's text."""

    start_requested = Signal(object)  # Plan
    stop_requested = Signal()
    earlier_requested = Signal(object)  # Path of a saved run, or None to compare with nothing
    export_requested = Signal(object, object)  # BenchRun, Path
    qualification_requested = Signal()  # the page that checks answers rather than speed

    def __init__(self, theme: Theme | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        theme = theme or theme_from_palette(QApplication.palette())
        self._state = BenchState.IDLE
        self._blocked = ""
        self._run: BenchRun | None = None
        self._earlier: BenchRun | None = None
        self._planned: tuple[BenchRow, ...] = ()
        self.plans = QComboBox()
        self.start_button = button(_tr("Start"), self._on_start_clicked, kind="primary")
        self.plan_text = label(tone="muted", size="small", wraps=True)
        self.notice = label(tone="warning", size="small", wraps=True)
        self.bar = QProgressBar()
        self.progress_text = label(tone="muted", size="small", wraps=True)
        self.model = BenchTableModel()
        self.table = QTableView()
        self.details = label(tone="muted", size="small", wraps=True)
        self.chart = DepthChart(theme, numeric_font())
        self.after = AfterRun()
        self.qualify_button = button(_tr("Qualification…"), self.qualification_requested.emit)
        self._build()
        self.set_theme(theme)
        self._on_plan_changed()
        self._refresh()

    # ------------------------------------------------------------ what it is given

    @property
    def state(self) -> BenchState:
        return self._state

    @property
    def run(self) -> BenchRun | None:
        """The newest run that has ended, while it is shown."""
        return self._run

    def set_blocked(self, reason: str) -> None:
        """Why nothing may start now, in a sentence; empty when it may."""
        self._blocked = reason
        self._refresh()

    def set_state(self, state: BenchState) -> None:
        if state is self._state:
            return
        if state is BenchState.WAITING:
            self._show_notice("", "warning")
            self.progress_text.setText(_tr("Waiting for the engine"))
            self.bar.setValue(0)
        elif state is BenchState.RUNNING:
            announce(self, _tr("Benchmark running"))
        elif state is BenchState.IDLE:
            announce(self, _tr("Benchmark ended"))
        self._state = state
        self._refresh()

    def show_update(self, update: BenchUpdate) -> None:
        """Take in an update of the running plan."""
        if isinstance(update, BenchStarted):
            self._start(update)
        elif isinstance(update, BenchProgressed):
            self.bar.setValue(round(1000 * update.share))
            self.progress_text.setText(words.progress_text(update, self._planned[update.row - 1].label))
        elif isinstance(update, RowMeasured):
            self.model.show_row(update.index, update.row)
            self._show_rows()
        elif isinstance(update, BenchEnded):
            self._run = update.run
            self.after.show_run(update.run)
            self.details.setText("\n".join(words.run_notes(update.run)))
            self._show_notice(words.not_quiet_text(update.run.not_quiet), "warning")
            self._compare()

    def show_failure(self, message: str) -> None:
        """The plan could not be finished. Rows measured before stay."""
        self._show_notice(translated(message), "danger")

    def show_saved(self, text: str) -> None:
        """What became of a file, in a sentence."""
        self._show_notice(text, "muted")

    def show_history(self, history: History, selected: Path | None = None) -> None:
        """The list of runs to compare with; `selected` is kept if it is still there."""
        self.after.show_history(history, selected)

    def show_earlier(self, saved: SavedRun | None) -> None:
        """Compare with this run from now on; None takes the comparison away."""
        self._earlier = None if saved is None else saved.run
        self._compare()

    def set_theme(self, theme: Theme) -> None:
        font = numeric_font()
        self.chart.set_theme(theme, font)
        self.table.setFont(font)
        self.progress_text.setFont(font)
        self.details.setFont(font)
        self._fit_table()

    # ------------------------------------------------------------ inside

    def _build(self) -> None:
        for plan in Plan:
            self.plans.addItem(words.plan_name(plan), plan)
        self.plans.setAccessibleName(_tr("Benchmark plan"))
        self.plans.currentIndexChanged.connect(self._on_plan_changed)
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(_tr("Benchmark progress"))
        self.after.earlier_requested.connect(self.earlier_requested)
        self.after.export_requested.connect(self.export_requested)
        self.after.copied.connect(lambda: self.show_saved(_tr("Copied as Markdown.")))
        self._build_table()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._build_column())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)

    def _build_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setAccessibleName(_tr("Benchmark results"))
        table.setShowGrid(False)
        table.setWordWrap(True)
        table.verticalHeader().hide()
        table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        header = table.horizontalHeader()
        header.setMinimumSectionSize(24)
        header.setSectionResizeMode(TEST, QHeaderView.ResizeMode.Stretch)
        for column in (SPEED, AGAINST, RUNS):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)

    def _build_column(self) -> QWidget:
        inside = QWidget()
        inside.setObjectName("page")  # the reading surface, as the panel itself
        first = QHBoxLayout()
        first.addWidget(self.plans, 1)
        first.addWidget(self.start_button)
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addLayout(first)
        for widget in (self.plan_text, self.notice, self.bar, self.progress_text, self.table, self.details, self.chart):
            column.addWidget(widget)
        column.addWidget(self.after)
        column.addWidget(hairline())
        column.addLayout(self._build_link())
        column.addStretch(1)
        return inside

    def _build_link(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.addWidget(label(_tr("Speed says nothing about answers."), tone="muted", size="small", wraps=True), 1)
        line.addWidget(self.qualify_button)
        return line

    def _start(self, update: BenchStarted) -> None:
        self._run = None
        self._planned = update.rows
        self.model.start(update.rows)
        self.details.clear()
        self.after.show_run(None)
        self.after.show_changes(())
        self._show_notice(words.not_quiet_text(update.not_quiet), "warning")
        self._show_rows()
        self._fit_table()

    def _show_rows(self) -> None:
        self.table.setColumnHidden(AGAINST, not self.model.is_compared)
        self.chart.show_rows(self.model.rows, self._earlier.rows if self._earlier is not None else ())
        self._refresh()

    def _compare(self) -> None:
        old, new = self._earlier, self._run
        self.model.compare(compare_runs(old, new) if old is not None and new is not None else ())
        changed = setting_changes(old, new) if old is not None and new is not None else ()
        changes = tuple(map(words.change_text, changed))
        if old is not None and new is not None and not self.model.is_compared:
            changes = (_tr("These two runs have no test in common."), *changes)
        self.after.show_changes(changes)
        self._show_rows()
        self._fit_table()

    def _fit_table(self) -> None:
        """As tall as its rows, up to a point: the panel scrolls as a whole, a long sweep in its table."""
        table, lines = self.table, self.model.rowCount()
        table.resizeRowsToContents()
        for line in range(lines):
            table.setRowHeight(line, table.rowHeight(line) + _ROW_PADDING)
        shown = sum(table.rowHeight(line) for line in range(min(lines, _SHOWN_LINES)))
        table.setFixedHeight(shown + table.horizontalHeader().sizeHint().height() + 4)

    def _show_notice(self, text: str, tone: str) -> None:
        self.notice.setText(text)
        set_tone(self.notice, tone)
        self._refresh()

    def _refresh(self) -> None:
        """Everything that follows from the state, the reason to refuse, and what has been measured."""
        is_active = self._state is not BenchState.IDLE
        self.start_button.setText(_tr("Stop") if is_active else _tr("Start"))
        self.start_button.setEnabled(self._state is not BenchState.STOPPING and (is_active or not self._blocked))
        self.plans.setEnabled(not is_active)
        self.bar.setVisible(is_active)
        self.progress_text.setVisible(is_active or bool(self._blocked))
        if not is_active:
            self.progress_text.setText(self._blocked)
        self.notice.setVisible(bool(self.notice.text()))
        self.table.setVisible(self.model.rowCount() > 0)
        self.chart.setVisible(self.chart.has_curve)
        self.details.setVisible(bool(self.details.text()))

    def _on_plan_changed(self) -> None:
        self.plan_text.setText(words.plan_text(self.plans.currentData()))

    def _on_start_clicked(self) -> None:
        if self._state is BenchState.IDLE:
            self.start_requested.emit(self.plans.currentData())
        else:
            self.set_state(BenchState.STOPPING)
            self.stop_requested.emit()
