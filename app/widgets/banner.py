"""One sentence across the width of a region, with what one can do about it. Never modal. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.chat.models import NoticeLevel
from app.theme import Theme
from app.widgets.basics import IconButton, button, label, restyle
from app.widgets.flow_layout import FlowLayout
from app.widgets.icons import pixmap

_ICONS = {NoticeLevel.INFO: "info", NoticeLevel.WARNING: "warning", NoticeLevel.ERROR: "error"}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Banner", text)


class Banner(QFrame):
    """A message with buttons; hidden until shown."""

    dismissed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._theme = theme
        self._level = NoticeLevel.INFO
        self._mark = QLabel()
        self._text = label(wraps=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = IconButton("close", _tr("Dismiss"), theme)
        self._close.clicked.connect(self._on_close_clicked)
        self._action_buttons: list[QPushButton] = []
        self._buttons = FlowLayout()
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(self._text)
        column.addLayout(self._buttons)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 10, 8, 10)
        layout.setSpacing(12)
        layout.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(column, 1)
        layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    @property
    def buttons(self) -> list[QPushButton]:
        return list(self._action_buttons)

    def show_text(
        self, level: NoticeLevel, text: str, actions: tuple[tuple[str, Callable[[], object]], ...] = ()
    ) -> None:
        self._level = level
        self._text.setText(text)
        self.setAccessibleName(text)
        for old in self._action_buttons:
            self._buttons.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._action_buttons = [button(name, act) for name, act in actions]
        for widget in self._action_buttons:
            self._buttons.addWidget(widget)
        self.setProperty("level", level.value)
        restyle(self)
        self.set_theme(self._theme)
        self.show()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        colours = {NoticeLevel.INFO: theme.accent, NoticeLevel.WARNING: theme.warning, NoticeLevel.ERROR: theme.danger}
        self._mark.setPixmap(pixmap(_ICONS[self._level], colours[self._level], 16))
        self._close.set_theme(theme)

    def _on_close_clicked(self) -> None:
        self.hide()
        self.dismissed.emit()
