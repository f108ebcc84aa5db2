"""The numbers behind the layer bars as a table model and in sentences, for those who cannot read the chart."""

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt

from app.widgets import formats
from engine.ledger import LayerMemory, MemoryReport

Index = QModelIndex | QPersistentModelIndex


def _tr(text: str) -> str:
    return QCoreApplication.translate("LivePanel", text)


def kind_text(ratio: int) -> str:
    """What a layer keeps of the past: the newest 128 tokens, and one compressed row for so many before them."""
    return _tr("window") if ratio == 0 else formats.isolated(_tr("1 in {ratio}").format(ratio=ratio))


def layer_sentence(layer: LayerMemory) -> str:
    """All numbers of one layer."""
    return _tr("Layer {layer}, {kind}: held {held}, plain attention {plain}, mask never allocated {mask}").format(
        layer=layer.layer,
        kind=kind_text(layer.ratio),
        held=formats.size(layer.held_bytes),
        plain=formats.size(layer.plain_bytes),
        mask=formats.size(layer.mask_bytes),
    )


class LayerTableModel(QAbstractTableModel):
    """One row a layer and a last one for the total."""

    def __init__(self) -> None:
        super().__init__()
        self._report: MemoryReport | None = None

    def show_report(self, report: MemoryReport | None) -> None:
        """Take a new report. The same number of layers only repaints, so that the scroll position stays."""
        before = self.rowCount()
        after = 0 if report is None else len(report.layers) + 1
        if before != after:
            self.beginResetModel()
            self._report = report
            self.endResetModel()
            return
        self._report = report
        if after:
            self.dataChanged.emit(self.index(0, 0), self.index(after - 1, self.columnCount() - 1))

    def rowCount(self, parent: Index | None = None) -> int:
        if (parent is not None and parent.isValid()) or self._report is None:
            return 0
        return len(self._report.layers) + 1

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 5

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return (_tr("Layer"), _tr("Keeps"), _tr("Held"), _tr("Plain"), _tr("Mask"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self._report is None or not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if index.column() == 1 else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(index.row(), index.column())
        return None

    def _text(self, row: int, column: int) -> str:
        report = self._report
        assert report is not None
        if row == len(report.layers):
            sizes = (report.held_bytes, report.plain_bytes, report.mask_bytes)
            return (_tr("All"), "", *map(formats.size, sizes))[column]
        layer = report.layers[row]
        sizes = (layer.held_bytes, layer.plain_bytes, layer.mask_bytes)
        return (str(layer.layer), kind_text(layer.ratio), *map(formats.size, sizes))[column]
