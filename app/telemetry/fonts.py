"""Fonts of the panels, from the application's own: small text and digits of one width. GUI thread."""

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from app.theme_controller import SMALL


def numeric_font(size: float = SMALL) -> QFont:
    """The interface font at one of the three sizes, with digits of one width."""
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * size)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
