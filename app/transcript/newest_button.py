"""The button over the foot of the conversation that leads back to the newest text. GUI thread; owned by the view."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.theme import Theme
from app.widgets.icons import icon

_FROM_THE_FOOT = 12


def _tr(text: str) -> str:
    return QCoreApplication.translate("Transcript", text)


class NewestButton(QPushButton):
    """Shown while the view does not follow by itself."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(_tr("Newest"), parent)
        self.setObjectName("newestButton")
        self.setAccessibleName(_tr("Go to the newest message"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self.setIcon(icon("newest", theme))

    def show_over(self, region: QWidget, shown: bool) -> None:
        """At the foot of a region, in its middle."""
        self.setVisible(shown)
        if self.isVisible():
            hint = self.sizeHint()
            x = (region.width() - hint.width()) // 2
            self.setGeometry(x, region.height() - hint.height() - _FROM_THE_FOOT, hint.width(), hint.height())
            self.raise_()
