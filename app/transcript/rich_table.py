"""The frame of a Markdown table in a QTextDocument: hairlines, padding, a header that stands out. GUI thread."""

from PySide6.QtGui import QBrush, QColor, QTextCursor, QTextFrameFormat, QTextTable, QTextTableFormat

from app.transcript.text_style import TextStyle


def insert_table(cursor: QTextCursor, rows: int, columns: int, style: TextStyle) -> QTextTable:
    """Insert an empty table of hairlines at the cursor. The first row is the header."""
    table_format = QTextTableFormat()
    table_format.setBorderCollapse(True)
    table_format.setBorder(1.0)
    table_format.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    table_format.setBorderBrush(QBrush(QColor(style.theme.hairline)))
    table_format.setCellPadding(6.0)
    table_format.setCellSpacing(0.0)
    table_format.setHeaderRowCount(1)
    table = cursor.insertTable(rows, columns, table_format)
    for column in range(columns):
        cell = table.cellAt(0, column)
        header = cell.format()
        header.setBackground(QBrush(QColor(style.theme.raised)))
        cell.setFormat(header)
    return table
