"""Fonts and colours of the transcript for one theme and text size. Built once per change, shared by all blocks."""

from dataclasses import dataclass, field

from PySide6.QtGui import QColor, QFont, QFontMetricsF, QTextCharFormat

from app.theme import Theme


@dataclass(frozen=True, slots=True)
class TextStyle:
    """What a block needs to draw itself. `generation` changes whenever anything in here did."""

    theme: Theme
    body: QFont
    title: QFont
    small: QFont
    numeric: QFont
    code: QFont
    generation: int

    _character: float = field(init=False, repr=False, compare=False)
    _line: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        metrics = QFontMetricsF(self.body)
        object.__setattr__(self, "_character", max(1.0, metrics.averageCharWidth()))
        object.__setattr__(self, "_line", metrics.lineSpacing() * LINE_SPACING)

    def line_height(self) -> float:
        return self._line

    def characters_per_line(self, width: float) -> float:
        """About how many characters of running text fit; for height estimates only."""
        return max(8.0, width / self._character)

    def width_of_characters(self, count: int) -> float:
        return self._character * count

    def code_space(self) -> float:
        return QFontMetricsF(self.code).horizontalAdvance(" ")

    def text_format(self, *, muted: bool = False) -> QTextCharFormat:
        result = QTextCharFormat()
        result.setFont(self.body)
        result.setForeground(QColor(self.theme.muted if muted else self.theme.text))
        return result

    def code_format(self) -> QTextCharFormat:
        result = QTextCharFormat()
        result.setFont(self.code)
        result.setForeground(QColor(self.theme.text))
        return result


LINE_SPACING = 1.3
