"""How a line of text is drawn in a mirrored window, as a string that can be compared."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextLayout, QTextOption


def as_drawn(text: str) -> str:
    """The characters in the order in which they stand from left to right, in a line that runs to the left."""
    layout = QTextLayout(text)
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.RightToLeft)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(10_000)
    layout.endLayout()
    drawn = sorted(
        (line.glyphRuns(at, 1)[0].positions()[0].x(), character)
        for at, character in enumerate(text)
        if character not in "\u2068\u2069"
    )
    return "".join(character for _, character in drawn)
