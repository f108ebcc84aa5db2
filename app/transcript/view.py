"""The conversation: a scroll area that lays out and paints only what is in the window. GUI thread.

The window gives `MessageView` records and gets message ids back. Where one reads is kept by reading_place.py, so that
the text there stands still; streamed text is gathered and painted on a timer.
"""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.transcript.frame_pool import FramePool
from app.transcript.message_frame import FRAME_MARGIN, MessageFrame
from app.transcript.message_layout import MessageLayout
from app.transcript.model import MessageView, PrefillStatus
from app.transcript.newest_button import NewestButton
from app.transcript.page import Page
from app.transcript.page_painter import paint_page
from app.transcript.reading_place import Anchor, ReadingPlace
from app.transcript.selection import Selection, TextPlace
from app.transcript.stream_buffer import Pieces, StreamBuffer
from app.transcript.text_style import TextStyle
from app.transcript.view_input import ViewInput

_HIGHLIGHT_S = 0.006
_SIDE_MARGIN = 24
_COLUMN_CHARACTERS = 96  # the widest comfortable line


def _tr(text: str) -> str:
    return QCoreApplication.translate("Transcript", text)


class TranscriptView(QAbstractScrollArea):
    """Shows messages; see the module's text."""

    edit_requested = Signal(int)
    regenerate_requested = Signal(int)
    branch_requested = Signal(int)
    delete_requested = Signal(int)
    version_requested = Signal(int, int)
    document_requested = Signal(int)

    def __init__(self, style: TextStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.page = Page(style)
        self._frames = FramePool(self)
        self._input = ViewInput(self, self)  # before anything touches the viewport, because it hears of that
        self._place = ReadingPlace(self.page, self)
        self._place.scrolled.connect(self._refresh)
        self._newest = NewestButton(style.theme, self)
        self._newest.clicked.connect(self.scroll_to_newest)
        self._stream = StreamBuffer(self._append, self)
        self._highlight_timer = QTimer(self, interval=16)
        self._highlight_timer.timeout.connect(self._on_highlight_due)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(_tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setObjectName("reading")
        self._wire_frames()

    def _wire_frames(self) -> None:
        frames = self._frames
        frames.edit_requested.connect(self.edit_requested)
        frames.regenerate_requested.connect(self.regenerate_requested)
        frames.branch_requested.connect(self.branch_requested)
        frames.delete_requested.connect(self.delete_requested)
        frames.version_requested.connect(self.version_requested)
        frames.document_requested.connect(self.document_requested)
        frames.fold_toggled.connect(self.toggle_fold)
        frames.expand_toggled.connect(self.toggle_expanded)
        frames.scrolled_sideways.connect(self.viewport().update)

    # ------------------------------------------------------------ content

    @property
    def messages(self) -> Sequence[MessageView]:
        return self.page.messages

    @property
    def text_style(self) -> TextStyle:
        return self.page.style

    @property
    def selection(self) -> Selection:
        return self.page.selection

    def set_messages(self, views: Sequence[MessageView], *, keep_place: bool = False) -> None:
        """Show another chat at its end, or (keep_place) another version of this one where it stands."""
        top = self._place.top
        self._stream.clear()
        self._frames.clear()
        self.page.width = self.column_width()
        self.page.show(views, keep=keep_place)
        self._place.follows = not keep_place or self._place.follows
        self._refresh()
        if not self._place.follows:
            self._place.move_to(top)

    def add_message(self, view: MessageView) -> None:
        """Put a message at the end."""
        if not self.page.update(view):
            self.page.add(view)
        self._refresh()

    def update_message(self, view: MessageView) -> None:
        """Show a new state of a message. Text still waiting for the timer is dropped: `view` has the whole text."""
        self._stream.drop(view.id)
        if self.page.update(view):
            self._refresh()

    def update_state(self, view: MessageView) -> None:
        """Show a new state of an answer that is being written; the text and thinking shown so far stay."""
        if self.page.update_state(view):
            self._refresh()

    def set_prefill(self, message_id: int, prefill: PrefillStatus) -> None:
        """How far the prompt of a waiting answer has been read."""
        frame = self._frames.existing(message_id)
        if self.page.set_prefill(message_id, prefill) and frame is not None:
            frame.show_prefill(prefill)

    def append_text(self, message_id: int, thinking: str, text: str, thinking_tokens: int | None = None) -> None:
        """Take streamed text; it is painted within stream_buffer.FLUSH_MS."""
        self._stream.add(message_id, (thinking, text, thinking_tokens))

    def flush(self) -> None:
        """Paint what has streamed in."""
        self._stream.flush()

    def _append(self, pieces: Pieces) -> None:
        for message_id, of_message in pieces.items():
            self.page.append(message_id, of_message)
        self._refresh()

    def set_style(self, style: TextStyle) -> None:
        """Another theme or text size: everything is laid out again, where it is seen."""
        anchor = self._place.anchor()
        self._newest.set_theme(style.theme)
        self.page.style = style
        self.page.set_style(style, self.column_width())
        self._return_to(anchor)

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stays open after it ended, where the person did not say otherwise."""
        anchor = self._place.anchor()
        if self.page.set_thinking_open(is_open):
            self._return_to(anchor)

    def frame(self, message_id: int) -> MessageFrame | None:
        """The controls of a message, None while it is not in sight."""
        return self._frames.existing(message_id)

    def toggle_fold(self, message_id: int) -> None:
        """Open or close the thinking of a message; what was clicked stays where it is."""
        self._place.follows = False
        self.page.toggle_fold(message_id)
        self._refresh()

    def toggle_expanded(self, message_id: int) -> None:
        """Show all of a long question, or its beginning; what was clicked stays where it is."""
        self._place.follows = False
        self.page.toggle_expanded(message_id)
        self._refresh()

    # ------------------------------------------------------------ geometry

    def column_width(self) -> float:
        return self.column_in(self.viewport().width())[1]

    def column_left(self) -> float:
        return self.column_in(self.viewport().width())[0]

    def column_in(self, width: int) -> tuple[float, float]:
        """Left edge and width of the reading column in a viewport of this width."""
        widest = self.page.style.width_of_characters(_COLUMN_CHARACTERS)
        column = max(160.0, min(width - 2 * _SIDE_MARGIN, widest))
        return max(float(_SIDE_MARGIN), (width - column) / 2), column

    def scroll_y(self) -> float:
        return self._place.top

    def layout_of_row(self, row: int) -> MessageLayout:
        return self.page.layout(row)

    def row_top(self, row: int) -> float:
        return self.page.geometry.top(row)

    def visible_rows(self) -> range:
        return self._place.visible_rows()

    def _return_to(self, anchor: Anchor) -> None:
        """After all heights changed."""
        self._place.return_to(anchor)
        self._refresh()

    def _refresh(self) -> None:
        """Lay out what is seen, keep the place, put the controls, repaint."""
        self._place.settle()
        self.place_frames()
        self.page.release_far(self.visible_rows())
        self._newest.show_over(self.viewport(), not self._place.follows and not self._place.is_all_in_sight)
        self.viewport().update()
        if not self._highlight_timer.isActive():
            self._highlight_timer.start()

    def place_frames(self) -> None:
        """Put the controls of the visible messages at their places."""
        top, height, theme = self.scroll_y(), self.viewport().height(), self.page.style.theme
        x, width = round(self.column_left()) - FRAME_MARGIN, round(self.column_width()) + 2 * FRAME_MARGIN
        rows = self.visible_rows()
        self._frames.keep({self.messages[row].id for row in rows})
        for row in rows:
            layout, row_top = self.page.layout(row), self.row_top(row)
            frame = self._frames.frame(layout.view.id, self.viewport(), theme)
            frame.setGeometry(x, round(row_top - top), width, round(layout.height))
            visible = (top - row_top, top - row_top + height)
            frame.bind(layout, position=row + 1, total=len(self.messages), visible=visible, theme=theme)
            frame.show()
        self._frames.order_focus(self, [self.messages[row].id for row in rows])
        self.viewport().update()

    # ------------------------------------------------------------ scrolling

    @property
    def follows(self) -> bool:
        """True while the view stays at the newest text by itself."""
        return self._place.follows

    def scroll_to_newest(self) -> None:
        self._place.follows = True
        self._refresh()

    def scroll_to_message(self, message_id: int) -> None:
        self.scroll_to_place(TextPlace(message_id, 1, 0, 0))

    def scroll_to_place(self, place: TextPlace) -> None:
        """Bring a place in the text into the upper third of the window."""
        if self._place.approach(place):
            self._refresh()

    # ------------------------------------------------------------ selection and colours

    def selected_text(self) -> str:
        return self.page.selected_text()

    def select_all(self) -> None:
        self.page.select_all()
        self.viewport().update()

    def _on_highlight_due(self) -> None:
        """Colour code in the window, a few milliseconds at a time."""
        top, height = self.scroll_y(), self.viewport().height()
        for row in self.visible_rows():
            row_top = self.row_top(row)
            for code in self.page.layout(row).code_between(top - row_top, top - row_top + height):
                if not code.highlight(self.page.style, _HIGHLIGHT_S):
                    self.viewport().update()
                    return
        self._highlight_timer.stop()
        self.viewport().update()

    # ------------------------------------------------------------ events

    def resizeEvent(self, event: QResizeEvent) -> None:
        anchor = self._place.anchor()
        super().resizeEvent(event)
        self.page.set_width(self.column_width())
        self._return_to(anchor)

    def viewportEvent(self, event: QEvent) -> bool:
        return self._input.viewport_event(event) or super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._input.key_press(event):
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_page(self.viewport(), event.rect(), self.page, self.column_left(), self.scroll_y())
