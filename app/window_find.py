"""Find in the open chat: a bar over the transcript, and the way from match to match. GUI thread; owned by the chat
page."""

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.theme import Theme
from app.transcript.message_layout import MessageLayout
from app.transcript.selection import TextPlace
from app.transcript.shown_text import in_utf16, places_of
from app.transcript.view import TranscriptView
from app.widgets.basics import IconButton, label
from app.window_find_scan import FindScan

_Match = tuple[TextPlace, TextPlace]  # its start and its end


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
        self._direction = 1  # of the step that is being made
        self._scan = FindScan(transcript, self)
        self._scan.found.connect(self._on_row_found)
        self._scan.counted.connect(self._on_counted)
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
        self._scan.forget()
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
        self._scan.stop()
        if text:
            self.step(-1)

    def step(self, direction: int) -> None:
        """Go to the next (+1) or previous (-1) match, round the end."""
        needle = self.field.text().casefold()
        if not needle:
            self._count.setText("")
            return
        places = self._places(self._row, needle) if 0 <= self._row < len(self._transcript.messages) else []
        number = self._number + direction
        if 0 <= number < len(places):
            self._select(places, number)
        else:
            self._direction = direction
            self._scan.start(needle, self._row, direction)

    def _on_row_found(self, row: int) -> None:
        self._row = row
        places = self._places(row, self.field.text().casefold())
        self._select(places, 0 if self._direction > 0 else len(places) - 1)

    def _on_counted(self, rows: int) -> None:
        words = QCoreApplication.translate("Find", "in %Ln message(s)", None, rows)
        self._count.setText(words if rows else _tr("No match"))

    def _select(self, places: list[_Match], number: int) -> None:
        self._number = number
        if places:
            start, end = places[number]
            self._transcript.selection.set(start, end)
            self._transcript.scroll_to_place(start)

    def _places(self, row: int, needle: str) -> list[_Match]:
        """All matches in the text of one message. A long question that hides some of them is shown whole."""
        layout = self._transcript.layout_of_row(row)
        found = self._shown_places(layout, needle)
        is_cut = layout.is_collapsible and not layout.is_expanded
        if is_cut and len(found) < len(places_of(layout.view.text, needle)):
            self._transcript.toggle_expanded(layout.view.id)
            return self._shown_places(layout, needle)
        return found

    def _shown_places(self, layout: MessageLayout, needle: str) -> list[_Match]:
        found: list[_Match] = []
        for placed in layout.blocks():
            text = placed.layout.raw_text(self._transcript.text_style)
            for start, end in in_utf16(text, places_of(text, needle)):
                first = TextPlace(layout.view.id, placed.section, placed.index, start)
                found.append((first, replace(first, position=end)))
        return found
