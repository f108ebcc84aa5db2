"""The messages of the shown chat and where each stands: layouts, heights, selection. No widgets, no scrolling.

The view owns it and asks it to lay out what is in the window; rows that are far away have estimated heights and no
layout. GUI thread.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.transcript.height_estimate import estimate_heights
from app.transcript.message_layout import MessageLayout
from app.transcript.model import MessageState, MessageView, PrefillStatus
from app.transcript.row_geometry import RowGeometry
from app.transcript.selection import Selection, TextPlace, selected_text
from app.transcript.text_style import TextStyle

_KEPT_ROWS = 30  # laid out rows kept beyond the window, above and below
StreamedPiece = tuple[str, str, int | None]  # thinking, text, tokens of the thinking so far


class Page:
    """Rows are messages, counted from 0. Widths and heights are in pixels."""

    def __init__(self, style: TextStyle) -> None:
        self.style = style
        self.width = 0.0
        self.geometry = RowGeometry()
        self._views: list[MessageView] = []
        self._rows: dict[int, int] = {}
        self._layouts: dict[int, MessageLayout] = {}
        self._folds: dict[int, bool] = {}
        self._keeps_thinking_open = False
        self.selection = Selection(self._rows.get)

    # ------------------------------------------------------------ content

    @property
    def messages(self) -> Sequence[MessageView]:
        return self._views

    def row_of(self, message_id: int) -> int | None:
        return self._rows.get(message_id)

    def show(self, views: Sequence[MessageView], *, keep: bool) -> None:
        """Show these messages. With `keep`, layouts, folds and selection of those that stay are kept."""
        kept = {view.id: self._layouts[view.id] for view in views if view.id in self._layouts} if keep else {}
        self._views = list(views)
        self._rows.clear()
        self._rows.update({view.id: row for row, view in enumerate(self._views)})
        self._layouts = kept
        for view in views if kept else ():
            if view.id in kept and kept[view.id].view != view:
                kept[view.id].update(view)
        if not keep:
            self.selection.clear()
            self._folds.clear()
        self._reset_heights()

    def add(self, view: MessageView) -> None:
        """Put a message at the end."""
        self._views.append(view)
        self._rows[view.id] = len(self._views) - 1
        self.geometry.insert(len(self._views) - 1, *estimate_heights([view], self.style, self.width))

    def update(self, view: MessageView) -> bool:
        """Show a new state of a message, its text included. False if it is not on the page."""
        row = self._rows.get(view.id)
        if row is None:
            return False
        self._views[row] = view
        layout = self._layouts.get(view.id)
        if layout is not None:
            layout.update(view)
            self.geometry.set_height(row, layout.height)
        return True

    def update_state(self, view: MessageView) -> bool:
        """Show a new state of an answer that is being written; its text and thinking stay as they are shown."""
        row = self._rows.get(view.id)
        if row is None:
            return False
        shown = self._views[row]
        has_begun = shown.text or shown.thinking
        state = MessageState.STREAMING if has_begun and view.state is MessageState.WAITING else view.state
        merged = replace(
            view, text=shown.text, thinking=shown.thinking, thinking_tokens=shown.thinking_tokens, state=state
        )
        self._put(row, merged)
        return True

    def set_prefill(self, message_id: int, prefill: PrefillStatus) -> bool:
        """Note how far the prompt of a waiting answer has been read. False if it does not wait."""
        row = self._rows.get(message_id)
        if row is None or self._views[row].state is not MessageState.WAITING:
            return False
        self._views[row] = replace(self._views[row], prefill=prefill)
        self.layout(row).view = self._views[row]
        return True

    def append(self, message_id: int, pieces: Sequence[StreamedPiece]) -> None:
        """Add streamed text to an answer."""
        row = self._rows.get(message_id)
        if row is None:
            return
        layout = self.layout(row)
        layout.view = replace(layout.view, thinking_tokens=pieces[-1][2])
        layout.append("".join(piece[0] for piece in pieces), "".join(piece[1] for piece in pieces))
        self._views[row] = layout.view
        self.geometry.set_height(row, layout.height)

    def _put(self, row: int, view: MessageView) -> None:
        self._views[row] = view
        layout = self.layout(row)
        layout.view = view
        layout.compose()
        self.geometry.set_height(row, layout.height)

    # ------------------------------------------------------------ folds

    def toggle_fold(self, message_id: int) -> None:
        """Open or close the thinking of a message."""
        row = self._rows.get(message_id)
        if row is not None:
            layout = self.layout(row)
            layout.fold_choice = not layout.is_fold_open
            self._folds[message_id] = layout.fold_choice
            layout.compose()
            self.geometry.set_height(row, layout.height)

    def toggle_expanded(self, message_id: int) -> None:
        """Show all of a long question, or its beginning."""
        row = self._rows.get(message_id)
        if row is not None:
            layout = self.layout(row)
            layout.set_expanded(not layout.is_expanded)
            self.geometry.set_height(row, layout.height)

    def set_thinking_open(self, is_open: bool) -> bool:
        """Whether thinking stays open after it ended, where the person did not say otherwise. True if that is new."""
        if is_open == self._keeps_thinking_open:
            return False
        self._keeps_thinking_open = is_open
        self._layouts.clear()
        self._reset_heights()
        return True

    def is_thinking_shown(self, row: int) -> bool:
        """Whether the thinking of a message is unfolded, without laying the message out."""
        view = self._views[row]
        layout = self._layouts.get(view.id)
        return self._folds.get(view.id, self._keeps_thinking_open) if layout is None else layout.is_fold_open

    # ------------------------------------------------------------ layout

    def layout(self, row: int) -> MessageLayout:
        """The layout of a row, made if it is not there."""
        view = self._views[row]
        layout = self._layouts.get(view.id)
        if layout is None:
            layout = MessageLayout(view, self.style, keeps_thinking_open=self._keeps_thinking_open)
            layout.fold_choice = self._folds.get(view.id)
            layout.set_width(self.width)
            self._layouts[view.id] = layout
        return layout

    def is_laid_out(self, row: int) -> bool:
        return self._views[row].id in self._layouts

    def set_width(self, width: float) -> None:
        if width == self.width:
            return
        self._set_width(width)

    def _set_width(self, width: float) -> None:
        self.width = width
        for layout in self._layouts.values():
            layout.set_width(width)
        self._reset_heights()

    def set_style(self, style: TextStyle, width: float) -> None:
        """Another theme or text size."""
        self.style = style
        for layout in self._layouts.values():
            layout.set_style(style)
        self._set_width(width)

    def correct_row(self, row: int, top: float, height: float) -> float | None:
        """Give one row its exact layout where the window, at `top` and `height` high, shows it.

        None if nothing changed; otherwise how much grew above the window's upper edge.
        """
        row_top, before = self.geometry.top(row), self.geometry.height(row)
        layout = self.layout(row)
        if layout.height != before:  # the first estimate of a message gives way to one made of its blocks
            grown_above = layout.height - before if row_top < top else 0.0
        else:
            grown_above = layout.realise(top - row_top, top - row_top + height)
        if layout.height == before:
            return None
        self.geometry.set_height(row, layout.height)
        return grown_above

    def release_far(self, rows: range) -> None:
        """Drop the layouts of messages far from the visible rows."""
        if len(self._layouts) <= len(rows) + 2 * _KEPT_ROWS:
            return
        for message_id in list(self._layouts):
            row = self._rows[message_id]
            is_far = row < rows.start - _KEPT_ROWS or row > rows.stop + _KEPT_ROWS
            if is_far and self._views[row].state is not MessageState.STREAMING:
                del self._layouts[message_id]

    def _reset_heights(self) -> None:
        """Estimates for all messages, exact heights where there is a layout."""
        heights = estimate_heights(self._views, self.style, self.width)
        for message_id, layout in self._layouts.items():
            heights[self._rows[message_id]] = layout.height
        self.geometry.reset(heights)

    # ------------------------------------------------------------ selection

    def selected_text(self) -> str:
        return selected_text(self.selection, self.layout, self.style)

    def select_all(self) -> None:
        if not self._views:
            return
        first_blocks, last_blocks = self.layout(0).blocks(), self.layout(len(self._views) - 1).blocks()
        if first_blocks and last_blocks:
            first, end = first_blocks[0], last_blocks[-1]
            self.selection.set(
                TextPlace(self._views[0].id, first.section, first.index, 0),
                TextPlace(self._views[-1].id, end.section, end.index, end.layout.length(self.style)),
            )
