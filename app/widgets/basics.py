"""The few building blocks that most pages use: labels in a tone, icon buttons that follow the theme, hairlines, a
thin meter. GUI thread."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from app.theme import Theme
from app.widgets.formats import isolated
from app.widgets.icons import icon

ICON = QSize(16, 16)


def label(text: str = "", *, tone: str = "", size: str = "", wraps: bool = False) -> QLabel:
    """A label. tone: "", "muted", "strong", "danger", "warning"; size: "", "small", "title"."""
    result = QLabel(text)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if tone:
        result.setProperty("tone", tone)
    if size:
        result.setProperty("textSize", size)
    result.setWordWrap(wraps)
    return result


def set_tone(widget: QWidget, tone: str) -> None:
    """Change a widget's tone and restyle it."""
    if widget.property("tone") != tone:
        widget.setProperty("tone", tone)
        restyle(widget)


def restyle(widget: QWidget) -> None:
    """Make the style sheet look at a widget's properties again."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


class IconButton(QToolButton):
    """A flat button with an icon; its name is its tooltip and what a screen reader says."""

    def __init__(self, icon_name: str, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._theme = theme
        self._colour: str | None = None
        self.setIconSize(ICON)
        self.setAutoRaise(True)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.set_name(name)
        self._draw()

    def set_name(self, name: str, shortcut: str = "") -> None:
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({shortcut})" if shortcut else name)

    def set_icon(self, icon_name: str) -> None:
        if icon_name != self._icon_name:
            self._icon_name = icon_name
            self._draw()

    def set_theme(self, theme: Theme, colour: str | None = None) -> None:
        if theme != self._theme or colour != self._colour:
            self._theme, self._colour = theme, colour
            self._draw()

    def _draw(self) -> None:
        self.setIcon(icon(self._icon_name, self._theme, self._colour or self._theme.muted))


class MenuButton(IconButton):
    """An icon button that opens a menu of the window's own actions, each with its shortcut beside it."""

    def set_actions(self, actions: Iterable[QAction]) -> None:
        menu = QMenu(self)
        menu.addActions(list(actions))
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)


def button(text: str, on_click: Callable[[], object] | None = None, *, kind: str = "") -> QPushButton:
    """A push button. kind "primary" is the one main action of a page."""
    result = QPushButton(isolated(text))
    result.setAutoDefault(False)
    if kind:
        result.setProperty("kind", kind)
    if on_click is not None:
        result.clicked.connect(lambda _checked=False: on_click())
    return result


def hairline(*, vertical: bool = False) -> QFrame:
    """A one-pixel line between two regions."""
    line = QFrame()
    line.setObjectName("hairline")
    line.setFrameShape(QFrame.Shape.NoFrame)
    if vertical:
        line.setFixedWidth(1)
    else:
        line.setFixedHeight(1)
    return line


class RemovableRow(QWidget):
    """A line of text with a cross at its end."""

    def __init__(self, text: str, name: str, theme: Theme, on_remove: Callable[[], object]) -> None:
        super().__init__()
        self.remove_button = IconButton("close", name, theme)
        self.remove_button.clicked.connect(lambda _checked=False: on_remove())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label(text, wraps=True), 1)
        row.addWidget(self.remove_button)


def clear_layout(layout: QLayout) -> None:
    """Take every widget out of a layout, off the screen and out of memory."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()  # deleteLater may wait for the event loop to come round
            widget.deleteLater()


def copy_to_clipboard(text: str) -> None:
    QApplication.clipboard().setText(text)
