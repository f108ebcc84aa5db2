"""What happens while nobody looks: the computer stays awake for a running answer, and its end is notified. GUI thread;
owned by the main window."""

import time

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.chat.models import ChatStatus
from app.chat.service import ChatService
from app.desktop import Notifier, SleepBlocker
from app.generation import GenerationState, is_busy
from app.settings_service import SettingsService

_ENDS = frozenset({GenerationState.DONE, GenerationState.FAILED})


def _tr(text: str) -> str:
    return QCoreApplication.translate("Away", text)


class AwayWatch(QObject):
    """Follows the states of all chats."""

    def __init__(
        self,
        window: QWidget,
        chats: ChatService,
        settings: SettingsService,
        notifier: Notifier,
        sleep: SleepBlocker,
    ) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._notifier, self._sleep = notifier, sleep
        self._started: dict[int, float] = {}  # by chat id: when its answer began, monotonic seconds
        self.titles: dict[int, str] = {}
        chats.status_changed.connect(self.on_status_changed)

    def on_status_changed(self, status: ChatStatus) -> None:
        if is_busy(status.state):
            self._started.setdefault(status.chat_id, time.monotonic())
        elif status.chat_id in self._started:
            took_s = time.monotonic() - self._started.pop(status.chat_id)
            if status.state in _ENDS:
                self._tell(status, took_s)
        self._sleep.set_active(bool(self._started) and self._settings.settings.general.inhibit_sleep)

    def _tell(self, status: ChatStatus, took_s: float) -> None:
        general = self._settings.settings.general
        if not general.notify_when_done or took_s < general.notify_after_s or self._window.isActiveWindow():
            return
        title = self.titles.get(status.chat_id) or _tr("Haloband")
        failed = status.state is GenerationState.FAILED
        self._notifier.notify(
            f"answer-{status.chat_id}", title, _tr("The answer failed.") if failed else _tr("The answer is ready.")
        )
        QApplication.alert(self._window)
