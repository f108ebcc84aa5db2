"""The conversation: a scroll area that lays out and paints only what is in the window. GUI thread.

Rows have exact heights once seen and estimated ones before; when an estimate above the window is corrected, the scroll
position moves with it, so the text one reads stands still. Streamed text is gathered and painted on a timer. The
window gives `MessageView` records and gets message ids back.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QPushButton, QWidget

from app.theme import RADIUS
from app.transcript.frame_pool import FramePool
from app.transcript.message_frame import FRAME_MARGIN
from app.transcript.message_layout import MessageLayout, estimate_heights
from app.transcript.model import MessageState, MessageView, PrefillStatus
from app.transcript.row_geometry import RowGeometry
from app.transcript.selection import Selection, TextPlace, selected_text
from app.transcript.text_style import TextStyle
from app.transcript.view_input import ViewInput
from app.widgets.icons import icon

FLUSH_MS = 40
_SLOWEST_FLUSH_MS = 400
_FLUSH_SHARE = 4  # the pause is at least this many times the cost of the last flush
_HIGHLIGHT_S = 0.006
_SIDE_MARGIN = 24
_COLUMN_CHARACTERS = 96  # the widest comfortable line
_BOTTOM_MARGIN = 24.0
_MOST_CORRECTIONS = 200  # rows in the window, each corrected at most a few times
_KEPT_ROWS = 30  # laid out rows kept beyond the window, above and below


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
        self._style = style
        self._views: list[MessageView] = []
        self._rows: dict[int, int] = {}
        self._layouts: dict[int, MessageLayout] = {}
        self._folds: dict[int, bool] = {}
        self._geometry = RowGeometry()
        self._pending: dict[int, list[tuple[str, str, int | None]]] = {}
        self._follows = True
        self._is_adjusting = False
        self._keeps_thinking_open = False
        self.selection = Selection(self._rows.get)
        self._frames = FramePool(self)
        self._input = ViewInput(self)
        self._newest = self._make_newest_button()
        self._flush_timer = QTimer(self)
        self._flush_timer.setSingleShot(True)
        self._flush_timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._flush_timer.timeout.connect(self.flush)
        self._flush_cost_ms = 0.0
        self._highlight_timer = QTimer(self)
        self._highlight_timer.setInterval(16)
        self._highlight_timer.timeout.connect(self._on_highlight_due)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setObjectName("reading")
        self.setAccessibleName(_tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setObjectName("reading")
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().setSingleStep(24)
        self._wire_frames()

    def _make_newest_button(self) -> QPushButton:
        newest = QPushButton(_tr("Newest"), self)
        newest.setObjectName("newestButton")
        newest.setAccessibleName(_tr("Go to the newest message"))
        newest.setIcon(icon("newest", self._style.theme))
        newest.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        newest.clicked.connect(self.scroll_to_newest)
        newest.hide()
        return newest

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
        return self._views

    @property
    def text_style(self) -> TextStyle:
        return self._style

    def set_messages(self, views: Sequence[MessageView], *, keep_place: bool = False) -> None:
        """Show another chat at its end, or (keep_place) another version of this one where it stands."""
        place = self.verticalScrollBar().value()
        self._pending.clear()
        kept = {view.id: self._layouts[view.id] for view in views if view.id in self._layouts} if keep_place else {}
        self._views = list(views)
        self._rows.clear()
        self._rows.update({view.id: row for row, view in enumerate(self._views)})
        self._layouts = kept
        for view in views if kept else ():
            if view.id in kept and kept[view.id].view != view:
                kept[view.id].update(view)
        if not keep_place:
            self.selection.clear()
            self._folds.clear()
        self._frames.clear()
        self._reset_heights()
        self._follows = not keep_place or self._follows
        self._refresh()
        if keep_place and not self._follows:
            self.verticalScrollBar().setValue(place)

    def add_message(self, view: MessageView) -> None:
        """Put a message at the end."""
        if view.id in self._rows:
            self.update_message(view)
            return
        self._views.append(view)
        self._rows[view.id] = len(self._views) - 1
        self._geometry.insert(len(self._views) - 1, *estimate_heights([view], self._style, self.column_width()))
        self._refresh()

    def update_message(self, view: MessageView) -> None:
        """Show a new state of a message. Text still waiting for the timer is dropped: `view` has the whole text."""
        row = self._rows.get(view.id)
        if row is None:
            return
        self._pending.pop(view.id, None)
        self._views[row] = view
        layout = self._layouts.get(view.id)
        if layout is not None:
            layout.update(view)
            self._geometry.set_height(row, layout.height)
        self._refresh()

    def update_state(self, view: MessageView) -> None:
        """Show a new state of an answer that is being written; the text and thinking shown so far stay."""
        row = self._rows.get(view.id)
        if row is None:
            return
        shown = self._views[row]
        has_begun = shown.text or shown.thinking
        state = MessageState.STREAMING if has_begun and view.state is MessageState.WAITING else view.state
        merged = replace(
            view, text=shown.text, thinking=shown.thinking, thinking_tokens=shown.thinking_tokens, state=state
        )
        self._views[row] = merged
        layout = self._layout(row)
        layout.view = merged
        layout.compose()
        self._geometry.set_height(row, layout.height)
        self._refresh()

    def set_prefill(self, message_id: int, prefill: PrefillStatus) -> None:
        """How far the prompt of a waiting answer has been read."""
        row = self._rows.get(message_id)
        if row is None or self._views[row].state is not MessageState.WAITING:
            return
        view = replace(self._views[row], prefill=prefill)
        self._views[row] = view
        self._layout(row).view = view
        frame = self._frames.existing(message_id)
        if frame is not None:
            frame.show_prefill(prefill)

    def append_text(
        self,
        message_id: int,
        thinking: str,
        text: str,
        thinking_tokens: int | None = None,
    ) -> None:
        """Take streamed text; it is painted within FLUSH_MS."""
        self._pending.setdefault(message_id, []).append((thinking, text, thinking_tokens))
        if not self._flush_timer.isActive():
            pause = max(FLUSH_MS, min(_SLOWEST_FLUSH_MS, int(self._flush_cost_ms * _FLUSH_SHARE)))
            self._flush_timer.start(pause)

    def flush(self) -> None:
        """Paint what has streamed in."""
        self._flush_timer.stop()
        started = time.monotonic()
        for message_id, pieces in self._pending.items():
            row = self._rows.get(message_id)
            if row is None:
                continue
            layout = self._layout(row)
            layout.view = replace(layout.view, thinking_tokens=pieces[-1][2])
            layout.append("".join(p[0] for p in pieces), "".join(p[1] for p in pieces))
            self._views[row] = layout.view
            self._geometry.set_height(row, layout.height)
        self._pending.clear()
        self._refresh()
        self._flush_cost_ms = 1000 * (time.monotonic() - started)

    def set_style(self, style: TextStyle) -> None:
        """Another theme or text size: everything is laid out again, where it is seen."""
        anchor = self._anchor()
        self._style = style
        for layout in self._layouts.values():
            layout.set_style(style)
        self._newest.setIcon(icon("newest", style.theme))
        self._relay_all(anchor)

    # ------------------------------------------------------------ geometry

    def column_width(self) -> float:
        return self.column_in(self.viewport().width())[1]

    def column_left(self) -> float:
        return self.column_in(self.viewport().width())[0]

    def column_in(self, width: int) -> tuple[float, float]:
        """Left edge and width of the reading column in a viewport of this width."""
        widest = self._style.width_of_characters(_COLUMN_CHARACTERS)
        column = max(160.0, min(width - 2 * _SIDE_MARGIN, widest))
        return max(float(_SIDE_MARGIN), (width - column) / 2), column

    def scroll_y(self) -> float:
        return float(self.verticalScrollBar().value())

    def row_of(self, message_id: int) -> int | None:
        return self._rows.get(message_id)

    def layout_of_row(self, row: int) -> MessageLayout:
        return self._layout(row)

    def is_laid_out(self, row: int) -> bool:
        return self._views[row].id in self._layouts

    def row_top(self, row: int) -> float:
        return self._geometry.top(row)

    def visible_rows(self) -> range:
        top = self.scroll_y()
        return self._geometry.rows_between(top, top + self.viewport().height())

    def _layout(self, row: int) -> MessageLayout:
        view = self._views[row]
        layout = self._layouts.get(view.id)
        if layout is None:
            layout = MessageLayout(view, self._style, keeps_thinking_open=self._keeps_thinking_open)
            layout.fold_choice = self._folds.get(view.id)
            layout.set_width(self.column_width())
            self._layouts[view.id] = layout
        return layout

    def _anchor(self) -> tuple[int, float] | None:
        """The message at the top edge and how much of it is above the edge, as a share of its height."""
        if not self._views:
            return None
        row = self._geometry.row_at(self.scroll_y())
        height = max(1.0, self._geometry.height(row))
        return self._views[row].id, (self.scroll_y() - self._geometry.top(row)) / height

    def _reset_heights(self) -> None:
        """Estimates for all messages, exact heights where there is a layout."""
        heights = estimate_heights(self._views, self._style, self.column_width())
        for message_id, layout in self._layouts.items():
            heights[self._rows[message_id]] = layout.height
        self._geometry.reset(heights)

    def _relay_all(self, anchor: tuple[int, float] | None) -> None:
        for layout in self._layouts.values():
            layout.set_width(self.column_width())
        self._reset_heights()
        self._update_range()
        row = self._rows.get(anchor[0]) if anchor else None
        if anchor is not None and row is not None and not self._follows:
            self._set_scroll(self._geometry.top(row) + anchor[1] * self._geometry.height(row))
        self._refresh()

    def _refresh(self) -> None:
        """Lay out what is seen, keep the place, put the controls, repaint."""
        self._is_adjusting = True
        try:
            self._settle()
        finally:
            self._is_adjusting = False
        self._place_frames()
        self._release_far_rows()
        self._update_newest_button()
        self.viewport().update()

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
        self._queue_highlighting()

    def _correct_row(self, row: int) -> bool:
        """Give one row its exact layout where it is seen. True if its height changed.

        What grows above the window's upper edge moves the scroll position, so that the text in the window stands.
        """
        top = self.scroll_y()
        row_top, before = self._geometry.top(row), self._geometry.height(row)
        layout = self._layout(row)
        starts_above = row_top < top
        if layout.height != before:  # the first estimate of a message gives way to one made of its blocks
            move = layout.height - before if starts_above else 0.0
        else:
            move = layout.realise(top - row_top, top - row_top + self.viewport().height())
        if layout.height == before:
            return False
        self._geometry.set_height(row, layout.height)
        if move and not self._follows:
            self._update_range()
            self._set_scroll(top + move)
        return True

    def _update_range(self) -> None:
        total = self._geometry.total() + _BOTTOM_MARGIN
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, max(0, round(total - self.viewport().height())))

    def _set_scroll(self, value: float) -> None:
        self.verticalScrollBar().setValue(round(value))

    def _place_frames(self) -> None:
        top, height = self.scroll_y(), self.viewport().height()
        x, total = self.column_left(), len(self._views)
        rows = self.visible_rows()
        self._frames.keep({self._views[row].id for row in rows})
        for row in rows:
            layout = self._layout(row)
            row_top = self._geometry.top(row)
            frame = self._frames.frame(layout.view.id, self.viewport(), self._style.theme)
            width = round(self.column_width()) + 2 * FRAME_MARGIN
            frame.setGeometry(round(x) - FRAME_MARGIN, round(row_top - top), width, round(layout.height))
            visible = (top - row_top, top - row_top + height)
            frame.bind(layout, position=row + 1, total=total, visible=visible, theme=self._style.theme)
            frame.show()

    def _release_far_rows(self) -> None:
        rows = self.visible_rows()
        if len(self._layouts) <= len(rows) + 2 * _KEPT_ROWS:
            return
        for message_id in list(self._layouts):
            row = self._rows.get(message_id)
            is_far = row is None or row < rows.start - _KEPT_ROWS or row > rows.stop + _KEPT_ROWS
            if is_far and (row is None or self._views[row].state is not MessageState.STREAMING):
                del self._layouts[message_id]

    # ------------------------------------------------------------ scrolling

    def _on_scrolled(self, value: int) -> None:
        if self._is_adjusting:
            return
        self._follows = value >= self.verticalScrollBar().maximum() - 2
        self._refresh()

    @property
    def follows(self) -> bool:
        """True while the view stays at the newest text by itself."""
        return self._follows

    def scroll_to_newest(self) -> None:
        self._follows = True
        self._refresh()

    def scroll_to_place(self, place: TextPlace) -> None:
        """Bring a place in the text into the upper third of the window."""
        row = self._rows.get(place.message_id)
        if row is None:
            return
        self._follows = False
        for _ in range(6):  # heights near the place may still be estimates
            layout = self._layout(row)
            placed = next((b for b in layout.blocks() if (b.section, b.index) == (place.section, place.index)), None)
            y = 0.0 if placed is None else placed.layout.top + placed.layout.y_of(place.position)
            before = self.scroll_y()
            self._is_adjusting = True
            self._set_scroll(self._geometry.top(row) + y - self.viewport().height() / 3)
            self._is_adjusting = False
            self._refresh()
            if self.scroll_y() == before:
                break

    def scroll_to_message(self, message_id: int) -> None:
        self.scroll_to_place(TextPlace(message_id, 1, 0, 0))

    def _update_newest_button(self) -> None:
        self._newest.setVisible(not self._follows and self.verticalScrollBar().maximum() > 0)
        if self._newest.isVisible():
            hint = self._newest.sizeHint()
            x = (self.viewport().width() - hint.width()) // 2
            self._newest.setGeometry(x, self.viewport().height() - hint.height() - 12, hint.width(), hint.height())
            self._newest.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        anchor = self._anchor()
        super().resizeEvent(event)
        self._relay_all(anchor)

    # ------------------------------------------------------------ controls, selection, colours

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stays open after it ended, where the person did not say otherwise."""
        if is_open != self._keeps_thinking_open:
            self._keeps_thinking_open = is_open
            self._layouts.clear()
            self._relay_all(self._anchor())

    def toggle_fold(self, message_id: int) -> None:
        row = self._rows.get(message_id)
        if row is None:
            return
        layout = self._layout(row)
        layout.fold_choice = not layout.is_fold_open
        self._folds[message_id] = layout.fold_choice
        layout.compose()
        self._take_height(row, layout)

    def _on_expand_toggled(self, message_id: int) -> None:
        row = self._rows.get(message_id)
        if row is not None:
            layout = self._layout(row)
            layout.set_expanded(not layout.is_expanded)
            self._take_height(row, layout)

    def _take_height(self, row: int, layout: MessageLayout) -> None:
        """A person changed the height: what they clicked stays where it is."""
        self._follows = False
        self._geometry.set_height(row, layout.height)
        self._refresh()

    def refresh_controls(self) -> None:
        self._place_frames()
        self.viewport().update()

    def row_at(self, y: float) -> int:
        return self._geometry.row_at(y)

    def selected_text(self) -> str:
        return selected_text(self.selection, self._layout, self._style)

    def select_all(self) -> None:
        if not self._views:
            return
        last = self._layout(len(self._views) - 1)
        first_blocks, last_blocks = self._layout(0).blocks(), last.blocks()
        if first_blocks and last_blocks:
            first, end = first_blocks[0], last_blocks[-1]
            self.selection.set(
                TextPlace(self._views[0].id, first.section, first.index, 0),
                TextPlace(last.view.id, end.section, end.index, end.layout.length(self._style)),
            )
            self.viewport().update()

    def _queue_highlighting(self) -> None:
        if not self._highlight_timer.isActive():
            self._highlight_timer.start()

    def _on_highlight_due(self) -> None:
        """Colour code in the window, a few milliseconds at a time."""
        top, height = self.scroll_y(), self.viewport().height()
        for row in self.visible_rows():
            row_top = self._geometry.top(row)
            for code in self._layout(row).code_between(top - row_top, top - row_top + height):
                if not code.highlight(self._style, _HIGHLIGHT_S):
                    self.viewport().update()
                    return
        self._highlight_timer.stop()
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        return self._input.viewport_event(event) or super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._input.key_press(event):
            super().keyPressEvent(event)

    # ------------------------------------------------------------ painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), QColor(self._style.theme.base))
        top, left = self.scroll_y(), self.column_left()
        exposed = QRectF(event.rect()).translated(-left, top)
        bounds = self.selection.bounds()
        for row in self._geometry.rows_between(exposed.top(), exposed.bottom()):
            row_top = self._geometry.top(row)
            layout = self._layout(row)
            painter.save()
            painter.translate(left, round(row_top - top))
            clip = exposed.translated(0, -row_top)
            self._paint_card(painter, layout)
            for placed in layout.blocks_between(clip.top(), clip.bottom()):
                block = placed.layout
                painter.save()
                painter.translate(block.x, block.top)
                span = self.selection.span(row, placed, bounds)
                block.paint(painter, self._style, clip.translated(-block.x, -block.top), span)
                painter.restore()
            painter.restore()

    def _paint_card(self, painter: QPainter, layout: MessageLayout) -> None:
        if layout.card is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._style.theme.raised))
            painter.drawRoundedRect(layout.card, RADIUS, RADIUS)
        fold = layout.thinking_span()
        if fold is not None:
            painter.fillRect(QRectF(2.0, fold[0], 2.0, fold[1] - fold[0]), QColor(self._style.theme.hairline))
