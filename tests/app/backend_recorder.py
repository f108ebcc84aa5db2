"""A ChatService on a fake engine and a temporary folder, with everything it told and ways to wait for it."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pytestqt.qtbot import QtBot

from app.chat.budget import ContextBudget
from app.chat.models import ChatStatus, Message, Notice, OpenChat
from app.chat.service import ChatService
from app.engine_host import EngineHost
from app.generation import GenerationState, is_busy
from app.paths import AppPaths, app_paths
from app.settings_file import SettingsFile
from app.settings_service import SettingsService
from app.store.store import Store
from tests.app.fake_engine import FakeEngine, FakeScript

WAIT_MS = 90_000  # a shared machine may be ten times slower; nothing here measures time
SIGNALS = (
    "chats_changed",
    "chat_opened",
    "branch_changed",
    "chat_changed",
    "message_added",
    "message_changed",
    "text_arrived",
    "status_changed",
    "budget_changed",
    "documents_changed",
    "send_refused",
    "model_changed",
    "notice",
    "undo_offered",
    "search_finished",
    "exported",
    "imported",
)


@dataclass(frozen=True)
class Backend:
    """What the window stands on, put together as app/main_window.py does it."""

    paths: AppPaths
    settings: SettingsService
    store: Store
    host: EngineHost
    chats: ChatService

    @classmethod
    def open(cls, paths: AppPaths, engine: FakeEngine) -> "Backend":
        with contextlib.suppress(OSError):  # the parts that write say it themselves
            paths.create()
        settings = SettingsService(SettingsFile(paths.settings_file))
        host = EngineHost(engine.load, session_limit=settings.settings.model.sessions_kept)
        store = Store(paths.database_file)
        chats = ChatService(store, host, settings)
        host.start()
        return cls(paths, settings, store, host, chats)

    def close(self) -> None:
        self.chats.shutdown()
        self.settings.close()


class BackendRecorder:
    """Opened and started; the first chat is shown and the fake model is loaded unless `wait` is False."""

    def __init__(
        self,
        qtbot: QtBot,
        folder: Path,
        script: FakeScript | None = None,
        *,
        prepare: Callable[[Backend], None] | None = None,
        wait: bool = True,
    ) -> None:
        self.qtbot = qtbot
        self.engine = FakeEngine(script or FakeScript())
        backend = self.backend = Backend.open(app_paths(folder), self.engine)
        self.chats = backend.chats
        self.told: dict[str, list[Any]] = {name: [] for name in SIGNALS}
        self.sent: list[int] = []
        self.drafts: list[tuple[int, str]] = []
        self.order: list[tuple[str, Any]] = []
        for name in SIGNALS:
            getattr(self.chats, name).connect(partial(self._record, name))
        self.chats.sent.connect(self.sent.append)
        self.chats.draft_changed.connect(lambda chat_id, text: self.drafts.append((chat_id, text)))
        if prepare is not None:
            prepare(backend)
        self.chats.start()
        if wait:
            self.wait_ready()

    def _record(self, name: str, record: Any) -> None:
        self.told[name].append(record)
        self.order.append((name, record))

    # ---- waiting

    def wait_ready(self) -> None:
        try:
            self.wait(lambda: self.told["chat_opened"] and self.backend.host.has_model)
        except BaseException:
            self.close()
            raise

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)

    def wait_next(self, signal: str, action: Callable[[], None]) -> Any:
        """Do something and wait for the next record of a signal."""
        before = len(self.told[signal])
        action()
        self.wait(lambda: len(self.told[signal]) > before)
        return self.told[signal][-1]

    def wait_idle(self, chat_id: int | None = None) -> None:
        chosen = self.chat_id if chat_id is None else chat_id
        self.wait(lambda: not is_busy(self.chats.status(chosen).state) and not self.is_sending(chosen))

    def is_sending(self, chat_id: int) -> bool:
        return self.chats._asking.sending.is_sending(chat_id)

    def settle(self) -> None:
        """Everything that was submitted to the store is done and told."""
        done: list[object] = []
        self.backend.store.submit(lambda db: None, done.append)
        self.wait(lambda: done)

    # ---- what there is

    @property
    def chat_id(self) -> int:
        assert self.chats.current_chat_id is not None
        return self.chats.current_chat_id

    @property
    def opened(self) -> OpenChat:
        return self.told["chat_opened"][-1]

    @property
    def shown(self) -> tuple[Message, ...]:
        return self.chats._stage.messages

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.shown]

    @property
    def notices(self) -> list[Notice]:
        return [notice for notice in self.told["notice"] if notice.text]

    @property
    def budget(self) -> ContextBudget:
        return self.told["budget_changed"][-1]

    def states(self, chat_id: int) -> list[GenerationState]:
        """The states a chat went through, in order, each once."""
        found: list[GenerationState] = []
        for status in self.told["status_changed"]:
            assert isinstance(status, ChatStatus)
            if status.chat_id == chat_id and (not found or found[-1] is not status.state):
                found.append(status.state)
        return found

    def stored(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of the database, after everything submitted before."""
        rows: list[list[tuple[Any, ...]]] = []
        self.backend.store.submit(lambda db: [tuple(row) for row in db.execute(query, values)], rows.append)
        self.wait(lambda: rows)
        return rows[0]

    # ---- doing

    def ask(self, text: str, *, wait: bool = True) -> None:
        self.chats.set_draft(text)
        before = len(self.sent)
        self.chats.send()
        self.wait(lambda: len(self.sent) > before)
        if wait:
            self.wait_idle()

    def start_asking(self, text: str = "hello there") -> int:
        """Ask and wait for the first words; the id of the answer."""
        before = len(self.told["text_arrived"])
        self.ask(text, wait=False)
        self.wait(lambda: len(self.told["text_arrived"]) > before)
        return int(self.told["text_arrived"][-1].message_id)

    def new_chat(self) -> int:
        opened = self.wait_next("chat_opened", self.chats.new_chat)
        assert isinstance(opened, OpenChat)
        return opened.chat.id

    def close(self) -> None:
        self.backend.close()
