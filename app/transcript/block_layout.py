"""One block of a message, laid out: its document, its height, how it is painted, hit and copied. GUI thread.

A block far from the window has an estimated height and no document. `realise` builds the document; `release` drops it
and keeps the exact height. Positions inside a block are in UTF-16 units, as QTextDocument counts.
"""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QBrush,
    QColor,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)

from app.transcript.markdown import Block, BlockKind
from app.transcript.rich_table import part_cells, text_of_cells
from app.transcript.rich_text import IS_RULE, QUOTE_DEPTH, QUOTE_INDENT, RichTextBuilder
from app.transcript.text_style import LINE_SPACING, TextStyle

BLOCK_GAP = 12.0
ITEM_GAP = 4.0
_DECORATED = {"blockquote_open", "hr"}


class BlockLayout:
    """Prose and plain text. Code has its own subclass."""

    def __init__(self, block: Block, *, muted: bool = False) -> None:
        self.block = block
        self.muted = muted
        self.x = 0.0
        self.top = 0.0
        self.width = 0.0
        self.height = 0.0
        self.is_exact = False
        self.document: QTextDocument | None = None
        self.gap_above = _gap_above(block)

    # ------------------------------------------------------------ layout

    def set_width(self, width: float, style: TextStyle) -> None:
        """Take a new width; the height becomes an estimate again, unless the block is laid out now."""
        if width == self.width and self.height > 0:
            return
        self.width = width
        if self.document is not None:
            self._lay_out()
        else:
            self.is_exact = False
            self.height = self.estimate(style)

    def estimate(self, style: TextStyle) -> float:
        source = self.block.text or self.block.source
        per_line = style.characters_per_line(self.width)
        lines = sum(max(1, math.ceil(len(line) / per_line)) for line in source.split("\n"))
        return lines * style.line_height()

    def realise(self, style: TextStyle) -> None:
        """Build and lay out the document if it is not there."""
        if self.document is None:
            self.document = self._build(style)
            self._lay_out()

    def release(self) -> None:
        self.document = None

    def invalidate(self) -> None:
        """Fonts or colours changed: forget everything but the block."""
        self.document = None
        self.is_exact = False
        self.height = 0.0

    def _build(self, style: TextStyle) -> QTextDocument:
        document = new_document(style)
        option = QTextOption(Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        document.setDefaultTextOption(option)
        document.setTextWidth(self.width)
        if self.block.kind is BlockKind.PLAIN:
            cursor = QTextCursor(document)
            spacing = QTextBlockFormat()
            spacing.setLineHeight(LINE_SPACING * 100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setBlockFormat(spacing)
            cursor.insertText(self.block.text, style.text_format(muted=self.muted))
        else:
            RichTextBuilder(document, style, self.block, muted=self.muted).build()
        return document

    def _lay_out(self) -> None:
        assert self.document is not None
        self.document.setTextWidth(self.width)
        self.height = self.document.size().height()
        self.is_exact = True

    # ------------------------------------------------------------ painting

    def paint(self, painter: QPainter, style: TextStyle, clip: QRectF, selection: tuple[int, int] | None) -> None:
        """Paint at the painter's origin. `clip` is in block coordinates."""
        if self.document is None:
            return
        if any(token.type in _DECORATED for token in self.block.tokens):
            self._paint_decorations(painter, self.document, style)
        draw_document(painter, self.document, style, clip, selection)

    def _paint_decorations(self, painter: QPainter, document: QTextDocument, style: TextStyle) -> None:
        layout = document.documentLayout()
        block = document.begin()
        while block.isValid():
            block_format, rect = block.blockFormat(), layout.blockBoundingRect(block)
            for depth in range(int(block_format.property(QUOTE_DEPTH) or 0)):
                bar = QRectF(depth * QUOTE_INDENT, rect.top(), 3.0, rect.height())
                painter.fillRect(bar, QColor(style.theme.outline))
            if block_format.property(IS_RULE):
                rule = QRectF(0.0, rect.center().y(), self.width, 1.0)
                painter.fillRect(rule, QColor(style.theme.hairline))
            block = block.next()

    # ------------------------------------------------------------ text

    def hit(self, x: float, y: float) -> int:
        """The text position nearest to a point in block coordinates."""
        if self.document is None:
            return 0
        return max(0, self.document.documentLayout().hitTest(QPointF(x, y), Qt.HitTestAccuracy.FuzzyHit))

    def link_at(self, x: float, y: float) -> str:
        return "" if self.document is None else self.document.documentLayout().anchorAt(QPointF(x, y))

    def length(self, style: TextStyle) -> int:
        self.realise(style)
        assert self.document is not None
        return self.document.characterCount() - 1

    def text(self, style: TextStyle, start: int = 0, end: int | None = None) -> str:
        """The plain text between two positions; cells are parted by tabs, as spreadsheets take them."""
        self.realise(style)
        assert self.document is not None
        last = self.document.characterCount() - 1
        cursor = QTextCursor(self.document)
        cursor.setPosition(min(max(0, start), last))
        cursor.setPosition(last if end is None else min(max(0, end), last), QTextCursor.MoveMode.KeepAnchor)
        if cursor.hasComplexSelection():  # from cell to cell, Qt selects a rectangle of whole cells
            return text_of_cells(cursor)
        text = part_cells(self.document, cursor.selectionStart(), cursor.selectedText())
        return text.replace("\u2029", "\n").replace("\u2028", "\n")

    def raw_text(self, style: TextStyle) -> str:
        """All characters that positions count, the marks of paragraphs and table cells too."""
        self.realise(style)
        assert self.document is not None
        return self.document.toRawText()

    def word_at(self, position: int) -> tuple[int, int]:
        if self.document is None:
            return position, position
        cursor = QTextCursor(self.document)
        cursor.setPosition(min(position, self.document.characterCount() - 1))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return cursor.selectionStart(), cursor.selectionEnd()

    def y_of(self, position: int) -> float:
        """The top of the line that holds a position, in block coordinates."""
        if self.document is None:
            return 0.0
        position = min(max(0, position), self.document.characterCount() - 1)
        block = self.document.findBlock(position)
        rect = self.document.documentLayout().blockBoundingRect(block)
        line = block.layout().lineForTextPosition(position - block.position())
        return rect.top() + (line.y() if line.isValid() else 0.0)


def _gap_above(block: Block) -> float:
    if block.kind is BlockKind.PLAIN:
        return 0.0
    if block.joins_table:
        return -1.0  # the parts share a line
    return ITEM_GAP if block.is_list_item else BLOCK_GAP


def new_document(style: TextStyle) -> QTextDocument:
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(style.body)
    document.setIndentWidth(24)
    return document


def draw_document(
    painter: QPainter, document: QTextDocument, style: TextStyle, clip: QRectF, selection: tuple[int, int] | None
) -> None:
    context = QAbstractTextDocumentLayout.PaintContext()
    context.clip = clip
    palette = QPalette(context.palette)
    palette.setColor(QPalette.ColorRole.Text, QColor(style.theme.text))
    context.palette = palette
    if selection is not None and selection[0] != selection[1]:
        marked = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(document)
        last = document.characterCount() - 1
        cursor.setPosition(min(selection[0], last))
        cursor.setPosition(min(selection[1], last), QTextCursor.MoveMode.KeepAnchor)
        marked.cursor = cursor
        look = QTextCharFormat()
        look.setBackground(QBrush(QColor(style.theme.selection)))
        look.setForeground(QBrush(QColor(style.theme.text)))
        marked.format = look
        context.selections = [marked]
    document.documentLayout().draw(painter, context)
