"""The frame of a Markdown table in a QTextDocument: hairlines, padding, a header that stands out. GUI thread."""

from itertools import pairwise
from typing import Any

from PySide6.QtGui import (
    QBrush,
    QColor,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableFormat,
)

from app.transcript.markdown import Block
from app.transcript.shown_text import utf16_units
from app.transcript.text_style import TextStyle

CELL, TABLE_END = "\ufdd0", "\ufdd1"  # in a QTextDocument's text: before every cell, and after the last
_PADDING = 6.0
_WIDEST_COLUMN = 48  # characters; a wider cell wraps


def insert_table(cursor: QTextCursor, rows: int, columns: int, block: Block, style: TextStyle) -> QTextTable:
    """Insert an empty table of hairlines at the cursor. The first row is the header, except in a later part."""
    table_format = QTextTableFormat()
    table_format.setBorderCollapse(True)
    table_format.setBorder(1.0)
    table_format.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    table_format.setBorderBrush(QBrush(QColor(style.theme.hairline)))
    table_format.setCellPadding(_PADDING)
    table_format.setCellSpacing(0.0)
    if block.columns:
        table_format.setColumnWidthConstraints(_widths(block.columns, style))
    has_header = not block.joins_table
    if has_header:
        table_format.setHeaderRowCount(1)
    table = cursor.insertTable(rows, columns, table_format)
    for column in range(columns if has_header else 0):
        cell = table.cellAt(0, column)
        header = cell.format()
        header.setBackground(QBrush(QColor(style.theme.raised)))
        cell.setFormat(header)
    return table


def part_cells(document: QTextDocument, start: int, text: str) -> str:
    """`text`, which stands at position `start` of a document, with tabs and line ends for Qt's marks of cells."""
    if CELL not in text:
        return text.replace(TABLE_END, "")
    parts = text.split(CELL)
    at, result = start, parts[0]
    for part, after in pairwise(parts):
        at += utf16_units(part) + 1  # the mark; the cell begins behind it
        cell = QTextCursor(document)
        cell.setPosition(at)
        is_first = cell.currentTable() is None or cell.currentTable().cellAt(at).column() == 0
        result += ("\n" if is_first else "\t") + after
    return result.removeprefix("\n").replace(TABLE_END, "")


def text_of_cells(cursor: QTextCursor) -> str:
    """The cells of a rectangular selection, with tabs between them and a line for each row."""
    table = cursor.currentTable()
    selected: Any = cursor.selectedTableCells()  # four numbers, whatever the stubs say
    first, rows, left, columns = selected
    return "\n".join(
        "\t".join(_text_of(table, row, column) for column in range(left, left + columns))
        for row in range(first, first + rows)
    )


def _text_of(table: QTextTable, row: int, column: int) -> str:
    cell = table.cellAt(row, column)
    cursor = cell.firstCursorPosition()
    cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText().replace("\u2028", " ")


def _widths(columns: tuple[int, ...], style: TextStyle) -> list[QTextLength]:
    """Fixed widths, so that the parts of one table stand under one another."""
    fixed = QTextLength.Type.FixedLength
    return [
        QTextLength(fixed, style.width_of_characters(min(count, _WIDEST_COLUMN) + 3) + 2 * _PADDING)
        for count in columns
    ]
