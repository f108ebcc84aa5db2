"""The strip over the chat: sidebar switch, the chat's title, its settings, panel switch. GUI thread."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Theme
from app.widgets.basics import IconButton, MenuButton
from app.widgets.elided_label import ElidedLabel
from app.window_actions import BY_NAME, keys_text


def _tr(text: str) -> str:
    return QCoreApplication.translate("Header", text)


class Header(QWidget):
    """Buttons report; the window acts."""

    sidebar_toggled = Signal()
    panel_toggled = Signal()
    chat_settings_requested = Signal()
    back_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.back_button = IconButton("chevron-left", _tr("Back to the chat"), theme)
        self.sidebar_button = IconButton("sidebar", "", theme)
        self.sidebar_button.set_name(_tr("Show or hide the chats"), keys_text(BY_NAME["sidebar"]))
        self._title = ElidedLabel(tone="strong")
        self.settings_button = IconButton("tune", _tr("Settings of this chat"), theme)
        self.more_button = MenuButton("more", _tr("More for this chat"), theme)
        self.panel_button = IconButton("panel", "", theme)
        self.panel_button.set_name(_tr("Show or hide the live panel"), keys_text(BY_NAME["panel"]))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        for widget in (self.sidebar_button, self.back_button):
            row.addWidget(widget)
        row.addWidget(self._title, 1)
        for widget in (self.settings_button, self.more_button, self.panel_button):
            row.addWidget(widget)
        self.sidebar_button.clicked.connect(self.sidebar_toggled)
        self.panel_button.clicked.connect(self.panel_toggled)
        self.settings_button.clicked.connect(self.chat_settings_requested)
        self.back_button.clicked.connect(self.back_requested)
        self.show_title("", is_chat=True)

    def show_title(self, title: str, *, is_chat: bool) -> None:
        """The chat's title, or the page's, which has a way back."""
        self._title.setText(title or _tr("New chat"))
        self.back_button.setVisible(not is_chat)
        self.settings_button.setVisible(is_chat)
        self.more_button.setVisible(is_chat)

    def set_theme(self, theme: Theme) -> None:
        for widget in (
            self.back_button,
            self.sidebar_button,
            self.settings_button,
            self.more_button,
            self.panel_button,
        ):
            widget.set_theme(theme)
