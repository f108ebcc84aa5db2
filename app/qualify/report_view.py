"""A report as a person reads it: verdict, table of domains, KL along the tape, every check, and its two exports.

GUI thread. Shows what it is given; writing files is the runner's.
"""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QModelIndex, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from app.qualify import words
from app.qualify.kl_chart import KlChart
from app.qualify.report_table import ReportTableModel
from app.telemetry.fonts import numeric_font
from app.theme import Theme
from app.widgets.basics import button, copy_to_clipboard, label, set_tone
from engine.qualify.records import Report
from engine.qualify.report import report_to_markdown


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualifyPage", text)


class ReportView(QWidget):
    """Hidden while there is no report."""

    export_requested = Signal(object, object)  # Report, Path
    copied = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: Report | None = None
        self.title = label(size="title")
        self.subtitle = label(tone="muted", wraps=True)
        self.model = ReportTableModel()
        self.table = QTableView()
        self.chart_title = label(tone="strong")
        self.chart = KlChart(theme, numeric_font())
        self.checks = label(wraps=True)
        self.copy_button = button(_tr("Copy as Markdown"), self._on_copy_clicked)
        self.save_button = button(_tr("Save…"), self._on_save_clicked)
        self._build()
        self.table.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.show_report(None)

    @property
    def report(self) -> Report | None:
        """What is shown."""
        return self._report

    def set_theme(self, theme: Theme) -> None:
        font = numeric_font()
        self.chart.set_theme(theme, font)
        self.table.setFont(font)
        self.checks.setFont(font)
        self._fit_table()

    def show_report(self, report: Report | None) -> None:
        """Show a report, the first domain that missed chosen; None shows nothing."""
        self._report = report
        self.setVisible(report is not None)
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

    def _build(self) -> None:
        self.table.setModel(self.model)
        self.table.setAccessibleName(_tr("Results by domain"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        actions = QHBoxLayout()
        actions.addWidget(self.copy_button)
        actions.addWidget(self.save_button)
        actions.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(12)
        for widget in (self.title, self.subtitle, self.table, self.chart_title, self.chart, self.checks):
            column.addWidget(widget)
        column.addLayout(actions)

    def _fit_table(self) -> None:
        self.table.resizeRowsToContents()
        rows = sum(self.table.rowHeight(row) for row in range(self.model.rowCount()))
        self.table.setFixedHeight(rows + self.table.horizontalHeader().sizeHint().height() + 4)

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
            self.copied.emit()

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
        dialog.fileSelected.connect(lambda path: self.export_requested.emit(report, Path(path)))
        dialog.open()
