"""A short message over the foot of the window, mostly with one thing to undo; goes by itself. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

_SHOWN_MS = 8_000
_MARGINS = (16, 10, 16, 10)
_MARGINS_WITH_BUTTON = (16, 6, 8, 6)


class Toast(QFrame):
    """Shows "Chat deleted   Undo" for eight seconds; longer while the pointer or the keyboard is on it."""

    undo_requested = Signal(int)

    def __init__(self, parent: QWidget, over: Sequence[QWidget]) -> None:
        """`over` are regions inside `parent`; the toast stands in the first that is shown."""
        super().__init__(parent)
        self._area, self._over = parent, over
        for region in over:
            region.installEventFilter(self)
        self.setObjectName("toast")
        self._token = 0
        self._text = QLabel()
        self.undo_button = QPushButton(QCoreApplication.translate("Toast", "Undo"))
        self.undo_button.clicked.connect(self._on_undo_clicked)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._text)
        self._row.addWidget(self.undo_button)
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._timer.timeout.connect(self._on_time_up)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    def offer(self, token: int, text: str) -> None:
        """Say what was done, and that it can be undone."""
        self._token = token
        self._show(text, can_undo=True)

    def say(self, text: str) -> None:
        """Say what was done."""
        self._show(text, can_undo=False)

    def _show(self, text: str, *, can_undo: bool) -> None:
        self._text.setText(text)
        self.undo_button.setVisible(can_undo)
        self._row.setContentsMargins(*(_MARGINS_WITH_BUTTON if can_undo else _MARGINS))
        self.setAccessibleName(text)
        self.adjustSize()
        self.place()
        self.show()
        self.raise_()
        self._timer.start()
        announce(self, text)

    def place(self) -> None:
        """Keep to the middle of the foot of the region."""
        over = next((region for region in self._over if region.isVisible()), self._area)
        corner = over.mapTo(self._area, QPoint(0, 0))
        x = corner.x() + (over.width() - self.width()) // 2
        self.move(x, corner.y() + over.height() - self.height() - 8)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The region grew, shrank, or gave way to another page."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide) and self.isVisible():
            self.place()
        return super().eventFilter(watched, event)

    def _on_undo_clicked(self) -> None:
        self.hide()
        self.undo_requested.emit(self._token)

    def _on_time_up(self) -> None:
        if self.underMouse() or self.undo_button.hasFocus():
            self._timer.start()
        else:
            self.hide()


def announce(widget: QWidget, text: str) -> None:
    """Say a sentence to a screen reader, once."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
