"""The speed chart's numbers as a table: the newest points, one row each, newest first. GUI thread."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.telemetry.live_meter import SpeedPoint
from app.widgets import formats

_ROWS = 6
_APART_S = 1.0


def _tr(text: str) -> str:
    return QCoreApplication.translate("LivePanel", text)


class SpeedTable(QTableWidget):
    """A fixed number of rows that are written over, so that a reader's place stays."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_ROWS, 3, parent)
        self.setAccessibleName(_tr("Speeds over time"))
        self.setHorizontalHeaderLabels([_tr("At"), _tr("Prefill"), _tr("Decode")])
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for row in range(_ROWS):
            for column in range(3):
                item = QTableWidgetItem("")
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, column, item)

    def apply_font(self, font: QFont) -> None:
        self.setFont(font)
        height = self.fontMetrics().height() + 6
        self.verticalHeader().setDefaultSectionSize(height)
        self.setFixedHeight(height * (_ROWS + 1) + 12)

    def show_points(self, points: tuple[SpeedPoint, ...]) -> None:
        newest = _spaced(points)
        for row in range(_ROWS):
            texts = ("", "", "")
            if row < len(newest):
                point = newest[row]
                texts = (formats.tenths(point.at_s), formats.speed(point.prefill), formats.speed(point.decode))
            for column, text in enumerate(texts):
                item = self.item(row, column)
                if item is not None and item.text() != text:
                    item.setText(text)


def _spaced(points: tuple[SpeedPoint, ...]) -> list[SpeedPoint]:
    """The newest points at least a second apart, newest first."""
    chosen: list[SpeedPoint] = []
    for point in reversed(points):
        if not chosen or chosen[-1].at_s - point.at_s >= _APART_S:
            chosen.append(point)
        if len(chosen) == _ROWS:
            break
    return chosen
