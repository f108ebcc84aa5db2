"""A label that gives way: where its text does not fit it ends in an ellipsis, and the whole text is its tooltip. GUI
thread."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_LEAST_CHARACTERS = 4


class ElidedLabel(QLabel):
    """Wants its whole text's width, accepts less. `setText` and `text` deal in the whole text."""

    def __init__(self, *, tone: str = "", size: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        if tone:
            self.setProperty("tone", tone)
        if size:
            self.setProperty("textSize", size)

    def setText(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self._elide()

    def text(self) -> str:
        return self._whole

    @property
    def shown_text(self) -> str:
        """What is seen: the whole text, or its beginning and an ellipsis."""
        return super().text()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._whole) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        least = min(self.sizeHint().width(), metrics.averageCharWidth() * _LEAST_CHARACTERS)
        return QSize(least, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        shown = QFontMetrics(self.font()).elidedText(self._whole, Qt.TextElideMode.ElideRight, max(1, self.width()))
        super().setText(shown)
        self.setToolTip(self._whole if shown != self._whole else "")
