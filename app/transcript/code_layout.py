"""A fenced code block: a card with a header, lines that do not wrap, highlighting. GUI thread.

While an answer streams, new code is appended to the document instead of laying the whole block out again; the view
gives highlighting a few milliseconds at a time.
"""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QTextCursor, QTextDocument, QTextOption

from app.theme import RADIUS
from app.transcript.block_layout import BlockLayout, draw_document, new_document
from app.transcript.code_highlighter import CodeHighlighter
from app.transcript.highlight import is_ready
from app.transcript.markdown import Block
from app.transcript.text_style import TextStyle

HEADER = 32.0
PADDING = 12.0
SCROLLBAR = 10.0


class CodeLayout(BlockLayout):
    """Code under a header of HEADER pixels; the header's label and button are widgets placed by the view."""

    def __init__(self, block: Block, *, muted: bool = False) -> None:
        super().__init__(block, muted=muted)
        self.scroll_x = 0.0
        self.content_width = 0.0
        self._highlighter = CodeHighlighter()

    @property
    def max_scroll_x(self) -> float:
        return max(0.0, self.content_width - (self.width - 2 * PADDING))

    def estimate(self, style: TextStyle) -> float:
        lines = self.block.text.count("\n") + 1
        return HEADER + 2 * PADDING + lines * style.line_height() * 0.85

    def _build(self, style: TextStyle) -> QTextDocument:
        document = new_document(style)
        document.setDefaultFont(style.code)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        option.setTabStopDistance(4 * style.code_space())
        document.setDefaultTextOption(option)
        QTextCursor(document).insertText(self.block.text, style.code_format())
        return document

    def _lay_out(self) -> None:
        assert self.document is not None
        self.document.setTextWidth(-1)
        size = self.document.size()
        self.content_width = self.document.idealWidth()
        self.scroll_x = min(self.scroll_x, self.max_scroll_x)
        bar = SCROLLBAR if self.max_scroll_x > 0 else 0.0
        self.height = HEADER + size.height() + 2 * PADDING + bar
        self.is_exact = True

    def extend(self, block: Block, style: TextStyle) -> bool:
        """Take a longer version of the same block. False if it is not one, or nothing is laid out."""
        before = self.block.text
        if self.document is None or block.language != self.block.language or not block.text.startswith(before):
            return False
        self.block = block
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(block.text[len(before) :], style.code_format())
        self._lay_out()
        return True

    def highlight(self, style: TextStyle, budget_s: float) -> bool:
        """Colour for about `budget_s` seconds. True when all of the code has its colours."""
        if self.document is None:
            return True
        if not is_ready(self.block.language):
            return False
        if self._highlighter.is_done:
            if self._highlighter.covers(self.block.text):
                return True
            self._highlighter.start(self.block.text, self.block.language, style)
        self._highlighter.step(self.document, style, budget_s)
        return self._highlighter.is_done and self._highlighter.covers(self.block.text)

    def release(self) -> None:
        super().release()
        self._highlighter = CodeHighlighter()

    def invalidate(self) -> None:
        super().invalidate()
        self._highlighter = CodeHighlighter()

    def paint(self, painter: QPainter, style: TextStyle, clip: QRectF, selection: tuple[int, int] | None) -> None:
        painter.setPen(QColor(style.theme.raised))
        painter.setBrush(QColor(style.theme.raised))
        painter.drawRoundedRect(QRectF(0.5, 0.5, self.width - 1, self.height - 1), RADIUS, RADIUS)
        painter.fillRect(QRectF(0, HEADER, self.width, 1), QColor(style.theme.hairline))
        if self.document is None:
            return
        painter.save()
        painter.setClipRect(QRectF(PADDING, HEADER, self.width - 2 * PADDING, self.height - HEADER))
        painter.translate(PADDING - self.scroll_x, HEADER + PADDING)
        inner = clip.translated(self.scroll_x - PADDING, -HEADER - PADDING)
        draw_document(painter, self.document, style, inner, selection)
        painter.restore()

    def hit(self, x: float, y: float) -> int:
        return super().hit(x - PADDING + self.scroll_x, y - HEADER - PADDING)

    def link_at(self, x: float, y: float) -> str:
        return ""

    def y_of(self, position: int) -> float:
        return super().y_of(position) + HEADER + PADDING
