"""Backend: everything of the program that is not a window, opened in the right order and closed in the reverse one.

Made by the program's entry on the GUI thread, after the QApplication and the log (app/logs.py). The order matters: the
folders, then the right to write them, then settings, store and engine.
"""

from dataclasses import dataclass
from pathlib import Path

from app.chat.service import ChatService
from app.engine_face import EngineLoader
from app.engine_host import EngineHost
from app.errors import StoreError
from app.files import why_not_written
from app.garbage import GuiGarbageCollector
from app.paths import AppPaths
from app.settings_file import SettingsFile
from app.settings_service import SettingsService
from app.single_instance import SingleInstance
from app.store.store import Store
from app.worker import load_engine_model


@dataclass(frozen=True, slots=True)
class Backend:
    """What the window stands on. `problems` are sentences to show once it is there."""

    paths: AppPaths
    instance: SingleInstance
    settings: SettingsService
    store: Store
    host: EngineHost
    chats: ChatService
    garbage: GuiGarbageCollector
    problems: tuple[str, ...]

    def close(self) -> None:
        """Stop, save and let go of everything. Blocks until the last answer is on disk."""
        self.chats.shutdown()
        self.settings.close()
        self.instance.release()
        self.garbage.close()


def open_backend(
    paths: AppPaths,
    *,
    loader: EngineLoader = load_engine_model,
    model: Path | None = None,
) -> Backend | None:
    """Open everything; call `chats.start()` when the views are connected.

    None if another process has the data folder: its window was raised. Raises StoreError if that process does not
    answer. A folder that cannot be written is no error: its sentence is among `problems`, and nothing is kept.
    `model` is used in this run instead of the one in the settings.
    """
    problems: list[str] = []
    try:
        paths.create()
    except OSError as error:
        problems.append(f"{error.filename or paths.data_dir} cannot be made: {why_not_written(error)}.")
    instance = SingleInstance(paths)
    try:
        is_first = instance.acquire()
    except StoreError as error:  # read-only: nobody can write it, so nobody needs the lock
        problems.append(str(error))
        is_first = True
    if not is_first:
        if instance.raise_first():
            return None
        raise StoreError(
            f"Another Haloband has the data folder {paths.data_dir} and does not answer. End it, or use --data-dir."
        )
    settings = SettingsService(SettingsFile(paths.settings_file))
    problems += settings.load_problems
    store = Store(paths.database_file)
    host = EngineHost(loader, settings.settings.model.sessions_kept)
    chats = ChatService(store, host, settings)
    if model is not None:
        chats.use_model(model)
    host.start()
    return Backend(paths, instance, settings, store, host, chats, GuiGarbageCollector(), tuple(problems))
