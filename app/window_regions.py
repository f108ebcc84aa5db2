"""How the window is divided: chats at the left, header and pages in the middle, the panel at the right, the status line
at the foot. The sides give way where there is no room for them. GUI thread; owned by the main window."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app.settings_service import SettingsService
from app.sidebar.sidebar import Sidebar
from app.widgets.basics import hairline
from app.window_header import Header
from app.window_pages import Pages
from app.window_panel import SidePanel
from app.window_sides import SIDEBAR_CHARACTERS, Sides, sides_that_fit
from app.window_status import StatusLine

_WIDTHS = (248, 760, 360)
_LEAST_MIDDLE = 320


class Regions(QWidget):
    """The central widget. `character` gives the average width of the interface font."""

    def __init__(
        self,
        sidebar: Sidebar,
        header: Header,
        pages: Pages,
        panel: SidePanel,
        status: StatusLine,
        settings: SettingsService,
        character: Callable[[], float],
    ) -> None:
        super().__init__()
        self.setObjectName("chrome")
        self._sidebar, self._panel = sidebar, panel
        self._settings, self._character = settings, character
        self._forced = Sides(False, False)  # what was asked for in a window that is too narrow for it
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._build(header, pages, status)

    def _build(self, header: Header, pages: Pages, status: StatusLine) -> None:
        middle = QWidget()
        middle.setObjectName("page")
        middle.setMinimumWidth(_LEAST_MIDDLE)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(header)
        column.addWidget(pages, 1)
        for widget in (self._sidebar, middle, self._panel):
            self._splitter.addWidget(widget)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes(_WIDTHS)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self._splitter, 1)
        rows.addWidget(hairline())
        rows.addWidget(status)

    def fit(self) -> None:
        """Show the sidebar and the panel where they are wanted and there is room."""
        look, character = self._settings.settings.appearance, self._character()
        sides = sides_that_fit(self.width(), character, Sides(look.show_sidebar, look.show_panel), self._forced)
        self._sidebar.setMinimumWidth(round(character * SIDEBAR_CHARACTERS * 0.9))
        self._sidebar.setVisible(sides.sidebar)
        self._panel.setVisible(sides.panel)

    def show_sidebar(self, shown: bool) -> None:
        """Show or hide the chats, from now on."""
        self._forced = replace(self._forced, sidebar=shown)
        self.fit()
        self._settings.change(lambda s: replace(s, appearance=replace(s.appearance, show_sidebar=shown)))

    def toggle_sidebar(self) -> None:
        self.show_sidebar(not self._sidebar.isVisible())

    def toggle_panel(self) -> None:
        shown = not self._panel.isVisible()
        self._forced = replace(self._forced, panel=shown)
        self.fit()
        self._settings.change(lambda s: replace(s, appearance=replace(s.appearance, show_panel=shown)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._forced = Sides(False, False)
        self.fit()

    def state(self) -> QByteArray:
        """The widths of the regions, for the next start."""
        return self._splitter.saveState()

    def restore(self, state: QByteArray) -> None:
        self._splitter.restoreState(state)
