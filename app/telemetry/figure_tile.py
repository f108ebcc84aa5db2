"""A speed in large digits with its series' colour, and the whole run's speed below. GUI thread."""

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.telemetry.fonts import numeric_font
from app.theme_controller import TITLE
from app.widgets import formats
from app.widgets.basics import label


def _tr(text: str) -> str:
    return QCoreApplication.translate("LivePanel", text)


class Swatch(QWidget):
    """A short line in a series' colour: the chart's legend."""

    def __init__(self, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colour = colour
        self.setFixedSize(10, 10)

    def set_colour(self, colour: str) -> None:
        self._colour = colour
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._colour))
        painter.drawRoundedRect(QRectF(0, 1, 8, 8), 2, 2)
        painter.end()


class FigureTile(QWidget):
    """Name, current speed, what span it covers."""

    def __init__(self, name: str, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.swatch = Swatch(colour)
        self.value = label(formats.UNKNOWN)
        self.note = label(tone="muted", size="small")
        title = QHBoxLayout()
        title.setSpacing(6)
        title.addWidget(self.swatch)
        title.addWidget(label(name, tone="muted", size="small"), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(title)
        column.addWidget(self.value)
        column.addWidget(self.note)
        self.apply_font()

    def apply_font(self) -> None:
        """Take the application's font, with digits of one width so that nothing jitters."""
        self.value.setFont(numeric_font(TITLE))
        self.note.setFont(numeric_font())

    def show_speed(self, now: float | None, run: float | None) -> None:
        """The last two seconds while it lasts, the whole run afterwards."""
        value = formats.speed(run if now is None else now)
        if now is not None:
            note = _tr("whole run {speed}").format(speed=formats.speed(run))
        else:
            note = _tr("whole run") if run is not None else _tr("not measured yet")
        self.value.setText(value)
        self.note.setText(note)
        self.setAccessibleName(f"{self._name}: {value}, {note}")
