"""The frame of a Markdown table in a QTextDocument: hairlines, padding, a header that stands out. GUI thread."""

from PySide6.QtGui import QBrush, QColor, QTextCursor, QTextFrameFormat, QTextLength, QTextTable, QTextTableFormat

from app.transcript.markdown import Block
from app.transcript.text_style import TextStyle

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


def _widths(columns: tuple[int, ...], style: TextStyle) -> list[QTextLength]:
    """Fixed widths, so that the parts of one table stand under one another."""
    fixed = QTextLength.Type.FixedLength
    return [
        QTextLength(fixed, style.width_of_characters(min(count, _WIDEST_COLUMN) + 3) + 2 * _PADDING)
        for count in columns
    ]
