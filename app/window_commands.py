"""What each action of the window does (app/window_actions.py says what they are called). GUI thread; owned by the main
window."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from app.pages.help import HelpDialog
from app.pages.shortcuts import ShortcutsDialog
from app.settings import Settings
from app.widgets.basics import copy_to_clipboard
from app.window_exchange import choose_and_import

if TYPE_CHECKING:
    from app.window import MainWindow

CHAT_MENU = ("find", "rename", "export")
PROGRAM_MENU = ("import", "doctor", "shortcuts", "help", "quit")
_SCALE_STEP = 0.1
_SMALLEST, _LARGEST = 0.5, 3.0


class Commands:
    """The handlers of one window."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._services = window.services

    def handlers(self) -> Mapping[str, Callable[[], object]]:
        """By the name of the action."""
        window, pages = self._window, self._window.pages
        return {
            "new_chat": window.new_chat,
            "search": self._search,
            "find": self._find,
            "rename": self._rename,
            "export": lambda: window.export(self._services.chats.current_chat_id),
            "import": self.import_chats,
            "attach": window.chat.choose_files,
            "copy_answer": lambda: copy_to_clipboard(window.chat.last_answer()),
            "regenerate": self._services.chats.regenerate,
            "stop": self._escape,
            "newest": window.chat.transcript.scroll_to_newest,
            "focus_composer": window.chat.focus_composer,
            "sidebar": window.regions.toggle_sidebar,
            "panel": window.regions.toggle_panel,
            "models": lambda: window.show_page(pages.models),
            "doctor": lambda: window.show_page(pages.doctor),
            "settings": lambda: window.show_page(pages.settings),
            "larger": lambda: self._change_scale(_SCALE_STEP),
            "smaller": lambda: self._change_scale(-_SCALE_STEP),
            "normal": lambda: self._change_scale(None),
            "help": lambda: HelpDialog(self._services.paths, window).open(),
            "shortcuts": lambda: ShortcutsDialog(self._settings.composer.send_key, window).open(),
            "close": window.close,
            "quit": window.close,
        }

    @property
    def _settings(self) -> Settings:
        return self._services.settings.settings

    def import_chats(self) -> None:
        """Ask for a file of chats and import it."""
        choose_and_import(self._window, self._services.chats)

    def _search(self) -> None:
        self._window.regions.show_sidebar(True)
        self._window.sidebar.focus_search()

    def _find(self) -> None:
        self._window.show_page(self._window.chat)
        self._window.chat.find_bar.open_bar()

    def _rename(self) -> None:
        self._window.regions.show_sidebar(True)
        self._window.sidebar.rename_current()

    def _escape(self) -> None:
        """Esc: the nearest thing first - leave a page, close the find bar, end an edit, then stop the answer."""
        window = self._window
        if not window.pages.shows_chat:
            window.show_page(window.chat)
        elif window.chat.find_bar.isVisible():
            window.chat.find_bar.close_bar()
        elif window.chat.composer.edited_message_id is not None:
            window.chat.composer.end_edit()
        else:
            self._services.chats.stop()

    def _change_scale(self, step: float | None) -> None:
        """Larger or smaller text; None is the system's own size."""
        now = self._settings.appearance.text_scale
        scale = 1.0 if step is None else min(_LARGEST, max(_SMALLEST, round(now + step, 2)))
        self._services.settings.change(lambda s: replace(s, appearance=replace(s.appearance, text_scale=scale)))
