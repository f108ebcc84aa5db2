"""How full the context is: a thin bar of parts and the count beside Send. GUI thread; owned by `Composer`."""

from PySide6.QtCore import QCoreApplication, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.chat.budget import ContextBudget
from app.theme import Theme, mix
from app.widgets import formats
from app.widgets.basics import label, set_tone

_WIDTH = 96


def _tr(text: str) -> str:
    return QCoreApplication.translate("Composer", text)


class _Bar(QWidget):
    """The parts of the context side by side."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shares: tuple[tuple[float, str], ...] = ()
        self.setFixedHeight(6)
        self.setMinimumWidth(0)
        self.setMaximumWidth(_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, 6)

    def show_budget(self, budget: ContextBudget | None, theme: Theme) -> None:
        self._theme = theme
        self._shares = () if budget is None else self._parts(budget, theme)
        self.update()

    @staticmethod
    def _parts(budget: ContextBudget, theme: Theme) -> tuple[tuple[float, str], ...]:
        whole = max(1, budget.context)
        is_over = budget.over_by > 0
        fill = theme.danger if is_over else theme.accent
        prompt = (budget.history or 0) + (budget.documents or 0) + (budget.draft or 0)
        cached = min(budget.cached, prompt)
        return (
            (cached / whole, mix(fill, theme.base, 0.45)),
            ((prompt - cached) / whole, fill),
            (budget.reserved / whole, mix(theme.base, theme.text, 0.3)),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        painter.setPen(QColor(self._theme.hairline))
        painter.setBrush(QColor(self._theme.hairline))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        left = 0.0
        for share, colour in self._shares:
            width = min(share * box.width(), box.width() - left)
            if width > 0:
                painter.fillRect(QRectF(left, 1, max(1.0, width), box.height() - 2), QColor(colour))
                left += width


class ContextMeter(QWidget):
    """Count and bar; the tooltip and the accessible description name every part."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._budget: ContextBudget | None = None
        self._bar = _Bar(theme)
        self._count = label(tone="muted", size="small")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._count)
        layout.addWidget(self._bar)
        self.setAccessibleName(_tr("Context"))
        self.show_budget(None)

    @property
    def is_over(self) -> bool:
        """True if the question does not fit."""
        return self._budget is not None and not self._budget.fits

    def set_numeric_font(self, font: QFont) -> None:
        self._count.setFont(font)

    def show_budget(self, budget: ContextBudget | None) -> None:
        self._budget = budget
        self._bar.show_budget(budget, self._theme)
        self._count.setText(_summary(budget))
        set_tone(self._count, "danger" if budget is not None and not budget.fits else "muted")
        details = "" if budget is None else _details(budget)
        self.setToolTip(details)
        self.setAccessibleDescription(details or self._count.text())

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.show_budget(self._budget)


def _summary(budget: ContextBudget | None) -> str:
    if budget is None:
        return _tr("– tokens")
    if not budget.fits:
        return _tr("{over} tokens too many").format(over=formats.count(budget.over_by))
    return _tr("{used} of {context} tokens").format(
        used=formats.count(budget.used), context=formats.count(budget.context)
    )


def _details(budget: ContextBudget) -> str:
    rows = (
        (_tr("This question"), budget.draft),
        (_tr("Documents"), budget.documents),
        (_tr("Chat so far"), budget.history),
        (_tr("Kept for the answer"), budget.reserved),
        (_tr("Already read"), budget.cached),
        (_tr("Context size"), budget.context),
    )
    return "\n".join(f"{name}: {formats.count(value)}" for name, value in rows)
