"""The benchmark's table: one line a figure, as in llama-bench, with a dash until it is measured. GUI thread.

The rows come from the plan, so that the table is whole from the start; a comparison with an earlier run adds a column.
"""

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt

from app.bench import words
from app.widgets import formats
from engine.bench.history import Comparison
from engine.bench.records import BenchRow, Figure

Index = QModelIndex | QPersistentModelIndex
TEST, SPEED, AGAINST, RUNS = range(4)


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchmarkPanel", text)


class BenchTableModel(QAbstractTableModel):
    """Rows by their place in the plan, lines by row and figure."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[BenchRow] = []
        self._lines: list[tuple[int, Figure]] = []
        self._comparisons: dict[str, Comparison] = {}

    @property
    def rows(self) -> tuple[BenchRow, ...]:
        """The rows measured so far, in order."""
        return tuple(row for row in self._rows if row.samples)

    @property
    def is_compared(self) -> bool:
        return bool(self._comparisons)

    def start(self, rows: tuple[BenchRow, ...]) -> None:
        """The rows to come."""
        self.beginResetModel()
        self._rows, self._comparisons = list(rows), {}
        self._lines = [(index, figure) for index, row in enumerate(rows) for figure in row.figures]
        self.endResetModel()

    def show_row(self, index: int, row: BenchRow) -> None:
        """A row has a new sample."""
        self._rows[index] = row
        self._changed()

    def compare(self, comparisons: tuple[Comparison, ...]) -> None:
        """Show ratios to an earlier run; none takes them away."""
        self._comparisons = {item.test: item for item in comparisons}
        self._changed()

    def _changed(self) -> None:
        if self._lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._lines) - 1, self.columnCount() - 1))

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 4

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return (_tr("Test"), _tr("tok/s"), _tr("Against"), _tr("Runs"))[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), index.column())
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._sentence(index.row(), index.column())
        return None

    def _text(self, line: int, column: int) -> str:
        place, figure = self._lines[line]
        row = self._rows[place]
        if column == TEST:
            return words.line_name(row, figure)
        if column == SPEED:
            return words.figure_text(row, figure)
        if column == RUNS:
            return f"{len(row.samples)}/{row.runs_planned}"
        compared = self._comparisons.get(row.name(figure))
        return formats.UNKNOWN if compared is None else words.difference_cell(compared.difference)

    def _sentence(self, line: int, column: int) -> str:
        """A cell in full, for tooltips and screen readers."""
        place, figure = self._lines[line]
        row = self._rows[place]
        compared = self._comparisons.get(row.name(figure))
        if column == AGAINST and compared is not None:
            return words.comparison_sentence(compared)
        if column == SPEED and figure is not Figure.WALL and row.stats(figure) is not None:
            return formats.isolated(_tr("{speed} tok/s").format(speed=words.figure_text(row, figure)))
        return self._text(line, column).replace("\n", ", ")


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == TEST else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
