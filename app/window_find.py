"""Find in the open chat: a bar over the transcript, and the search itself. GUI thread; owned by the chat page."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.theme import Theme
from app.transcript.selection import TextPlace
from app.transcript.view import TranscriptView
from app.widgets.basics import IconButton, label


def _tr(text: str) -> str:
    return QCoreApplication.translate("Find", text)


class FindBar(QWidget):
    """Field, count, previous, next, close. The match is selected in the transcript."""

    closed = Signal()

    def __init__(self, transcript: TranscriptView, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chrome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._transcript = transcript
        self._row = -1  # message of the present match
        self._number = -1  # its place among the matches of that message
        self.field = QLineEdit()
        self.field.setPlaceholderText(_tr("Find in this chat"))
        self.field.setAccessibleName(_tr("Find in this chat"))
        self._count = label(tone="muted", size="small")
        self._previous = IconButton("chevron-left", _tr("Previous match"), theme)
        self._next = IconButton("chevron-right", _tr("Next match"), theme)
        self._close = IconButton("close", _tr("Close"), theme)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.addWidget(self.field, 1)
        for widget in (self._count, self._previous, self._next, self._close):
            row.addWidget(widget)
        self.field.textChanged.connect(self._on_text_changed)
        self.field.returnPressed.connect(lambda: self.step(1))
        self._previous.clicked.connect(lambda: self.step(-1))
        self._next.clicked.connect(lambda: self.step(1))
        self._close.clicked.connect(self.close_bar)
        self.hide()

    def open_bar(self) -> None:
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def close_bar(self) -> None:
        self.hide()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

    def set_theme(self, theme: Theme) -> None:
        for widget in (self._previous, self._next, self._close):
            widget.set_theme(theme)

    def _on_text_changed(self, text: str) -> None:
        self._row, self._number = len(self._transcript.messages), 0
        self._count.setText("")
        if text:
            self.step(-1)

    def step(self, direction: int) -> None:
        """Go to the next (+1) or previous (-1) match, round the end."""
        needle = self.field.text().casefold()
        rows = [n for n, m in enumerate(self._transcript.messages) if needle and needle in m.text.casefold()]
        if not rows:
            self._count.setText(_tr("No match") if needle else "")
            return
        places = self._places(self._row, needle) if self._row in rows else []
        number = self._number + direction
        if not 0 <= number < len(places):
            self._row = _neighbour(rows, self._row, direction)
            places = self._places(self._row, needle)
            number = 0 if direction > 0 else len(places) - 1
        self._number = number
        self._count.setText(QCoreApplication.translate("Find", "in %Ln message(s)", None, len(rows)))
        if places:
            start, end = places[number]
            self._transcript.selection.set(start, end)
            self._transcript.scroll_to_place(start)

    def _places(self, row: int, needle: str) -> list[tuple[TextPlace, TextPlace]]:
        """All matches in the shown text of one message."""
        layout = self._transcript.layout_of_row(row)
        found: list[tuple[TextPlace, TextPlace]] = []
        for placed in layout.blocks():
            text = placed.layout.text(self._transcript.text_style).casefold()
            at = text.find(needle)
            while at >= 0:
                start = _utf16(text, at)
                end = start + _utf16(needle, len(needle))
                found.append(
                    (
                        TextPlace(layout.view.id, placed.section, placed.index, start),
                        TextPlace(layout.view.id, placed.section, placed.index, end),
                    )
                )
                at = text.find(needle, at + len(needle))
        return found


def _utf16(text: str, end: int) -> int:
    """Length of text[:end] as QTextDocument counts."""
    return len(text[:end].encode("utf-16-le")) // 2


def _neighbour(rows: list[int], row: int, direction: int) -> int:
    if direction > 0:
        return next((r for r in rows if r > row), rows[0])
    return next((r for r in reversed(rows) if r < row), rows[-1])
