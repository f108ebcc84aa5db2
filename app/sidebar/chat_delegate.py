"""Draws the rows of the chat list and edits a title in place. GUI thread."""

from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.sidebar.chat_model import ChatRole, ChatRow
from app.theme import Theme
from app.widgets.formats import isolated
from app.widgets.icons import pixmap

_PAD = 10
_MARK = 14


def side_of(*, mirrored: bool) -> Qt.AlignmentFlag:
    """Where a line of the list begins."""
    return Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft


def _utf16_length(text: str) -> int:
    """How long Qt thinks that a text is."""
    return len(text.encode("utf-16-le")) // 2


class ChatDelegate(QStyledItemDelegate):
    """One line a chat; two for a search hit."""

    def __init__(self, theme: Theme, small: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.small = small
        self.current_id: int | None = None
        self.phase = 0  # of the working mark, in twelfths of a turn

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        row = cast(ChatRow, index.data(ChatRole.ROW))
        height = QFontMetrics(option.font).height() + 14
        if row.snippet:
            height += QFontMetrics(self.small).height() + 2
        return QSize(120, height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = cast(ChatRow, index.data(ChatRole.ROW))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect).adjusted(4, 1, -4, -1)
        self._paint_background(painter, box, option, row)
        inner = box.adjusted(_PAD, 0, -_PAD, 0)
        mirrored = option.direction == Qt.LayoutDirection.RightToLeft
        marks = self._paint_marks(painter, inner, row, mirrored=mirrored)
        painter.setFont(option.font)
        painter.setPen(QColor(self.theme.text))
        line = inner.adjusted(marks, 0, 0, 0) if mirrored else inner.adjusted(0, 0, -marks, 0)
        if row.snippet:
            line.setHeight(QFontMetrics(option.font).height() + 8)
        title = QFontMetrics(option.font).elidedText(row.shown_title, Qt.TextElideMode.ElideRight, int(line.width()))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | side_of(mirrored=mirrored), isolated(title))
        if row.snippet:
            self._paint_snippet(painter, inner, line.bottom(), row, mirrored=mirrored)
        painter.restore()

    def _paint_background(self, painter: QPainter, box: QRectF, option: QStyleOptionViewItem, row: ChatRow) -> None:
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.setPen(QPen(QColor(self.theme.accent), 1) if focused else Qt.PenStyle.NoPen)
        if row.chat_id == self.current_id and not row.snippet:
            painter.setBrush(QColor(self.theme.selection))
        elif hovered:
            painter.setBrush(QColor(self.theme.hover))
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def _paint_marks(self, painter: QPainter, inner: QRectF, row: ChatRow, *, mirrored: bool) -> float:
        """The working mark and the pin at the end of the line; how wide they are."""
        taken = 0.0
        y = inner.center().y()
        for shown, paint in ((row.is_working, self._paint_working), (row.pinned, self._paint_pin)):
            if shown:
                offset = taken + _MARK / 2
                paint(painter, QPointF(inner.left() + offset if mirrored else inner.right() - offset, y))
                taken += _MARK + 6
        return taken

    def _paint_pin(self, painter: QPainter, centre: QPointF) -> None:
        image = pixmap("pin", self.theme.muted, 2 * _MARK)
        image.setDevicePixelRatio(2.0)
        painter.drawPixmap(QPointF(centre.x() - _MARK / 2, centre.y() - _MARK / 2), image)

    def _paint_working(self, painter: QPainter, centre: QPointF) -> None:
        radius = _MARK / 2 - 2
        ring = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self.theme.hairline), 2))
        painter.drawEllipse(ring)
        painter.setPen(QPen(QColor(self.theme.accent), 2))
        painter.drawArc(ring, -self.phase * 30 * 16, 100 * 16)

    def _paint_snippet(self, painter: QPainter, inner: QRectF, top: float, row: ChatRow, *, mirrored: bool) -> None:
        painter.setClipRect(inner)
        painter.setPen(QColor(self.theme.muted))
        self.snippet_layout(row, inner.width(), mirrored=mirrored).draw(painter, QPointF(inner.left(), top - 2))

    def snippet_layout(self, row: ChatRow, width: float, *, mirrored: bool) -> QTextLayout:
        """The second line of a hit, with the matches in bold."""
        option = QTextOption(Qt.AlignmentFlag.AlignAbsolute | side_of(mirrored=mirrored))
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout = QTextLayout(self._fitting(row, width), self.small)
        layout.setTextOption(option)
        bold = QTextCharFormat()
        bold.setFontWeight(QFont.Weight.Bold.value)
        bold.setForeground(QColor(self.theme.text))
        ranges = []
        for start, length in row.marks:
            mark = QTextLayout.FormatRange()
            mark.start, mark.format = _utf16_length(row.snippet[:start]), bold
            mark.length = _utf16_length(row.snippet[start : start + length])
            ranges.append(mark)
        layout.setFormats(ranges)
        layout.beginLayout()
        layout.createLine().setLineWidth(width)
        layout.endLayout()
        return layout

    def _fitting(self, row: ChatRow, width: float) -> str:
        """The snippet, cut so that it fits with its matches in bold."""
        bold_font = QFont(self.small)
        bold_font.setBold(True)
        plain, bold = QFontMetricsF(self.small), QFontMetricsF(bold_font)
        elided = plain.elidedText(row.snippet, Qt.TextElideMode.ElideRight, width)
        matches = [row.snippet[start : start + length] for start, length in row.marks if start < len(elided)]
        wider = sum(bold.horizontalAdvance(match) - plain.horizontalAdvance(match) for match in matches)
        return plain.elidedText(row.snippet, Qt.TextElideMode.ElideRight, width - wider)

    # ------------------------------------------------------------ renaming

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setMaxLength(200)
        editor.setAccessibleName(self.tr("Title of the chat"))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        editor.setGeometry(option.rect.adjusted(4, 1, -4, -1))

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        """Put the title in, but not over what is being written: the row may change meanwhile."""
        if not isinstance(editor, QLineEdit) or not editor.isModified():
            super().setEditorData(editor, index)
