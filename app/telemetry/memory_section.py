"""The memory half of the Live panel: bars or table of the layers, totals with how they are counted, process and GPU.

GUI thread. It shows what it is given; reading the machine's memory is machine_memory's.
"""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QHeaderView, QLabel, QTableView, QVBoxLayout, QWidget

from app.telemetry.chart_style import series_colours
from app.telemetry.figure_tile import Swatch
from app.telemetry.fonts import numeric_font
from app.telemetry.layer_bars import LayerBars
from app.telemetry.layer_table import LayerTableModel
from app.telemetry.live_words import total_text
from app.telemetry.machine_memory import MachineMemory
from app.theme import Theme
from app.widgets import formats
from app.widgets.basics import label
from engine.ledger import MemoryReport

_TABLE_ROWS = 12


def _tr(text: str) -> str:
    return QCoreApplication.translate("LivePanel", text)


class MemorySection(QWidget):
    """Bars and table are twins: one of them is shown."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = LayerBars(theme, numeric_font())
        self.table = QTableView()
        self.model = LayerTableModel()
        self.total = label(total_text(None), tone="muted", size="small", wraps=True)
        self._is_table = False
        self._has_report = False
        self._legend_box = QWidget()
        self._legend: dict[str, tuple[Swatch, QLabel]] = {}
        self._machine = QGridLayout()
        self._machine_values: dict[str, QLabel] = {}
        self._build()
        self.set_theme(theme)
        self._show_twin()

    def _build(self) -> None:
        self.bars.setAccessibleName(_tr("Memory of each layer, as bars"))
        self.table.setAccessibleName(_tr("Memory of each layer"))
        self.table.setModel(self.model)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        legend = QVBoxLayout(self._legend_box)
        legend.setContentsMargins(0, 0, 0, 0)
        legend.setSpacing(2)
        for key, name in (
            ("held", _tr("held now")),
            ("plain", _tr("plain attention would hold")),
            ("mask", _tr("masks never allocated")),
        ):
            legend.addLayout(self._legend_line(key, name))
        self._machine.setContentsMargins(0, 0, 0, 0)
        self._machine.setHorizontalSpacing(12)
        self._machine.setVerticalSpacing(2)
        self._machine.setColumnStretch(0, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(label(_tr("Memory per layer"), tone="strong"))
        column.addWidget(self.bars)
        column.addWidget(self.table)
        column.addWidget(self._legend_box)
        column.addWidget(self.total)
        column.addSpacing(8)
        column.addWidget(label(_tr("This computer"), tone="strong"))
        column.addLayout(self._machine)

    def _legend_line(self, key: str, name: str) -> QHBoxLayout:
        swatch, value = Swatch("#000000"), label(formats.UNKNOWN, size="small")
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(swatch)
        line.addWidget(label(name, tone="muted", size="small"), 1)
        line.addWidget(value)
        self._legend[key] = (swatch, value)
        return line

    def set_theme(self, theme: Theme) -> None:
        colours, font = series_colours(theme), numeric_font()
        self.bars.set_theme(theme, font)
        for key, colour in (("held", colours.held), ("plain", colours.plain), ("mask", colours.mask)):
            swatch, value = self._legend[key]
            swatch.set_colour(colour)
            value.setFont(font)
        self.table.setFont(font)
        height = self.table.fontMetrics().height() + 6
        self.table.verticalHeader().setDefaultSectionSize(height)
        self.table.setFixedHeight(height * (_TABLE_ROWS + 1) + 12)
        for value in self._machine_values.values():
            value.setFont(font)

    def show_as_table(self, is_table: bool) -> None:
        self._is_table = is_table
        self._show_twin()

    def _show_twin(self) -> None:
        """Bars or table, with what their colours mean; neither before there is anything to show."""
        self.table.setVisible(self._has_report and self._is_table)
        self.bars.setVisible(self._has_report and not self._is_table)
        self._legend_box.setVisible(self._has_report)

    def show_report(self, report: MemoryReport | None) -> None:
        self._has_report = report is not None
        self._show_twin()
        self.bars.show_report(report)
        self.model.show_report(report)
        text = total_text(report)
        self.total.setText(text)
        self.bars.setAccessibleDescription(text)
        sizes = {
            "held": None if report is None else report.held_bytes,
            "plain": None if report is None else report.plain_bytes,
            "mask": None if report is None else report.mask_bytes,
        }
        for key, size in sizes.items():
            self._legend[key][1].setText(formats.size(size))

    def show_machine(self, memory: MachineMemory) -> None:
        """Process, main memory, and each GPU's VRAM and GTT, used of total."""
        free = _tr("{free} of {total}").format(free=formats.size(memory.available), total=formats.size(memory.total))
        lines = {_tr("This program"): formats.size(memory.process), _tr("Memory available"): free}
        for gpu in memory.gpus:
            for kind, used, total in (("VRAM", gpu.vram_used, gpu.vram_total), ("GTT", gpu.gtt_used, gpu.gtt_total)):
                name = kind if len(memory.gpus) == 1 else f"{kind} {gpu.name}"
                lines[name] = _tr("{used} of {total}").format(used=formats.size(used), total=formats.size(total))
        for name, text in lines.items():
            self._machine_value(name).setText(text)

    def _machine_value(self, name: str) -> QLabel:
        if name not in self._machine_values:
            value = label(size="small")
            value.setFont(numeric_font())
            row = self._machine.rowCount()
            self._machine.addWidget(label(name, tone="muted", size="small"), row, 0)
            self._machine.addWidget(value, row, 1, Qt.AlignmentFlag.AlignRight)
            self._machine_values[name] = value
        return self._machine_values[name]
