"""What the window stands on, handed over whole, so that a test can build it on a fake engine and a temporary folder."""

from dataclasses import dataclass

from app.chat.service import ChatService
from app.engine_host import EngineHost
from app.paths import AppPaths
from app.settings_service import SettingsService


@dataclass(frozen=True, slots=True)
class WindowServices:
    """Made by `main_window.run_app`; closed by it in the reverse order."""

    paths: AppPaths
    settings: SettingsService
    host: EngineHost
    chats: ChatService
