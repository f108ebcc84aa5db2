"""Selected text across blocks and messages: two places, kept by message id so that they survive updates. GUI thread."""

from collections.abc import Callable
from dataclasses import dataclass

from app.transcript.message_layout import MessageLayout
from app.transcript.slots import PlacedBlock
from app.transcript.text_style import TextStyle


@dataclass(frozen=True, slots=True)
class TextPlace:
    """One point in the text of the page. `position` counts as QTextDocument does."""

    message_id: int
    section: int
    index: int
    position: int


class Selection:
    """From an anchor to a head, in either order."""

    def __init__(self, row_of: Callable[[int], int | None]) -> None:
        self._row_of = row_of
        self.anchor: TextPlace | None = None
        self.head: TextPlace | None = None

    @property
    def is_empty(self) -> bool:
        return self.anchor is None or self.head is None or self.anchor == self.head

    def set(self, anchor: TextPlace | None, head: TextPlace | None) -> None:
        self.anchor, self.head = anchor, head

    def clear(self) -> None:
        self.set(None, None)

    def _key(self, place: TextPlace) -> tuple[int, int, int, int] | None:
        row = self._row_of(place.message_id)
        return None if row is None else (row, place.section, place.index, place.position)

    def bounds(self) -> tuple[tuple[int, int, int, int], tuple[int, int, int, int]] | None:
        """(row, section, index, position) of start and end, in order; None if nothing is selected."""
        if self.anchor is None or self.head is None:
            return None
        a, b = self._key(self.anchor), self._key(self.head)
        if a is None or b is None or a == b:
            return None
        return (a, b) if a < b else (b, a)

    def span(self, row: int, placed: PlacedBlock, bounds: "Bounds") -> tuple[int, int] | None:
        """The selected positions of one block, None if it has none."""
        if bounds is None:
            return None
        start, end = bounds
        here = (row, placed.section, placed.index)
        if here < start[:3] or here > end[:3]:
            return None
        first = start[3] if here == start[:3] else 0
        last = end[3] if here == end[:3] else 1 << 30
        return first, last


Bounds = tuple[tuple[int, int, int, int], tuple[int, int, int, int]] | None


def selected_text(selection: Selection, layout_of_row: Callable[[int], MessageLayout], style: TextStyle) -> str:
    """The selected plain text; messages and blocks are kept apart by an empty line."""
    bounds = selection.bounds()
    if bounds is None:
        return ""
    messages: list[str] = []
    for row in range(bounds[0][0], bounds[1][0] + 1):
        text = ""
        for placed in layout_of_row(row).blocks():
            span = selection.span(row, placed, bounds)
            if span is None:
                continue
            piece = placed.layout.text(style, *span)
            text += piece if not text else _separator(placed) + piece
        if text:
            messages.append(text)
    return "\n\n".join(messages)


def _separator(placed: PlacedBlock) -> str:
    block = placed.layout.block
    if block.joins_previous:
        return ""
    return "\n" if block.is_list_item or block.joins_table or block.kind.value == "plain" else "\n\n"
