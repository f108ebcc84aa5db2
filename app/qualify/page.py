"""The Qualify page: start, watch, stop and go on, then read the report: verdict, table, checks, KL along the tape.

GUI thread. The window calls `set_theme`, tells with `set_blocked` why nothing may start, and calls `close_tasks` at
its end. The processes are the runner's; this page only shows and asks.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QModelIndex, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QScrollArea,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.qualify import words
from app.qualify.kl_chart import KlChart
from app.qualify.report_table import ReportTableModel
from app.qualify.runner import QualifyRunner
from app.telemetry.fonts import numeric_font
from app.theme import Theme
from app.widgets.basics import button, copy_to_clipboard, label, set_tone
from app.widgets.toast import announce
from engine.qualify.history import ReportHistory
from engine.qualify.records import Report
from engine.qualify.report import report_to_markdown
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
        self._report: Report | None = None
        self.caps = QComboBox()
        self.exact = QCheckBox(_tr("Also sparse against exact (slow)"))
        self.start_button = button(_tr("Start"), self._on_start_clicked, kind="primary")
        self.bar = QProgressBar()
        self.status = label(tone="muted", wraps=True)
        self.reports = QComboBox()
        self.title = label(size="title")
        self.subtitle = label(tone="muted", wraps=True)
        self.model = ReportTableModel()
        self.table = QTableView()
        self.chart_title = label(tone="strong")
        self.chart = KlChart(theme, numeric_font())
        self.checks = label(wraps=True)
        self.copy_button = button(_tr("Copy as Markdown"), self._on_copy_clicked)
        self.save_button = button(_tr("Save…"), self._on_save_clicked)
        self._result = QWidget()
        self._build()
        self._connect()
        self.set_theme(theme)
        self._show_report(None)
        self._refresh()

    # ------------------------------------------------------------ the window speaks

    def set_blocked(self, reason: str) -> None:
        """Why nothing may start now, in a sentence; empty when it may."""
        if self._blocked and self.status.text() == self._blocked:
            self.status.clear()
        self._blocked = reason
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        font = numeric_font()
        self.chart.set_theme(theme, font)
        for widget in (self.table, self.checks, self.status):
            widget.setFont(font)
        self._fit_table()

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
        return self._report

    # ------------------------------------------------------------ building

    def _build(self) -> None:
        for cap in _CAPS:
            self.caps.addItem(_tr("2,048 against {cap} tokens a step").format(cap=f"{cap:,}"), cap)
        self.caps.setAccessibleName(_tr("Step caps to compare"))
        self.reports.setAccessibleName(_tr("Earlier reports"))
        self.reports.setMinimumContentsLength(36)
        self.reports.setPlaceholderText(_tr("None yet"))
        self.exact.setChecked(True)
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(_tr("Qualification progress"))
        self._build_table()
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
        body.addWidget(self._build_result())
        body.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName(_tr("Qualification"))
        area.setWidget(inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _build_table(self) -> None:
        self.table.setModel(self.model)
        self.table.setAccessibleName(_tr("Results by domain"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)

    def _build_result(self) -> QWidget:
        column = QVBoxLayout(self._result)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(12)
        for widget in (self.title, self.subtitle, self.table, self.chart_title, self.chart, self.checks):
            column.addWidget(widget)
        column.addLayout(_row(self.copy_button, self.save_button, None))
        return self._result

    def _connect(self) -> None:
        self.reports.activated.connect(self._on_report_activated)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self._runner.progressed.connect(self._on_progressed)
        self._runner.ended.connect(self._on_ended)
        self._runner.failed.connect(self._on_failed)
        self._runner.file_failed.connect(lambda message: self._say(message, "danger"))
        self._runner.history_read.connect(self._on_history_read)
        self._runner.exported.connect(lambda path: self._say(_tr("Saved as {name}.").format(name=path.name), "muted"))

    # ------------------------------------------------------------ showing

    def _show_report(self, report: Report | None) -> None:
        self._report = report
        self._result.setVisible(report is not None)
        if report is None:
            return
        self.title.setText(words.verdict_title(report))
        set_tone(self.title, "" if report.passed else "danger")
        self.subtitle.setText(words.verdict_text(report))
        self.model.show_verdicts(report.verdicts)
        self._fit_table()
        for widget in (self.table, self.chart, self.chart_title):
            widget.setVisible(bool(report.verdicts))
        missed = [row for row, verdict in enumerate(report.verdicts) if not verdict.passed]
        if report.verdicts:
            self.table.selectRow(missed[0] if missed else 0)
        else:
            self.checks.setText("\n".join(words.check_text(check) for check in report.checks))

    def _fit_table(self) -> None:
        self.table.resizeRowsToContents()
        rows = sum(self.table.rowHeight(row) for row in range(self.model.rowCount()))
        self.table.setFixedHeight(rows + self.table.horizontalHeader().sizeHint().height() + 4)

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
            self._show_report(report)
            announce(self, _tr("Qualification ended: {verdict}").format(verdict=words.verdict_title(report)))
        self._refresh()

    def _on_failed(self, message: str) -> None:
        self._is_running = self._is_stopping = False
        self._refresh()
        self._say(message, "danger")

    def _on_history_read(self, history: ReportHistory) -> None:
        self.reports.clear()
        for saved in history.reports:
            self.reports.addItem(words.saved_name(saved), saved.report)
        self.reports.setEnabled(bool(history.reports))
        self.reports.setToolTip("\n".join(history.problems))
        if history.reports and not self._is_running:
            self._show_report(history.reports[0].report)

    def _on_report_activated(self, index: int) -> None:
        self._show_report(self.reports.itemData(index))

    def _on_row_changed(self, current: QModelIndex) -> None:
        verdict = self.model.verdict(current.row())
        self.chart.show_verdict(verdict)
        if verdict is None or self._report is None:
            return
        self.chart_title.setText(
            _tr("{domain} ({axis}): KL of each row, the limit dashed").format(
                domain=words.domain_name(verdict.domain), axis=words.axis_name(verdict.axis).lower()
            )
        )
        lines = [words.check_text(check) for check in (*verdict.checks, *self._report.checks)]
        self.checks.setText("\n".join([*lines, words.first_difference(verdict)]))

    def _on_copy_clicked(self) -> None:
        if self._report is not None:
            copy_to_clipboard(report_to_markdown(self._report))
            self._say(_tr("Copied as Markdown."), "muted")

    def _on_save_clicked(self) -> None:
        report = self._report
        if report is None:
            return
        name = str(Path.home() / f"haloband-qualification-{report.series}.md")
        dialog = QFileDialog(self, _tr("Save report"), name, "Markdown (*.md);;JSON (*.json)")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("md")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("json" if "json" in chosen else "md"))
        dialog.fileSelected.connect(lambda path: self._runner.export(report, Path(path)))
        dialog.open()


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
