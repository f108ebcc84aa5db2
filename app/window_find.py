"""Find in the open chat: a bar over the transcript, and the way from match to match. GUI thread; owned by the chat
page."""

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.theme import Theme
from app.transcript.message_layout import MessageLayout
from app.transcript.model import Role
from app.transcript.selection import TextPlace
from app.transcript.shown_text import block_words, in_utf16, places_of, utf16_units
from app.transcript.slots import PlacedBlock
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
        self._here: TextPlace | None = None  # where it begins
        self._direction = 1  # of the step that is being made
        self._resumes = False  # it goes on from the present match as soon as that message is looked through
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
        self._row, self._here = len(self._transcript.messages), None
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
        self._direction = direction
        is_here = self._here is not None and 0 <= self._row < len(self._transcript.messages)
        self._resumes = is_here and not self._scan.words(self._row)
        if self._resumes:  # the words were let go or have changed: this message is looked through first
            self._scan.start(needle, self._row - direction, direction)
        elif not self._go(needle):
            self._scan.start(needle, self._row, direction)

    def _on_row_found(self, row: int) -> None:
        needle = self.field.text().casefold()
        resumes, self._resumes = self._resumes and row == self._row, False
        if not resumes:
            self._row, self._here = row, None
        if not self._go(needle) and resumes:
            self._scan.start(needle, row, self._direction)

    def _on_counted(self, rows: int) -> None:
        words = QCoreApplication.translate("Find", "in %Ln message(s)", None, rows)
        self._count.setText(words if rows else _tr("No match"))

    def _go(self, needle: str) -> bool:
        """Select the next match of the present message in the direction of the step. False if there is none."""
        match = self._next_match(needle) if 0 <= self._row < len(self._transcript.messages) else None
        if match is None:
            return False
        self._here, end = match
        self._transcript.selection.set(self._here, end)
        self._transcript.scroll_to_place(self._here)
        return True

    def _next_match(self, needle: str) -> _Match | None:
        """The match of the present message that comes after the present one. Only blocks that hold the needle become
        documents."""
        layout, words = self._transcript.layout_of_row(self._row), self._scan.words(self._row)
        self._show_hidden(layout, needle, words)
        blocks, here = layout.blocks(), self._here
        numbers = list(range(len(blocks)))[:: self._direction]
        present = -1
        if here is not None:
            at = (here.message_id, here.section, here.index)
            present = next((n for n in numbers if (layout.view.id, blocks[n].section, blocks[n].index) == at), -1)
            numbers = numbers[numbers.index(present) :] if present >= 0 else []
        has_words = layout.view.role is not Role.USER and len(words) == len(blocks)
        for number in numbers:
            if needle not in (words[number] if has_words else _folded(blocks, number, len(needle))):
                continue
            matches = self._matches(layout, number, needle)
            if here is not None and number == present:
                matches = [match for match in matches if (match[0].position - here.position) * self._direction > 0]
            if matches:
                return matches[0 if self._direction > 0 else -1]
        return None

    def _show_hidden(self, layout: MessageLayout, needle: str, words: list[str]) -> None:
        """Show all of a long question that hides matches."""
        if layout.is_collapsible and not layout.is_expanded:
            shown = "".join(placed.layout.block.text for placed in layout.blocks()).removesuffix(" …").casefold()
            whole = words[0] if words else layout.view.text.casefold()
            if shown.count(needle) < whole.count(needle):
                self._transcript.toggle_expanded(layout.view.id)

    def _matches(self, layout: MessageLayout, number: int, needle: str) -> list[_Match]:
        """The matches that begin in one block."""
        blocks = layout.blocks()
        placed = blocks[number]
        own = placed.layout.raw_text(self._transcript.text_style)
        text, length = own + _continuation(blocks, number, len(needle)), utf16_units(own)
        found: list[_Match] = []
        for start, end in in_utf16(text, places_of(text, needle)):
            if start < length:
                first = TextPlace(layout.view.id, placed.section, placed.index, start)
                over = end - length  # how far it reaches into the next block
                last = replace(first, index=placed.index + 1, position=over) if over > 0 else None
                found.append((first, last or replace(first, position=end)))
        return found


def _folded(blocks: list[PlacedBlock], number: int, length: int) -> str:
    """The case-folded words of a block and the beginning of one that continues its line."""
    return (block_words(blocks[number].layout.block) + _continuation(blocks, number, length)).casefold()


def _continuation(blocks: list[PlacedBlock], number: int, length: int) -> str:
    """The beginning of the block after this one if it continues the same line, as a question without line ends does."""
    after = blocks[number + 1].layout.block if number + 1 < len(blocks) else None
    return after.text[:length] if after is not None and after.joins_previous else ""
