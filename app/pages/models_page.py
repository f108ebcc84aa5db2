"""The model library: the embedded model, files that were added, folders that are watched. GUI thread.

Headers are read on a helper thread; loading goes through `ChatService`, which keeps the old model until the new one
answers.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QFileSystemWatcher, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QScrollArea, QVBoxLayout, QWidget

from app.chat.models import ModelState, ModelStatus, NoticeLevel
from app.pages.model_card import ModelCard
from app.sentences import translated
from app.settings import ModelChoice, Settings
from app.tasks import TaskThread
from app.theme import Theme
from app.widgets.banner import Banner
from app.widgets.basics import RemovableRow, button, clear_layout, label
from app.widgets.flow_layout import FlowLayout
from app.window_services import WindowServices
from resources import embedded_model

if TYPE_CHECKING:
    from app.pages.model_entries import ModelEntry

_RESCAN_MS = 500


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModelsPage", text)


class ModelsPage(QWidget):
    """Cards of all known models; one can be in use, one can be loading."""

    doctor_requested = Signal()

    def __init__(self, services: WindowServices, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._services = services
        self._theme = theme
        self._status = ModelStatus(ModelState.NONE)
        self._cards: list[ModelCard] = []
        self._tasks = TaskThread("models", self)
        self._watcher = QFileSystemWatcher(self)
        self._rescan = QTimer(self, singleShot=True, interval=_RESCAN_MS)
        self._banner = Banner(theme)
        self._folders = QVBoxLayout()
        self._folders.setSpacing(4)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self._build()
        self._rescan.timeout.connect(self.refresh)
        self._watcher.directoryChanged.connect(lambda _: self._rescan.start())
        services.settings.changed.connect(self._on_settings_changed)
        self.refresh()

    def _build(self) -> None:
        intro = _tr("Pick the model that answers. The one in use stays until the next one is ready.")
        head = FlowLayout()
        head.addWidget(button(_tr("Add file …"), self.choose_file))
        head.addWidget(button(_tr("Watch folder …"), self.choose_folder))
        head.addWidget(button(_tr("Check this computer"), self.doctor_requested.emit))
        inner = QWidget()
        inner.setObjectName("page")
        body = QVBoxLayout(inner)
        body.setContentsMargins(24, 16, 24, 24)
        body.setSpacing(16)
        body.addWidget(label(intro, tone="muted", wraps=True))
        body.addLayout(head)
        body.addWidget(self._banner)
        body.addLayout(self._column)
        body.addLayout(self._folders)
        body.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName(_tr("Models"))
        area.setWidget(inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def close_tasks(self) -> None:
        """End the helper thread; call before the program ends."""
        self._tasks.close(cancel=True)

    # ------------------------------------------------------------ content

    def refresh(self) -> None:
        """Read all headers again, off this thread."""
        choice = self._services.settings.settings.model
        present = [folder for folder in choice.folders if Path(folder).is_dir()]
        if self._watcher.directories():
            self._watcher.removePaths(self._watcher.directories())
        if present:
            self._watcher.addPaths(present)
        self._tasks.submit(lambda: _read_library(choice), self._show_entries)

    def _show_entries(self, entries: "tuple[ModelEntry, ...]") -> None:
        clear_layout(self._column)
        self._cards = []
        added = {str(Path(f).expanduser().absolute()) for f in self._services.settings.settings.model.files}
        for entry in entries:
            card = ModelCard(entry, self._theme, can_remove=entry.path is not None and str(entry.path) in added)
            card.load_requested.connect(self._services.chats.load_model)
            card.cancel_requested.connect(self._services.chats.cancel_load)
            card.remove_requested.connect(self._remove_file)
            card.show_model(self._status)
            self._cards.append(card)
            self._column.addWidget(card)

        self._show_folders()

    def _show_folders(self) -> None:
        """One row for each watched folder, with a way to stop watching it."""
        clear_layout(self._folders)
        for folder in self._services.settings.settings.model.folders:
            missing = not Path(folder).is_dir()
            text = _tr("Watched folder, not there now: {folder}") if missing else _tr("Watched folder: {folder}")
            stop = _tr("Stop watching this folder")
            row = RemovableRow(text.format(folder=folder), stop, self._theme, partial(self._forget_folder, folder))
            self._folders.addWidget(row)

    def _forget_folder(self, folder: str) -> None:
        self._services.settings.change(
            lambda s: replace(s, model=replace(s.model, folders=tuple(f for f in s.model.folders if f != folder)))
        )

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        return tuple(self._cards)

    def show_model(self, status: ModelStatus) -> None:
        self._status = status
        for card in self._cards:
            card.show_model(status)
        if status.state is ModelState.FAILED:
            self._banner.show_text(NoticeLevel.ERROR, translated(status.message))
        elif status.state is ModelState.READY:
            self._banner.hide()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._banner.set_theme(theme)
        for card in self._cards:
            card.set_theme(theme)

    def _on_settings_changed(self, settings: Settings, before: Settings) -> None:
        now, then = settings.model, before.model
        if (now.files, now.folders, now.context) != (then.files, then.folders, then.context):
            self.refresh()

    # ------------------------------------------------------------ the person acts

    def choose_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, _tr("Add a model"), "", _tr("Models (*.gguf *.safetensors)"))
        if name:
            self.add_file(Path(name))

    def add_file(self, path: Path) -> None:
        """Keep a file in the library."""
        self._services.settings.change(
            lambda s: replace(s, model=replace(s.model, files=tuple(dict.fromkeys((*s.model.files, str(path))))))
        )

    def choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, _tr("Watch a folder for models"))
        if name:
            self._services.settings.change(
                lambda s: replace(s, model=replace(s.model, folders=tuple(dict.fromkeys((*s.model.folders, name)))))
            )

    def _remove_file(self, path: Path) -> None:
        def without(files: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in files if Path(name).expanduser().absolute() != path)

        self._services.settings.change(lambda s: replace(s, model=replace(s.model, files=without(s.model.files))))


def _read_library(choice: ModelChoice) -> "tuple[ModelEntry, ...]":
    """The headers of all known models. On the helper thread, which also imports the engine's readers: the window does
    not wait for them."""
    from app.pages.model_entries import read_library

    return read_library(embedded_model(), choice.files, choice.folders, choice.context)
