"""ModelKeeper: which model is loaded, loading or chosen, as the status line shows it.

GUI thread, owned by ChatService.
"""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.models import ModelState, ModelStatus, Notice, NoticeLevel
from app.engine_host import EngineHost
from app.protocol.events import Event, LoadCancelled, LoadFailed, ModelLoaded, ModelLoading
from app.sentences import translated
from app.settings_service import SettingsService

NOTICE_KEY = "model"


class ModelKeeper(QObject):
    """Follows the host's load events; remembers the choice in the settings once it worked."""

    changed = Signal(object)  # ModelStatus
    notice = Signal(object)  # Notice

    def __init__(self, host: EngineHost, settings: SettingsService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._settings = settings
        self._job_id: int | None = None
        self._is_start = False  # the load is the program's own choice, and changes no setting
        self._settled = ModelStatus(ModelState.NONE)  # the model that answers until another one is ready
        self.status = ModelStatus(ModelState.NONE)

    @property
    def is_loading(self) -> bool:
        return self.status.state is ModelState.LOADING

    @property
    def context_length(self) -> int | None:
        """The longest context of the model that answers now; None without one."""
        return None if self._settled.info is None else self._settled.info.context_length

    @property
    def path(self) -> Path | None:
        """The file of the model that answers now; None for the embedded one, and without one."""
        return self._settled.path

    @property
    def name(self) -> str:
        return "" if self._settled.info is None else self._settled.info.name

    def load_at_start(self) -> None:
        """Load the model used last; if that fails, the embedded one, so that a question can be asked."""
        choice = self._settings.settings.model
        self._is_start = True
        self._load(Path(choice.path) if choice.path and choice.reload_last else None)

    def load(self, path: Path | None) -> None:
        """Load a model that the person chose, after the jobs before it; None is the embedded one."""
        self._is_start = False
        self._load(path)

    def _load(self, path: Path | None) -> None:
        choice = self._settings.settings.model
        rounding = None if choice.kv_rounding == "auto" else choice.kv_rounding
        self._job_id = self._host.load_model(path, backend=choice.backend, kv_rounding=rounding, dtype=choice.dtype)
        self._set(ModelStatus(ModelState.LOADING, path, self._settled.info))
        self.notice.emit(Notice(NoticeLevel.INFO, "", key=NOTICE_KEY))

    def cancel(self) -> None:
        if self._job_id is not None:
            self._is_start = False
            self._host.stop(self._job_id)

    def on_event(self, event: Event) -> None:
        """Every event of the host comes through here; those of others are passed over."""
        if event.job_id != self._job_id:
            return
        if isinstance(event, ModelLoading):
            self._set(replace(self.status, done_bytes=event.done_bytes, total_bytes=event.total_bytes))
        elif isinstance(event, ModelLoaded):
            self._on_loaded(event)
        elif isinstance(event, LoadCancelled):
            self._job_id = None
            self._forget_unless(event.kept_previous)
            self._set(self._settled)
        elif isinstance(event, LoadFailed):
            self._on_failed(event)

    def _on_loaded(self, event: ModelLoaded) -> None:
        self._job_id = None
        self._settled = ModelStatus(ModelState.READY, event.path, event.info)
        self._set(self._settled)
        if not self._is_start:
            path = "" if event.path is None else str(event.path)
            self._settings.change(lambda settings: replace(settings, model=replace(settings.model, path=path)))
        self._is_start = False

    def _on_failed(self, event: LoadFailed) -> None:
        self._job_id = None
        self._forget_unless(event.kept_previous)
        if self._is_start and event.path is not None:  # keep the choice: its disk may only be away today
            self._load(None)
            text = self.tr("{reason} The embedded model is used instead.").format(reason=translated(event.message))
            self.notice.emit(Notice(NoticeLevel.WARNING, text, key=NOTICE_KEY, is_bug=event.is_bug))
            return
        self._set(ModelStatus(ModelState.FAILED, event.path, self._settled.info, message=event.message))
        self.notice.emit(Notice(NoticeLevel.ERROR, event.message, key=NOTICE_KEY, is_bug=event.is_bug))
        if event.kept_previous:
            self._set(self._settled)

    def _forget_unless(self, kept: bool) -> None:
        if not kept:
            self._settled = ModelStatus(ModelState.NONE)

    def _set(self, status: ModelStatus) -> None:
        if status != self.status:
            self.status = status
            self.changed.emit(status)
