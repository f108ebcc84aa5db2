"""The panel at the right: the live numbers and the benchmark, each in a tab. GUI thread."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QScrollArea, QTabWidget, QVBoxLayout, QWidget

from app.theme import Theme


def _tr(text: str) -> str:
    return QCoreApplication.translate("SidePanel", text)


class Panel(QWidget):
    """A panel that draws in the theme's colours."""

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of another theme."""


class SidePanel(QWidget):
    """Holds the two panels; hidden and shown by the window."""

    def __init__(self, live: Panel, benchmark: Panel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidePanel")
        self._panels = (live, benchmark)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName(_tr("Panel"))
        self.tabs.addTab(live, _tr("Live"))
        self.tabs.addTab(benchmark, _tr("Benchmark"))
        for name, panel in ((_tr("Live"), live), (_tr("Benchmark"), benchmark)):
            for area in panel.findChildren(QScrollArea):  # takes the keyboard, so it needs a name
                area.setAccessibleName(area.accessibleName() or name)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        self.setMinimumWidth(280)

    def set_theme(self, theme: Theme) -> None:
        for panel in self._panels:
            panel.set_theme(theme)
