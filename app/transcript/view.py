"""The conversation: a scroll area that lays out and paints only what is in the window. GUI thread.

Rows have exact heights once seen and estimated ones before; when an estimate above the window is corrected, the scroll
position moves with it, so the text one reads stands still. Streamed text is gathered and painted on a timer. The
window gives `MessageView` records and gets message ids back.
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
from app.transcript.selection import Selection, TextPlace
from app.transcript.stream_buffer import Pieces, StreamBuffer
from app.transcript.text_style import TextStyle
from app.transcript.view_input import ViewInput

_HIGHLIGHT_S = 0.006
_SIDE_MARGIN = 24
_COLUMN_CHARACTERS = 96  # the widest comfortable line
_BOTTOM_MARGIN = 24.0
_MOST_CORRECTIONS = 200  # rows in the window, each corrected at most a few times


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
        self._follows = True
        self._is_adjusting = False
        self._focus_order: tuple[int, ...] = ()
        self._frames = FramePool(self)
        self._input = ViewInput(self, self)
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
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().setSingleStep(24)
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
        frames.expand_toggled.connect(self._on_expand_toggled)
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
        place = self.verticalScrollBar().value()
        self._stream.clear()
        self._frames.clear()
        self.page.width = self.column_width()
        self.page.show(views, keep=keep_place)
        self._follows = not keep_place or self._follows
        self._refresh()
        if not self._follows:
            self.verticalScrollBar().setValue(place)

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
        anchor = self._anchor()
        self._newest.set_theme(style.theme)
        self.page.style = style
        self.page.set_style(style, self.column_width())
        self._return_to(anchor)

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stays open after it ended, where the person did not say otherwise."""
        anchor = self._anchor()
        if self.page.set_thinking_open(is_open):
            self._return_to(anchor)

    def frame(self, message_id: int) -> MessageFrame | None:
        """The controls of a message, None while it is not in sight."""
        return self._frames.existing(message_id)

    def toggle_fold(self, message_id: int) -> None:
        """Open or close the thinking of a message; what was clicked stays where it is."""
        self._follows = False
        self.page.toggle_fold(message_id)
        self._refresh()

    def _on_expand_toggled(self, message_id: int) -> None:
        self._follows = False
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
        return float(self.verticalScrollBar().value())

    def layout_of_row(self, row: int) -> MessageLayout:
        return self.page.layout(row)

    def row_top(self, row: int) -> float:
        return self.page.geometry.top(row)

    def visible_rows(self) -> range:
        top = self.scroll_y()
        return self.page.geometry.rows_between(top, top + self.viewport().height())

    def _anchor(self) -> tuple[int, float] | None:
        """The message at the top edge and how much of it is above the edge, as a share of its height."""
        geometry = self.page.geometry
        if not self.messages:
            return None
        row = geometry.row_at(self.scroll_y())
        return self.messages[row].id, (self.scroll_y() - geometry.top(row)) / max(1.0, geometry.height(row))

    def _return_to(self, anchor: tuple[int, float] | None) -> None:
        """After all heights changed: bring the same place back to the top edge, or stay at the end."""
        self._update_range()
        row = self.page.row_of(anchor[0]) if anchor else None
        if anchor is not None and row is not None and not self._follows:
            self._set_scroll(self.row_top(row) + anchor[1] * self.page.geometry.height(row))
        self._refresh()

    def _refresh(self) -> None:
        """Lay out what is seen, keep the place, put the controls, repaint."""
        self._is_adjusting = True
        try:
            self._settle()
        finally:
            self._is_adjusting = False
        self.place_frames()
        self.page.release_far(self.visible_rows())
        self._update_newest_button()
        self.viewport().update()
        if not self._highlight_timer.isActive():
            self._highlight_timer.start()

    def _settle(self) -> None:
        """Lay out what is in the window until nothing moves any more."""
        for _ in range(_MOST_CORRECTIONS):
            self._update_range()
            if self._follows:
                self._set_scroll(float(self.verticalScrollBar().maximum()))
            if not any(self._correct_row(row) for row in self.visible_rows()):
                break
        self._update_range()
        if self._follows:
            self._set_scroll(float(self.verticalScrollBar().maximum()))

    def _correct_row(self, row: int) -> bool:
        """Lay a row out where it is seen. True if its height changed; what grew above the window is scrolled away."""
        top = self.scroll_y()
        grown_above = self.page.correct_row(row, top, self.viewport().height())
        if grown_above and not self._follows:
            self._update_range()
            self._set_scroll(top + grown_above)
        return grown_above is not None

    def _update_range(self) -> None:
        total = self.page.geometry.total() + _BOTTOM_MARGIN
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, max(0, round(total - self.viewport().height())))

    def _set_scroll(self, value: float) -> None:
        self.verticalScrollBar().setValue(round(value))

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
        self._order_focus(rows)
        self.viewport().update()

    def _order_focus(self, rows: range) -> None:
        """Let Tab go from the view through its messages, top to bottom; new widgets would come last in the window."""
        shown = tuple(self.messages[row].id for row in rows)
        if shown == self._focus_order:
            return
        self._focus_order = shown
        before: QWidget = self
        for message_id in shown:
            frame = self._frames.existing(message_id)
            for widget in frame.focus_chain() if frame is not None else ():
                QWidget.setTabOrder(before, widget)
                before = widget

    # ------------------------------------------------------------ scrolling

    def _on_scrolled(self, value: int) -> None:
        if not self._is_adjusting:
            self._follows = value >= self.verticalScrollBar().maximum() - 2
            self._refresh()

    @property
    def follows(self) -> bool:
        """True while the view stays at the newest text by itself."""
        return self._follows

    def scroll_to_newest(self) -> None:
        self._follows = True
        self._refresh()

    def scroll_to_message(self, message_id: int) -> None:
        self.scroll_to_place(TextPlace(message_id, 1, 0, 0))

    def scroll_to_place(self, place: TextPlace) -> None:
        """Bring a place in the text into the upper third of the window."""
        row = self.page.row_of(place.message_id)
        if row is None:
            return
        self._follows = False
        for _ in range(6):  # heights near the place may still be estimates
            blocks = self.page.layout(row).blocks()
            block = next((b.layout for b in blocks if (b.section, b.index) == (place.section, place.index)), None)
            y = 0.0 if block is None else block.top + block.y_of(place.position)
            before = self.scroll_y()
            self._is_adjusting = True
            self._set_scroll(self.row_top(row) + y - self.viewport().height() / 3)
            self._is_adjusting = False
            self._refresh()
            if self.scroll_y() == before:
                break
        self._follows = self.verticalScrollBar().value() >= self.verticalScrollBar().maximum()
        self._update_newest_button()

    def _update_newest_button(self) -> None:
        shown = not self._follows and self.verticalScrollBar().maximum() > 0
        self._newest.show_over(self.viewport(), shown)

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
        anchor = self._anchor()
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
