"""Markdown tokens to a QTextDocument, built cursor by cursor: no HTML string exists, so no HTML can be smuggled in.

Only http and https links become links; an image is shown as a link to its address and never loaded. Called on the GUI
thread by the block layouts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextList,
    QTextListFormat,
    QTextTable,
)

from app.transcript.markdown import Block, inline_tokens, start_number
from app.transcript.rich_table import insert_table
from app.transcript.shown_text import inline_text
from app.transcript.text_style import LINE_SPACING, TextStyle

QUOTE_DEPTH = QTextFormat.Property.UserProperty.value + 1
IS_RULE = QTextFormat.Property.UserProperty.value + 2
QUOTE_INDENT = 16
_BULLETS = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)
_ALIGNMENTS = {
    "text-align:right": Qt.AlignmentFlag.AlignRight,
    "text-align:center": Qt.AlignmentFlag.AlignHCenter,
}


def safe_url(url: str) -> str | None:
    """The address if it may be opened by a click (http or https with a host), else None."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


@dataclass(slots=True)
class _ListLevel:
    format: QTextListFormat
    list: QTextList | None = None
    item_waits: bool = False  # an item was opened and its first paragraph has not come yet


class RichTextBuilder:
    """Writes the tokens of one block into a document."""

    def __init__(self, document: QTextDocument, style: TextStyle, block: Block, *, muted: bool = False) -> None:
        self._block = block
        self._style = style
        self._formats: list[QTextCharFormat] = [style.text_format(muted=muted)]
        self._cursor = QTextCursor(document)
        self._is_fresh = True  # the cursor stands in an empty block that the next paragraph may take
        self._quotes = 0
        self._lists: list[_ListLevel] = []
        self._table: QTextTable | None = None
        self._row, self._column = -1, -1

    def build(self) -> None:
        tokens = self._block.tokens
        self._cursor.beginEditBlock()
        for index, token in enumerate(tokens):
            if token.type == "table_open":
                self._open_table(tokens[index:])
                continue
            handler = getattr(self, f"_on_{token.type}", None)
            if handler is not None:
                handler(token)
        self._cursor.endEditBlock()

    # ------------------------------------------------------------ blocks

    def _start_block(self, top: float) -> None:
        block = QTextBlockFormat()
        block.setLineHeight(LINE_SPACING * 100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        block.setLeftMargin(QUOTE_INDENT * self._quotes)
        if self._quotes:
            block.setProperty(QUOTE_DEPTH, self._quotes)
        level = self._lists[-1] if self._lists else None
        if level is not None and not level.item_waits:
            block.setIndent(level.format.indent())
        if self._is_fresh:
            self._cursor.setBlockFormat(block)
            self._cursor.setBlockCharFormat(self._formats[0])
        else:
            block.setTopMargin(top)
            self._cursor.insertBlock(block, self._formats[0])
            if self._cursor.currentList() is not None:
                self._cursor.currentList().remove(self._cursor.block())
                self._cursor.setBlockFormat(block)
        self._is_fresh = False
        if level is not None and level.item_waits:
            self._start_item(level)

    def _start_item(self, level: _ListLevel) -> None:
        level.item_waits = False
        if level.list is None:
            level.list = self._cursor.createList(level.format)
        else:
            level.list.add(self._cursor.block())

    def _on_paragraph_open(self, token: Token) -> None:
        self._start_block(top=4.0 if self._lists else 8.0)

    def _on_heading_open(self, token: Token) -> None:
        self._start_block(top=12.0)
        is_big = token.tag in ("h1", "h2")
        heading = QTextCharFormat(self._formats[-1])
        font = QFont(self._style.title if is_big else self._style.body)
        font.setWeight(QFont.Weight.DemiBold)
        heading.setFont(font)
        self._formats.append(heading)

    def _on_heading_close(self, token: Token) -> None:
        self._formats.pop()

    def _on_blockquote_open(self, token: Token) -> None:
        self._quotes += 1

    def _on_blockquote_close(self, token: Token) -> None:
        self._quotes -= 1

    def _on_hr(self, token: Token) -> None:
        self._start_block(top=8.0)
        block = self._cursor.blockFormat()
        block.setProperty(IS_RULE, True)
        self._cursor.setBlockFormat(block)

    def _on_fence(self, token: Token) -> None:
        """Code inside a list or a quote: shown in the block, without a copy button of its own."""
        for line in token.content.rstrip("\n").split("\n"):
            self._start_block(top=0.0)
            self._cursor.insertText(line, self._style.code_format())

    _on_code_block = _on_fence

    # ------------------------------------------------------------ lists

    def _on_bullet_list_open(self, token: Token) -> None:
        self._open_list(_BULLETS[len(self._lists) % len(_BULLETS)], 1)

    def _on_ordered_list_open(self, token: Token) -> None:
        self._open_list(QTextListFormat.Style.ListDecimal, start_number(token))

    def _open_list(self, style: QTextListFormat.Style, start: int) -> None:
        list_format = QTextListFormat()
        list_format.setStyle(style)
        list_format.setIndent(len(self._lists) + 1)
        if style is QTextListFormat.Style.ListDecimal:
            list_format.setStart(start)
        self._lists.append(_ListLevel(list_format))

    def _on_list_item_open(self, token: Token) -> None:
        self._lists[-1].item_waits = True

    def _on_list_item_close(self, token: Token) -> None:
        if self._lists[-1].item_waits:  # an empty item still shows its bullet
            self._start_block(top=4.0)

    def _on_bullet_list_close(self, token: Token) -> None:
        self._lists.pop()

    _on_ordered_list_close = _on_bullet_list_close

    # ------------------------------------------------------------ tables

    def _open_table(self, tokens: Sequence[Token]) -> None:
        end = next((i for i, token in enumerate(tokens) if token.type == "table_close"), len(tokens))
        rows = sum(token.type == "tr_open" for token in tokens[:end])
        columns = len(self._block.columns) or sum(token.type == "th_open" for token in tokens[:end])
        if not self._is_fresh:
            self._start_block(top=8.0)
        self._table = insert_table(self._cursor, max(1, rows), max(1, columns), self._block, self._style)
        self._row = -1

    def _on_tr_open(self, token: Token) -> None:
        self._row, self._column = self._row + 1, -1

    def _on_th_open(self, token: Token) -> None:
        self._open_cell(token)
        bold = QTextCharFormat(self._formats[-1])
        bold.setFontWeight(QFont.Weight.DemiBold.value)
        self._formats.append(bold)

    def _on_th_close(self, token: Token) -> None:
        self._formats.pop()

    def _on_td_open(self, token: Token) -> None:
        self._open_cell(token)

    def _open_cell(self, token: Token) -> None:
        assert self._table is not None
        self._column += 1
        self._cursor = self._table.cellAt(self._row, self._column).firstCursorPosition()
        block = QTextBlockFormat()
        block.setAlignment(_ALIGNMENTS.get(str(token.attrGet("style") or ""), Qt.AlignmentFlag.AlignLeft))
        self._cursor.setBlockFormat(block)

    def _on_table_close(self, token: Token) -> None:
        if self._table is not None:
            self._cursor = self._table.lastCursorPosition()
            self._cursor.movePosition(QTextCursor.MoveOperation.NextBlock)
            self._is_fresh = True
            self._table = None

    # ------------------------------------------------------------ inline

    def _on_inline(self, token: Token) -> None:
        depth = len(self._formats)
        for child in inline_tokens(token, self._block.environment):
            self._inline(child)
        del self._formats[depth:]

    def _inline(self, token: Token) -> None:
        match token.type:
            case "code_inline":
                self._cursor.insertText(inline_text(token), self._inline_code())
            case "image":
                self._image(token)
            case "strong_open" | "em_open" | "s_open" | "link_open":
                self._formats.append(self._opened(token))
            case "strong_close" | "em_close" | "s_close" | "link_close":
                self._formats.pop()
            case _:
                self._cursor.insertText(inline_text(token), self._formats[-1])

    def _inline_code(self) -> QTextCharFormat:
        code = QTextCharFormat(self._formats[-1])
        code.setFont(self._style.code)
        code.setBackground(QBrush(QColor(self._style.theme.raised)))
        return code

    def _opened(self, token: Token) -> QTextCharFormat:
        result = QTextCharFormat(self._formats[-1])
        if token.type == "strong_open":
            result.setFontWeight(QFont.Weight.Bold.value)
        elif token.type == "em_open":
            result.setFontItalic(True)
        elif token.type == "s_open":
            result.setFontStrikeOut(True)
        else:
            self._make_link(result, str(token.attrGet("href") or ""))
        return result

    def _make_link(self, target: QTextCharFormat, href: str) -> None:
        url = safe_url(href)
        if url is None:
            return
        target.setAnchor(True)
        target.setAnchorHref(url)
        target.setForeground(QColor(self._style.theme.accent))
        target.setFontUnderline(True)

    def _image(self, token: Token) -> None:
        link = QTextCharFormat(self._formats[-1])
        self._make_link(link, str(token.attrGet("src") or ""))
        self._cursor.insertText(inline_text(token), link)
