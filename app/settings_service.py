"""SettingsService: the settings in force, for the window. GUI thread; the file is written on a helper thread.

`update` changes memory at once and tells everybody; the disk follows a moment later, and a failure to write is one
sentence in `problem_found` while the change stays in force until the program ends.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.errors import record_error
from app.settings import Settings
from app.settings_file import SettingsFile
from app.tasks import TaskThread

_SAVE_DELAY_MS = 300


class SettingsService(QObject):
    """Owns the one Settings object."""

    changed = Signal(object, object)  # Settings now, Settings before
    problem_found = Signal(str)

    def __init__(self, file: SettingsFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        loaded = file.load()
        self._settings = loaded.settings
        self.load_problems = loaded.problems  # shown by the window once it is there to show them
        self._thread = TaskThread("settings", self)
        self._timer = QTimer(self, singleShot=True, interval=_SAVE_DELAY_MS)
        self._timer.timeout.connect(self._save)

    @property
    def settings(self) -> Settings:
        return self._settings

    def update(self, settings: Settings) -> None:
        """Put these settings in force and on disk."""
        before, self._settings = self._settings, settings
        if settings != before:
            self._timer.start()
            self.changed.emit(settings, before)

    def change(self, edit: Callable[[Settings], Settings]) -> None:
        """`update` with a function of the settings in force."""
        self.update(edit(self._settings))

    def close(self) -> None:
        """Write what waits and end the helper thread."""
        if self._timer.isActive():
            self._timer.stop()
            self._save()
        self._thread.close()

    def _save(self) -> None:
        settings = self._settings
        self._thread.submit(lambda: self._file.save(settings), failed=self._on_save_failed)

    def _on_save_failed(self, error: BaseException) -> None:
        self.problem_found.emit(record_error(error, "saving the settings").message)
