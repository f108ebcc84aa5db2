"""One message laid out: its blocks, the places of its controls, its height. Owned by the view; GUI thread.

Blocks of a finished part are made once. While text streams in, only the block at the end changes; when the answer
ends, one last parse reuses every block that came out the same.
"""

from bisect import bisect_left, bisect_right
from dataclasses import replace

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF

from app.transcript.block_layout import BLOCK_GAP, BlockLayout
from app.transcript.code_layout import CodeLayout
from app.transcript.markdown import Block, BlockKind, StreamParser, parse_blocks, plain_blocks
from app.transcript.model import MessageState, MessageView, Role
from app.transcript.slots import PlacedBlock, Slot, SlotKind
from app.transcript.text_style import TextStyle

MESSAGE_GAP = 16.0
ANSWER_GAP = 4.0  # the row of buttons under the question is space enough
BUTTON_PADDING = 5.0  # a flat button starts this far left of its icon
CARD_PADDING = 12.0
UNDER_LINE = 4.0  # wide lines have their extra space below the text; the card takes some of it back
FOLD_INDENT = 16.0
ROW = 32.0
COLLAPSED_CHARACTERS = 3_000  # of a person's own text; the rest is behind "Show all"
_COLLAPSED_LINES = 24
_MOST_PASSES = 16  # of layout, until the blocks in the window are exact


class MessageLayout:
    """Geometry and blocks of one message."""

    def __init__(self, view: MessageView, style: TextStyle, *, keeps_thinking_open: bool = False) -> None:
        self.view = view
        self.height = 0.0
        self.card: QRectF | None = None
        self.slots: list[Slot] = []
        self.is_expanded = False
        self.fold_choice: bool | None = None  # what the person did to the fold; None: automatic
        self._keeps_thinking_open = keeps_thinking_open
        self._style = style
        self._width = 0.0
        self._sections: tuple[list[BlockLayout], list[BlockLayout]] = ([], [])
        self._flow: list[PlacedBlock] = []
        self._parsers: tuple[StreamParser, StreamParser] | None = None
        self._rebuild_blocks()

    # ------------------------------------------------------------ content

    @property
    def is_fold_open(self) -> bool:
        if self.fold_choice is not None:
            return self.fold_choice
        runs = self.view.state is MessageState.STREAMING and not self.view.text
        return runs or self._keeps_thinking_open

    @property
    def is_collapsible(self) -> bool:
        text = self.view.text
        return self.view.role is Role.USER and (len(text) > COLLAPSED_CHARACTERS or text.count("\n") > _COLLAPSED_LINES)

    def append(self, thinking: str, text: str) -> None:
        """Take streamed text. The blocks before the last one are left alone."""
        if self._parsers is None:
            self._parsers = (StreamParser(), StreamParser())
            self._sections[0].clear()
            self._sections[1].clear()
            self._push(0, self.view.thinking)
            self._push(1, self.view.text)
        self.view = replace(
            self.view,
            state=MessageState.STREAMING,
            thinking=self.view.thinking + thinking,
            text=self.view.text + text,
            prefill=None,
        )
        self._push(0, thinking)
        self._push(1, text)
        self.compose()

    def _push(self, section: int, text: str) -> None:
        if not text or self._parsers is None:
            return
        parser, layouts = self._parsers[section], self._sections[section]
        final_before = parser.final_count
        parser.push(text)
        fresh = parser.blocks()[final_before:]
        self._put(layouts, final_before, fresh, muted=section == 0)

    def _put(self, layouts: list[BlockLayout], start: int, blocks: list[Block], *, muted: bool) -> None:
        """Make layouts[start:] show `blocks`, keeping every layout whose block is unchanged or only grew."""
        old = layouts[start:]
        del layouts[start:]
        for index, block in enumerate(blocks):
            kept = old[index] if index < len(old) else None
            layouts.append(kept if kept is not None and self._takes(kept, block) else _make(block, muted=muted))
        self._set_widths(layouts[start:], section=0 if muted else 1)

    def _takes(self, layout: BlockLayout, block: Block) -> bool:
        """True if the layout shows the block already, or is code that only grew and took the rest."""
        if _same(layout.block, block):
            return True
        return isinstance(layout, CodeLayout) and block.kind is BlockKind.CODE and layout.extend(block, self._style)

    def update(self, view: MessageView) -> None:
        """Show another state of the same message; unchanged blocks are kept."""
        same_text = (view.text, view.thinking) == (self.view.text, self.view.thinking)
        self.view = view
        if not same_text or self._has_references():
            self._rebuild_blocks()
        elif view.state is not MessageState.STREAMING:
            self._parsers = None  # what was streamed is the whole text: its blocks are final as they are
        self.compose()

    def _has_references(self) -> bool:
        return self._parsers is not None and any(parser.has_references for parser in self._parsers)

    def _rebuild_blocks(self) -> None:
        self._parsers = None
        thinking = parse_blocks(self.view.thinking) if self.view.thinking else []
        self._put(self._sections[0], 0, thinking, muted=True)
        self._put(self._sections[1], 0, self._body_blocks(), muted=False)

    def _body_blocks(self) -> list[Block]:
        if self.view.role is Role.ASSISTANT:
            return parse_blocks(self.view.text)
        text = self.view.text
        if self.is_collapsible and not self.is_expanded:
            text = "\n".join(text[:COLLAPSED_CHARACTERS].split("\n")[:_COLLAPSED_LINES]).rstrip() + " …"
        return plain_blocks(text)

    def set_expanded(self, expanded: bool) -> None:
        self.is_expanded = expanded
        self._rebuild_blocks()
        self.compose()

    # ------------------------------------------------------------ geometry

    def set_width(self, width: float) -> None:
        if width != self._width:
            self._width = width
            for section, layouts in enumerate(self._sections):
                self._set_widths(layouts, section)
            self.compose()

    def set_style(self, style: TextStyle) -> None:
        self._style = style
        for layouts in self._sections:
            for layout in layouts:
                layout.invalidate()
        for section, layouts in enumerate(self._sections):
            self._set_widths(layouts, section)
        self.compose()

    def _inset(self, section: int) -> float:
        if self.view.role is Role.USER:
            return CARD_PADDING
        return FOLD_INDENT if section == 0 else 0.0

    def _set_widths(self, layouts: list[BlockLayout], section: int) -> None:
        if self._width <= 0:
            return
        inset = self._inset(section)
        width = self._width - (2 * inset if self.view.role is Role.USER else inset)
        for layout in layouts:
            layout.x = inset
            layout.set_width(width, self._style)

    def compose(self) -> None:
        """Put every block and control at its place, top to bottom."""
        self.slots = []
        self.card = None
        is_question = self.view.role is Role.USER
        y = self._compose_question(MESSAGE_GAP) if is_question else self._compose_answer(ANSWER_GAP)
        y = self._slot(SlotKind.ACTIONS, y, ROW, inset=-BUTTON_PADDING)
        self.height = y
        thinking = self._sections[0] if self.is_fold_open else []
        self._flow = [PlacedBlock(0, i, layout) for i, layout in enumerate(thinking)]
        self._flow += [PlacedBlock(1, i, layout) for i, layout in enumerate(self._sections[1])]

    def _compose_question(self, y: float) -> float:
        top = y
        y += CARD_PADDING + UNDER_LINE / 2
        if self.view.attachments:
            y = self._slot(
                SlotKind.ATTACHMENTS, y, ROW * len(self.view.attachments), inset=CARD_PADDING - BUTTON_PADDING
            )
            y += 4.0 if self.view.text else 0.0
        y = self._stack(self._sections[1], y, 1)
        if self.is_collapsible:
            y = self._slot(SlotKind.SHOW_ALL, y, ROW, inset=CARD_PADDING - BUTTON_PADDING)
        y += CARD_PADDING - UNDER_LINE
        self.card = QRectF(0, top, self._width, y - top)
        return y

    def _compose_answer(self, y: float) -> float:
        if self.view.thinking:
            y = self._slot(SlotKind.FOLD, y, ROW, inset=-BUTTON_PADDING)
            if self.is_fold_open:
                y = self._stack(self._sections[0], y, 0) + BLOCK_GAP
        y = self._stack(self._sections[1], y, 1)
        if self.view.state is MessageState.WAITING:
            y = self._slot(SlotKind.PREFILL, y, 2.5 * ROW)
        if self.view.notice:
            y = self._slot(SlotKind.NOTICE, y + 8.0, self._notice_height())
        return y

    def _notice_height(self) -> float:
        box = QRect(0, 0, max(80, int(self._width) - 160), 100_000)
        metrics = QFontMetrics(self._style.body)
        return max(48.0, metrics.boundingRect(box, Qt.TextFlag.TextWordWrap, self.view.notice).height() + 28.0)

    def _stack(self, layouts: list[BlockLayout], y: float, section: int) -> float:
        for index, layout in enumerate(layouts):
            if index:
                y += layout.gap_above
            layout.top = y
            y += layout.height
            if isinstance(layout, CodeLayout):
                rect = QRectF(layout.x, layout.top, layout.width, layout.height)
                self.slots.append(Slot(SlotKind.CODE, (section, index), rect, layout))
        return y

    def _slot(self, kind: SlotKind, y: float, height: float, inset: float = 0.0) -> float:
        if height % (ROW / 2) == 0:  # rows of controls grow with the text
            height *= max(1.0, (QFontMetricsF(self._style.body).height() + 12) / ROW)
        self.slots.append(Slot(kind, (0, 0), QRectF(inset, y, self._width - inset - max(0.0, inset), height)))
        return y + height

    # ------------------------------------------------------------ visible part

    def blocks(self) -> list[PlacedBlock]:
        """The blocks that take part in the page, top to bottom."""
        return self._flow

    def thinking_span(self) -> tuple[float, float] | None:
        """Top and bottom of the open thinking, None if there is none."""
        first = self._sections[0]
        if not first or not self.is_fold_open:
            return None
        return first[0].top, first[-1].top + first[-1].height

    def code_between(self, top: float, bottom: float) -> list[CodeLayout]:
        """The code blocks that touch [top, bottom)."""
        return [b.layout for b in self.blocks_between(top, bottom) if isinstance(b.layout, CodeLayout)]

    def blocks_between(self, top: float, bottom: float) -> list[PlacedBlock]:
        """The blocks that touch [top, bottom)."""
        first = bisect_right(self._flow, top, key=lambda placed: placed.layout.top + placed.layout.height)
        last = bisect_left(self._flow, bottom, key=lambda placed: placed.layout.top)
        return self._flow[first:last]

    def realise(self, top: float, bottom: float) -> float:
        """Lay out what touches [top, bottom); how much content above `top` grew."""
        shift = 0.0
        for _ in range(_MOST_PASSES):
            pending = [b.layout for b in self.blocks_between(top, bottom) if b.layout.document is None]
            if not pending:
                break
            grown_above = 0.0
            for layout in pending:
                before = layout.height
                layout.realise(self._style)
                if layout.top < top:
                    grown_above += layout.height - before
            shift, top, bottom = shift + grown_above, top + grown_above, bottom + grown_above
            self.compose()
        return shift

    def release(self) -> None:
        for layouts in self._sections:
            for layout in layouts:
                layout.release()


def _same(a: Block, b: Block) -> bool:
    return (a.kind, a.source, a.text, a.is_list_item, a.ordinal) == (
        b.kind,
        b.source,
        b.text,
        b.is_list_item,
        b.ordinal,
    )


def _make(block: Block, *, muted: bool) -> BlockLayout:
    return CodeLayout(block, muted=muted) if block.kind is BlockKind.CODE else BlockLayout(block, muted=muted)
