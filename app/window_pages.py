"""The pages that share the middle of the window, one shown at a time: the chat, and what one leaves it for. GUI thread;
owned by the main window."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.pages.doctor_page import DoctorPage
from app.pages.models_page import ModelsPage
from app.pages.settings_page import SettingsPage
from app.theme import Theme
from app.window_chat import ChatPage
from app.window_services import WindowServices

if TYPE_CHECKING:
    from app.qualify.page import QualifyPage


def _tr(text: str) -> str:
    return QCoreApplication.translate("MainWindow", text)


class Pages(QStackedWidget):
    """All pages; the qualification's is made when it is first wanted, because few need it and it imports much."""

    def __init__(self, services: WindowServices, chat: ChatPage, theme: Theme) -> None:
        super().__init__()
        self._services, self._theme = services, theme
        self.chat = chat
        self.models = ModelsPage(services, theme)
        self.settings = SettingsPage(services.settings, theme)
        self.doctor = DoctorPage(theme)
        self._qualify: QualifyPage | None = None
        for page in (self.chat, self.models, self.settings, self.doctor):
            self.addWidget(page)

    @property
    def qualify(self) -> "QualifyPage":
        if self._qualify is None:
            from app.qualify.wiring import make_qualify_page

            services = self._services
            folder, model = services.paths.qualifications_dir, services.chats.model_path
            self._qualify = make_qualify_page(services.host, folder, self._theme, model)
            self.addWidget(self._qualify)
        return self._qualify

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages, and put the keyboard where one goes on there."""
        self.setCurrentWidget(page)
        if page is self.chat:
            self.chat.focus_composer()
        else:
            page.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def shows_chat(self) -> bool:
        return self.currentWidget() is self.chat

    def title(self) -> str:
        """The name of the page that is shown; empty for the chat, which has a title of its own."""
        titles: dict[QWidget | None, str] = {
            self.models: _tr("Models"),
            self.settings: _tr("Settings"),
            self.doctor: _tr("This computer"),
            self._qualify: _tr("Qualification"),
        }
        return titles.get(self.currentWidget(), "")

    def set_theme(self, theme: Theme) -> None:
        """The chat page takes its theme with its text style, from the window."""
        self._theme = theme
        for page in (self.models, self.settings, self.doctor, self._qualify):
            if page is not None:
                page.set_theme(theme)

    def close_tasks(self) -> None:
        """End the helper threads of the pages; call before the program ends."""
        for page in (self.models, self.doctor, self._qualify):
            if page is not None:
                page.close_tasks()
