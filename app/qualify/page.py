"""The Qualify page: start, watch, stop and go on, then read the report: verdict, table, checks, KL along the tape.

GUI thread. The window calls `set_theme`, tells with `set_blocked` why nothing may start, and calls `close_tasks` at
its end. The processes are the runner's; this page only shows and asks.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.qualify import words
from app.qualify.report_view import ReportView
from app.qualify.runner import QualifyRunner
from app.sentences import translated
from app.telemetry.fonts import numeric_font
from app.theme import Theme
from app.widgets import formats
from app.widgets.basics import button, label, set_tone
from app.widgets.toast import announce
from engine.qualify.history import ReportHistory
from engine.qualify.records import Report
from engine.qualify.run import QualifyProgressed, QualifyRequest

_CAPS = (8_192, 10_240)


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualifyPage", text)


class QualifyPage(QWidget):
    """`model` tells the path of the model in use, None for the embedded one."""

    def __init__(
        self, runner: QualifyRunner, model: Callable[[], Path | None], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._runner, self._model_path = runner, model
        self._is_running = self._is_stopping = self._has_read = False
        self._blocked = ""
        self.caps = QComboBox()
        self.exact = QCheckBox(_tr("Also sparse against exact (slow)"))
        self.start_button = button(_tr("Start"), self._on_start_clicked, kind="primary")
        self.bar = QProgressBar()
        self.status = label(tone="muted", wraps=True)
        self.reports = QComboBox()
        self.view = ReportView(theme)
        self._build()
        self._connect()
        self.set_theme(theme)
        self._refresh()

    # ------------------------------------------------------------ the window speaks

    def set_blocked(self, reason: str) -> None:
        """Why nothing may start now, in a sentence; empty when it may."""
        if self._blocked and self.status.text() == self._blocked:
            self.status.clear()
        self._blocked = reason
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        self.view.set_theme(theme)
        self.status.setFont(numeric_font())

    def close_tasks(self) -> None:
        """Stop a run and end the helper threads; call before the program ends."""
        self._runner.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_read:
            self._has_read = True
            self._runner.read_history()

    @property
    def report(self) -> Report | None:
        """What is shown."""
        return self.view.report

    # ------------------------------------------------------------ building

    def _build(self) -> None:
        for cap in _CAPS:
            words_of_cap = _tr("2,048 against {cap} tokens a step").format(cap=formats.count(cap))
            self.caps.addItem(formats.isolated(words_of_cap), cap)
        self.caps.setAccessibleName(_tr("Step caps to compare"))
        self.reports.setAccessibleName(_tr("Earlier reports"))
        self.reports.setMinimumContentsLength(36)
        self.reports.setPlaceholderText(_tr("None yet"))
        self.exact.setChecked(True)
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(_tr("Qualification progress"))
        inner = QWidget()
        inner.setObjectName("page")
        body = QVBoxLayout(inner)
        body.setContentsMargins(24, 16, 24, 24)
        body.setSpacing(12)
        body.addWidget(
            label(
                _tr(
                    "Reads four frozen texts in four fresh processes, cut in two ways, and compares every answer "
                    "with limits that were fixed before. A failed report is kept like any other."
                ),
                tone="muted",
                wraps=True,
            )
        )
        body.addLayout(_row(self.caps, self.exact, None, self.start_button))
        body.addWidget(self.bar)
        body.addWidget(self.status)
        body.addLayout(_row(label(_tr("Reports"), tone="muted"), self.reports, None))
        body.addWidget(self.view)
        body.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName(_tr("Qualification"))
        area.setWidget(inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _connect(self) -> None:
        self.reports.activated.connect(self._on_report_activated)
        self.view.copied.connect(lambda: self._say(_tr("Copied as Markdown."), "muted"))
        self.view.export_requested.connect(self._runner.export)
        self._runner.progressed.connect(self._on_progressed)
        self._runner.ended.connect(self._on_ended)
        self._runner.failed.connect(self._on_failed)
        self._runner.file_failed.connect(lambda message: self._say(translated(message), "danger"))
        self._runner.history_read.connect(self._on_history_read)
        self._runner.exported.connect(lambda path: self._say(_tr("Saved as {name}.").format(name=path.name), "muted"))

    # ------------------------------------------------------------ showing

    def _refresh(self) -> None:
        """Everything that follows from the state."""
        self.start_button.setText(_tr("Stop") if self._is_running else _tr("Start"))
        self.start_button.setEnabled(not self._is_stopping and (self._is_running or not self._blocked))
        for control in (self.caps, self.exact):
            control.setEnabled(not self._is_running)
        self.bar.setVisible(self._is_running)
        if not self._is_running and self._blocked:
            self._say(self._blocked, "muted")
        self.status.setVisible(bool(self.status.text()))

    def _say(self, text: str, tone: str) -> None:
        self.status.setText(text)
        set_tone(self.status, tone)
        self.status.setVisible(bool(text))

    # ------------------------------------------------------------ events

    def _on_start_clicked(self) -> None:
        if self._is_running:
            self._is_stopping = True
            self._runner.stop()
        else:
            path = self._model_path()
            self._is_running = True
            self._say(_tr("Starting"), "muted")
            self.bar.setValue(0)
            announce(self, _tr("Qualification running"))
            self._runner.start(
                QualifyRequest(
                    cap_b=self.caps.currentData(),
                    model=None if path is None else str(path),
                    with_exact=self.exact.isChecked(),
                )
            )
        self._refresh()

    def _on_progressed(self, update: QualifyProgressed) -> None:
        self.bar.setValue(round(1000 * update.share))
        self._say(words.progress_text(update), "muted")

    def _on_ended(self, report: Report | None) -> None:
        self._is_running = self._is_stopping = False
        if report is None:
            self._say(_tr("Stopped. Start goes on after the processes that had finished."), "muted")
        else:
            self._say("", "muted")
            self.view.show_report(report)
            announce(self, _tr("Qualification ended: {verdict}").format(verdict=words.verdict_title(report)))
        self._refresh()

    def _on_failed(self, message: str) -> None:
        self._is_running = self._is_stopping = False
        self._refresh()
        self._say(translated(message), "danger")

    def _on_history_read(self, history: ReportHistory) -> None:
        self.reports.clear()
        for saved in history.reports:
            self.reports.addItem(words.saved_name(saved), saved.report)
        self.reports.setEnabled(bool(history.reports))
        self.reports.setToolTip("\n".join(map(translated, history.problems)))
        if history.reports and not self._is_running:
            self.view.show_report(history.reports[0].report)

    def _on_report_activated(self, index: int) -> None:
        self.view.show_report(self.reports.itemData(index))


def _row(*widgets: QWidget | None) -> QHBoxLayout:
    """Widgets side by side; None is a stretch."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for widget in widgets:
        if widget is None:
            row.addStretch(1)
        else:
            row.addWidget(widget)
    return row
