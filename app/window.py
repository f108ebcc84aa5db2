"""The main window: it puts the parts side by side and tells them what the services say. GUI thread.

All knowledge of chats is in `ChatService`, of settings in `SettingsService`, of the engine in `EngineHost`; the window
makes the widgets, connects them and gives them the theme. Regions, pages and what a person can ask for (`Commands`) are
in the modules beside it; none of them imports the window.
"""

from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QByteArray, QCoreApplication, QSettings, Qt
from PySide6.QtGui import QCloseEvent, QFontMetricsF
from PySide6.QtWidgets import QMainWindow, QWidget

from app.chat.models import ChatStatus, ChatSummary, ModelStatus, Notice, NoticeLevel, OpenChat, UndoOffer
from app.desktop import Notifier, SleepBlocker
from app.pages.doctor_page import DoctorPage
from app.pages.models_page import ModelsPage
from app.pages.settings_page import SettingsPage
from app.settings import Settings
from app.sidebar.sidebar import Sidebar
from app.theme import Theme
from app.theme_controller import SMALL, TITLE, ThemeController
from app.transcript.text_style import TextStyle
from app.widgets.toast import Toast
from app.window_actions import install_actions
from app.window_away import AwayWatch
from app.window_chat import ChatPage
from app.window_commands import CHAT_MENU, PROGRAM_MENU, Commands
from app.window_header import Header
from app.window_pages import Pages
from app.window_panel import SidePanel
from app.window_regions import Regions
from app.window_services import WindowServices
from app.window_status import StatusLine


def _tr(text: str) -> str:
    return QCoreApplication.translate("MainWindow", text)


class MainWindow(QMainWindow):
    """One per program."""

    def __init__(self, services: WindowServices, theme: ThemeController, panel: SidePanel) -> None:
        super().__init__()
        self.services = services
        self._theme = theme
        self._generation = 0
        self._is_built = False
        self._apply_settings_to_theme(services.settings.settings)
        self.sidebar = Sidebar(theme.theme, theme.font(SMALL))
        self.header = Header(theme.theme)
        self.chat = ChatPage(services.chats, self._text_style(), theme.theme)
        self.pages = Pages(services, self.chat, theme.theme)
        self.panel = panel
        self.status = StatusLine()
        self.regions = Regions(
            self.sidebar, self.header, self.pages, panel, self.status, services.settings, self._character
        )
        self.setCentralWidget(self.regions)
        self.setMinimumSize(440, 420)  # below what all regions want together: the sides give way
        self.resize(1360, 860)
        self.toast = Toast(self.regions, (self.chat.body, self.pages))
        self._away = AwayWatch(self, services.chats, services.settings, Notifier(), SleepBlocker())
        self.commands = Commands(services, self.sidebar, self.regions, self.pages, self)
        self.shortcuts = install_actions(self, self.commands.handlers())
        self.header.more_button.set_actions(self.shortcuts[name] for name in CHAT_MENU)
        self.sidebar.more_button.set_actions(self.shortcuts[name] for name in PROGRAM_MENU)
        self._connect()
        self._order_focus()
        self._is_built = True
        self._on_theme_changed(theme.theme)
        self._on_settings_changed(services.settings.settings)
        self._restore_geometry()
        self.pages.show_page(self.chat)
        self._show_title()

    @property
    def models(self) -> ModelsPage:
        return self.pages.models

    @property
    def settings(self) -> SettingsPage:
        return self.pages.settings

    @property
    def doctor(self) -> DoctorPage:
        return self.pages.doctor

    def _order_focus(self) -> None:
        """Tab goes as one reads: chats, header, conversation, composer, panel, status line."""
        sidebar, header, composer = self.sidebar, self.header, self.chat.composer
        order: list[QWidget] = [
            sidebar.new_button,
            sidebar.search_field,
            sidebar.list,
            sidebar.models_button,
            sidebar.settings_button,
            sidebar.more_button,
            header.sidebar_button,
            header.back_button,
            header.settings_button,
            header.more_button,
            header.panel_button,
            self.chat.find_bar.field,
            self.chat.transcript,
            composer.field,
            composer.attach_button,
            composer.primary_button,
            self.panel.tabs,
        ]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)
        QWidget.setTabOrder(self.status.model_button, self.status.cancel_button)

    # ------------------------------------------------------------ wires

    def _connect(self) -> None:
        chats = self.services.chats
        chats.chats_changed.connect(self._on_chats_changed)
        chats.chat_opened.connect(self._on_chat_opened)
        chats.chat_changed.connect(self._on_chat_changed)
        chats.status_changed.connect(self._on_status_changed)
        chats.budget_changed.connect(self.status.show_budget)
        chats.model_changed.connect(self._on_model_changed)
        chats.undo_offered.connect(self._on_undo_offered)
        chats.exported.connect(self._on_exported)
        chats.imported.connect(self._on_imported)
        chats.search_finished.connect(self.sidebar.show_hits)
        self.toast.undo_requested.connect(chats.undo)
        self._theme.changed.connect(self._on_theme_changed)
        self.services.settings.changed.connect(self._on_settings_changed)
        self._connect_sidebar()
        self.header.sidebar_toggled.connect(self.regions.toggle_sidebar)
        self.header.panel_toggled.connect(self.regions.toggle_panel)
        self.header.back_requested.connect(lambda: self.pages.show_page(self.chat))
        self.header.chat_settings_requested.connect(self.commands.open_chat_settings)
        self.pages.currentChanged.connect(self._show_title)
        self.models.doctor_requested.connect(lambda: self.pages.show_page(self.doctor))
        self.status.models_requested.connect(lambda: self.pages.show_page(self.models))
        self.status.cancel_load_requested.connect(chats.cancel_load)

    def _connect_sidebar(self) -> None:
        sidebar, chats, commands = self.sidebar, self.services.chats, self.commands
        sidebar.new_requested.connect(commands.new_chat)
        sidebar.chat_opened.connect(commands.open_chat)
        sidebar.hit_opened.connect(commands.open_hit)
        sidebar.search_changed.connect(chats.search)
        sidebar.rename_requested.connect(chats.rename_chat)
        sidebar.pin_requested.connect(chats.set_pinned)
        sidebar.delete_requested.connect(chats.delete_chat)
        sidebar.export_requested.connect(commands.export)
        sidebar.import_requested.connect(commands.import_chats)
        sidebar.models_requested.connect(lambda: self.pages.show_page(self.models))
        sidebar.settings_requested.connect(lambda: self.pages.show_page(self.settings))

    # ------------------------------------------------------------ the service speaks

    def _on_chats_changed(self, chats: tuple[ChatSummary, ...]) -> None:
        self._away.titles = {chat.id: chat.title for chat in chats}
        self.sidebar.show_chats(chats)

    def _on_chat_opened(self, opened: OpenChat) -> None:
        self.sidebar.set_current(opened.chat.id)
        self.status.show_status(self.services.chats.status(opened.chat.id))
        self._on_chat_changed()
        self.pages.show_page(self.chat)

    def _on_chat_changed(self) -> None:
        if self.pages.shows_chat:
            self._show_title()

    def _show_title(self) -> None:
        chat = self.services.chats.current_chat
        title = chat.title if chat is not None else ""
        is_chat = self.pages.shows_chat
        self.header.show_title(title if is_chat else self.pages.title(), is_chat=is_chat)
        self.setWindowTitle(f"{title} – Haloband" if title else "Haloband")

    def _on_status_changed(self, status: ChatStatus) -> None:
        if status.chat_id == self.services.chats.current_chat_id:
            self.status.show_status(status)

    def _on_model_changed(self, model: ModelStatus) -> None:
        self.status.show_model(model)
        self.chat.empty.show_model(model)
        self.models.show_model(model)
        self.settings.show_advice(model.advice)

    def _on_undo_offered(self, offer: UndoOffer) -> None:
        self.toast.offer(offer.token, offer.text)

    def _on_exported(self, path: Path) -> None:
        self.toast.say(_tr("The chat was exported to {file}.").format(file=path.name))

    def _on_imported(self, chat_ids: tuple[int, ...]) -> None:
        """Show the first of the file; the others stand below it in the list."""
        self.toast.say(QCoreApplication.translate("MainWindow", "%Ln chat(s) imported.", None, len(chat_ids)))
        if chat_ids:
            self.commands.open_chat(chat_ids[0])

    # ------------------------------------------------------------ looks

    def _apply_settings_to_theme(self, settings: Settings) -> None:
        look = settings.appearance
        if look.theme is not self._theme.choice or look.text_scale != self._theme.scale or not self._generation:
            self._theme.set_look(look.theme, look.text_scale)

    def _on_settings_changed(self, settings: Settings, _before: Settings | None = None) -> None:
        look = settings.appearance
        self._apply_settings_to_theme(settings)
        self.regions.fit()
        self.sidebar.animates = not look.reduce_motion
        self.chat.apply_settings(settings)

    def _character(self) -> float:
        return QFontMetricsF(self._theme.font()).averageCharWidth()

    def _text_style(self) -> TextStyle:
        self._generation += 1
        theme = self._theme
        return TextStyle(
            theme.theme,
            theme.font(),
            theme.font(TITLE),
            theme.font(SMALL),
            theme.numeric_font(),
            theme.code_font(),
            self._generation,
        )

    def _on_theme_changed(self, theme: Theme) -> None:
        if not self._is_built:
            return  # the theme is put on before the widgets exist
        style = self._text_style()
        self.sidebar.set_theme(theme, style.small)
        self.header.set_theme(theme)
        self.chat.set_theme(theme, style)
        self.pages.set_theme(theme)
        self.panel.set_theme(theme)
        self.status.set_numeric_font(style.numeric)

    # ------------------------------------------------------------ geometry and end

    def _window_settings(self) -> QSettings:
        return QSettings(str(self.services.paths.window_file), QSettings.Format.IniFormat)

    def _restore_geometry(self) -> None:
        stored = self._window_settings()
        geometry, splitter = stored.value("geometry"), stored.value("splitter")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        if isinstance(splitter, QByteArray):
            self.regions.restore(splitter)

    def show_problem(self, text: str) -> None:
        """A sentence about something that did not work, as a banner."""
        self.chat.banners.show_notice(Notice(NoticeLevel.WARNING, text, key="problem"))

    def close_tasks(self) -> None:
        """End the helper threads of the pages; call before the program ends."""
        self.pages.close_tasks()

    def raise_window(self) -> None:
        """A second start wants this window."""
        self.setWindowState((self.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        stored = self._window_settings()
        stored.setValue("geometry", self.saveGeometry())
        stored.setValue("splitter", self.regions.state())
        super().closeEvent(event)
