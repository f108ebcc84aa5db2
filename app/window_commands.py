"""What a person can ask of the window: its actions (app/window_actions.py says what they are called), and what sidebar,
header and panels report. GUI thread; owned by the main window, of which it knows the parts only."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtWidgets import QWidget

from app.pages.chat_settings import ChatSettingsDialog
from app.pages.help import HelpDialog
from app.pages.shortcuts import ShortcutsDialog
from app.settings import Settings
from app.sidebar.sidebar import Sidebar
from app.widgets.basics import copy_to_clipboard
from app.window_exchange import choose_and_export, choose_and_import
from app.window_pages import Pages
from app.window_regions import Regions
from app.window_services import WindowServices

CHAT_MENU = ("find", "rename", "export")
PROGRAM_MENU = ("import", "doctor", "shortcuts", "help", "quit")
_SCALE_STEP = 0.1
_SMALLEST, _LARGEST = 0.5, 3.0


class Commands:
    """The commands of one window; `window` is the parent of their dialogs, and what "close" closes."""

    def __init__(
        self, services: WindowServices, sidebar: Sidebar, regions: Regions, pages: Pages, window: QWidget
    ) -> None:
        self._services, self._chats = services, services.chats
        self._sidebar, self._regions, self._pages, self._chat = sidebar, regions, pages, pages.chat
        self._window = window

    def handlers(self) -> Mapping[str, Callable[[], object]]:
        """By the name of the action."""
        pages, chat, regions = self._pages, self._chat, self._regions
        return {
            "new_chat": self.new_chat,
            "search": self._search,
            "find": self._find,
            "rename": self._rename,
            "export": lambda: self.export(self._chats.current_chat_id),
            "import": self.import_chats,
            "attach": chat.composing.choose_files,
            "copy_answer": lambda: copy_to_clipboard(chat.last_answer()),
            "regenerate": self._chats.regenerate,
            "stop": self._escape,
            "newest": chat.transcript.scroll_to_newest,
            "focus_composer": chat.focus_composer,
            "sidebar": regions.toggle_sidebar,
            "panel": regions.toggle_panel,
            "models": lambda: pages.show_page(pages.models),
            "doctor": lambda: pages.show_page(pages.doctor),
            "settings": lambda: pages.show_page(pages.settings),
            "larger": lambda: self._change_scale(_SCALE_STEP),
            "smaller": lambda: self._change_scale(-_SCALE_STEP),
            "normal": lambda: self._change_scale(None),
            "help": lambda: HelpDialog(self._services.paths, self._window).open(),
            "shortcuts": lambda: ShortcutsDialog(self._settings.composer.send_key, self._window).open(),
            "close": self._window.close,
            "quit": self._window.close,
        }

    @property
    def _settings(self) -> Settings:
        return self._services.settings.settings

    # ------------------------------------------------------------ chats

    def new_chat(self) -> None:
        self._chats.new_chat()
        self._pages.show_page(self._chat)

    def open_chat(self, chat_id: int) -> None:
        if chat_id != self._chats.current_chat_id:
            self._chats.open_chat(chat_id)
        self._pages.show_page(self._chat)

    def open_hit(self, chat_id: int, message_id: int | None) -> None:
        """Open a chat that a search found, at the message."""
        self._chat.jump_to(message_id)
        self._chats.open_chat(chat_id, message_id)
        self._pages.show_page(self._chat)

    def export(self, chat_id: int | None) -> None:
        """Ask where to, and export a chat."""
        if chat_id is not None:
            choose_and_export(self._window, self._chats, chat_id, self._chats.title(chat_id))

    def import_chats(self) -> None:
        """Ask for a file of chats and import it."""
        choose_and_import(self._window, self._chats)

    def open_chat_settings(self) -> None:
        chat = self._chats.current_chat
        if chat is not None:
            ChatSettingsDialog(self._services, chat, self._window).open()

    def _rename(self) -> None:
        self._regions.show_sidebar(True)
        self._sidebar.rename_current()

    # ------------------------------------------------------------ the window

    def _search(self) -> None:
        self._regions.show_sidebar(True)
        self._sidebar.focus_search()

    def _find(self) -> None:
        self._pages.show_page(self._chat)
        self._chat.find_bar.open_bar()

    def show_qualification(self) -> None:
        """The Benchmark panel wants the page of the qualification."""
        self._pages.show_page(self._pages.qualify)

    def _escape(self) -> None:
        """Esc: the nearest thing first - leave a page, close the find bar, end an edit, then stop the answer."""
        if not self._pages.shows_chat:
            self._pages.show_page(self._chat)
        elif self._chat.find_bar.isVisible():
            self._chat.find_bar.close_bar()
        elif self._chat.composer.edited_message_id is not None:
            self._chat.composer.end_edit()
        else:
            self._chats.stop()

    def _change_scale(self, step: float | None) -> None:
        """Larger or smaller text; None is the system's own size."""
        now = self._settings.appearance.text_scale
        scale = 1.0 if step is None else min(_LARGEST, max(_SMALLEST, round(now + step, 2)))
        self._services.settings.change(lambda s: replace(s, appearance=replace(s.appearance, text_scale=scale)))
