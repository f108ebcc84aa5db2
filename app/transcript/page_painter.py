"""Paints the visible part of the page: cards of questions, blocks, selection. GUI thread; called by the view."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS, Theme
from app.transcript.message_layout import MessageLayout
from app.transcript.page import Page
from app.transcript.selection import Bounds


def paint_page(widget: QWidget, area: QRect, page: Page, left: float, scroll_y: float) -> None:
    """Paint what `area` of the widget shows of the page, whose column begins at `left`, scrolled by `scroll_y`."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(area, QColor(page.style.theme.base))
    exposed = QRectF(area).translated(-left, scroll_y)
    bounds = page.selection.bounds()
    for row in page.geometry.rows_between(exposed.top(), exposed.bottom()):
        row_top = page.geometry.top(row)
        painter.save()
        painter.translate(left, round(row_top - scroll_y))
        layout = page.layout(row)
        _paint_card(painter, layout, page.style.theme)
        _paint_blocks(painter, row, page, exposed.translated(0, -row_top), bounds)
        painter.restore()
    painter.end()


def _paint_card(painter: QPainter, layout: MessageLayout, theme: Theme) -> None:
    if layout.card is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.raised))
        painter.drawRoundedRect(layout.card, RADIUS, RADIUS)
    thinking = layout.thinking_span()
    if thinking is not None:
        painter.fillRect(QRectF(2.0, thinking[0], 2.0, thinking[1] - thinking[0]), QColor(theme.hairline))


def _paint_blocks(painter: QPainter, row: int, page: Page, clip: QRectF, bounds: Bounds) -> None:
    for placed in page.layout(row).blocks_between(clip.top(), clip.bottom()):
        block = placed.layout
        painter.save()
        painter.translate(block.x, block.top)
        span = page.selection.span(row, placed, bounds)
        block.paint(painter, page.style, clip.translated(-block.x, -block.top), span)
        painter.restore()
