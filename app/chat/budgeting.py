"""Budgeter: how the current chat's context would be spent if the draft were sent now. GUI thread, owned by ChatService.

All counting happens on the host's counting thread. The history is counted as one prompt when it changed; the draft
alone while it is typed, one count at a time with the newest text, so that a megabyte in the composer costs no queue.
While the chat is being answered nothing is counted: the history then follows what the worker says of the answer.
"""

import sqlite3
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.budget import ContextBudget
from app.chat.effective import effective_settings
from app.chat.models import Chat, Message, OpenChat, PendingDocument
from app.chat.prompt import build_prompt, load_history
from app.chat.running_context import RunningContext, advanced
from app.documents.prompt import document_block
from app.engine_host import EngineHost
from app.errors import record_error
from app.protocol.events import Event, PromptCounted, TokensCounted
from app.protocol.requests import PromptMessage, PromptRole
from app.settings_service import SettingsService
from app.store import documents
from app.store.store import Store

DRAFT_MS = 250
HISTORY_MS = 150


@dataclass(frozen=True, slots=True)
class _History:
    """What was counted of the stored messages: all tokens of the prompt without a draft, and the reusable ones."""

    tokens: int | None = None
    cached: int = 0


class Budgeter(QObject):
    """Follows one chat; `show` changes which."""

    changed = Signal(object)  # ContextBudget

    def __init__(
        self, store: Store, host: EngineHost, settings: SettingsService, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store, self._host, self._settings = store, host, settings
        self._chat: Chat | None = None
        self._messages: tuple[Message, ...] = ()
        self._sent: list[int | None] = []
        self._pending: tuple[PendingDocument, ...] = ()
        self._history = _History()
        self._draft = ""
        self._draft_tokens: int | None = 0
        self._draft_job: int | None = None
        self._counted_draft = ""  # what draft_job counts
        self._history_job: int | None = None
        self._history_is_stale = False  # changed after the running count began
        self._document_jobs: dict[int, tuple[int, ...]] = {}  # by job id: the documents counted
        self._running: dict[int, RunningContext] = {}  # by chat id: answers under way, and the shown chat's last one
        self._told: ContextBudget | None = None
        self.context_length: int | None = None  # of the model; the budget's context is never larger
        self._draft_timer = QTimer(self, singleShot=True, interval=DRAFT_MS)
        self._draft_timer.timeout.connect(self._count_draft)
        self._history_timer = QTimer(self, singleShot=True, interval=HISTORY_MS)
        self._history_timer.timeout.connect(self._count_history)

    # ---- told by the service

    def show(self, opened: OpenChat, draft: str) -> None:
        """Another chat, or another branch of it."""
        if self._chat is None or self._chat.id != opened.chat.id:
            self._history = _History()
        self._running = {chat_id: running for chat_id, running in self._running.items() if not running.has_ended}
        self._chat, self._messages = opened.chat, opened.messages
        self.set_draft(draft)
        self.refresh_history()

    def set_chat(self, chat: Chat) -> None:
        """Settings, system prompt or history start changed."""
        self._chat = chat
        self.refresh_history()

    def set_messages(self, shown: tuple[Message, ...]) -> None:
        self._messages = shown
        self.refresh_history()

    def answer_begun(self, chat_id: int, counted: PromptCounted | None, answer_limit: int) -> None:
        """A question is on its way to the engine; `counted` is its whole prompt, None if that could not be counted."""
        prompt, cached = (None, 0) if counted is None else (counted.tokens, counted.cached)
        self._running[chat_id] = RunningContext(prompt, cached, answer_limit)
        self._tell()

    def set_draft(self, text: str) -> None:
        if text == self._draft and self._draft_tokens is not None:
            return
        self._draft = text
        if not text:
            self._draft_tokens = 0
        self._draft_timer.start()
        self._tell()

    def set_pending(self, pending: tuple[PendingDocument, ...]) -> None:
        self._pending = pending
        self._tell()

    def refresh_history(self) -> None:
        """The messages, the model or what its sessions hold changed."""
        self._history_is_stale = True
        self._history_timer.start()
        self._note_sent()
        self._tell()

    def recount(self) -> None:
        """Another model counts tokens in another way."""
        self._draft_tokens = 0 if not self._draft else None
        self._history = _History()
        self._draft_timer.start()
        self.refresh_history()

    @property
    def context(self) -> int:
        """The context size answers get: the setting, or the model's own if that is shorter."""
        wanted = self._settings.settings.model.context
        return wanted if self.context_length is None else min(wanted, self.context_length)

    # ---- counting

    def _count_draft(self) -> None:
        if self._draft_job is not None or not self._draft:
            self._tell()
            return
        self._counted_draft = self._draft
        self._draft_job = self._host.count_tokens((self._draft,))

    def _count_history(self) -> None:
        chat = self._chat
        if chat is None or self._history_job is not None or self._is_answering(chat.id):
            return
        self._history_is_stale = False
        last = self._messages[-1].id if self._messages else None
        unknown = frozenset(info.id for message in self._messages for info in message.documents if info.tokens is None)
        system_prompt = effective_settings(chat, self._settings.settings).system_prompt
        self._store.submit(
            lambda db: _load(db, last, chat.history_from_id, system_prompt, unknown),
            lambda loaded: self._on_loaded(chat.id, *loaded),
            self._on_failed,
        )

    def _on_loaded(self, chat_id: int, prompt: tuple[PromptMessage, ...], unknown: dict[int, str]) -> None:
        if self._chat is None or self._chat.id != chat_id or self._history_job is not None:
            return
        self._history_job = self._host.count_prompt(chat_id, prompt)
        if unknown and not self._document_jobs:  # documents that came without a count, with an import
            self._document_jobs[self._host.count_tokens(tuple(unknown.values()))] = tuple(unknown)

    def _on_documents_counted(self, document_ids: tuple[int, ...], counts: tuple[int, ...]) -> None:
        found = dict(zip(document_ids, counts, strict=True))
        self._store.submit(lambda db: documents.set_tokens(db, found.items()))
        self._messages = tuple(
            replace(
                message,
                documents=tuple(replace(info, tokens=found.get(info.id, info.tokens)) for info in message.documents),
            )
            if message.documents
            else message
            for message in self._messages
        )
        self._note_sent()

    def _on_failed(self, error: BaseException) -> None:
        record_error(error, "counting a chat")  # the numbers stay unknown; nothing else depends on them

    def on_event(self, event: Event) -> None:
        """Counts that were asked for here, and how far answers are."""
        if isinstance(event, TokensCounted) and event.job_id == self._draft_job:
            self._draft_job = None
            if self._counted_draft == self._draft:
                self._draft_tokens = None if event.counts is None else event.counts[0]
            else:
                self._draft_timer.start()
            self._tell()
        elif isinstance(event, PromptCounted) and event.job_id == self._history_job:
            self._history_job = None
            if self._chat is not None and event.conversation_id == self._chat.id:
                self._history = _History(event.tokens, event.cached)
                if not self._history_is_stale and not self._is_answering(self._chat.id):
                    self._running.pop(self._chat.id, None)
            if self._history_is_stale or self._chat is None or event.conversation_id != self._chat.id:
                self._history_timer.start()
            self._tell()
        elif isinstance(event, TokensCounted) and event.job_id in self._document_jobs:
            document_ids = self._document_jobs.pop(event.job_id)
            if event.counts is not None:
                self._on_documents_counted(document_ids, event.counts)
            self._tell()
        else:
            self._follow(event)

    def _follow(self, event: Event) -> None:
        """An answer goes on. The end of one in a chat that is not shown leaves nothing to follow."""
        chat_id = getattr(event, "conversation_id", None)
        running = self._running.get(chat_id) if isinstance(chat_id, int) else None
        if running is None or chat_id is None:
            return
        self._running[chat_id] = advanced(running, event)
        if self._chat is None or chat_id != self._chat.id:
            if self._running[chat_id].has_ended:
                del self._running[chat_id]
            return
        self._tell()

    def _is_answering(self, chat_id: int) -> bool:
        return chat_id in self._running and not self._running[chat_id].has_ended

    # ---- telling

    def budget(self) -> ContextBudget | None:
        """The budget of the shown chat, from the newest counts; None before a chat is shown."""
        chat = self._chat
        if chat is None:
            return None
        waiting = [pending.info.tokens if pending.info else None for pending in self._pending]
        budget = ContextBudget(
            chat_id=chat.id,
            context=self.context,
            history=_without(self._history.tokens, _sum(self._sent)),
            documents=_sum([*self._sent, *waiting]),
            draft=self._draft_tokens,
            reserved=min(effective_settings(chat, self._settings.settings).max_tokens, self.context),
            cached=self._history.cached,
        )
        running = self._running.get(chat.id)
        if running is None:
            return budget
        apart = self._sent if _sum(self._sent) is not None else []  # of a document not counted yet, the whole is known
        return replace(
            budget,
            history=_without(running.total, _sum(apart)),
            documents=_sum([*apart, *waiting]),
            reserved=running.reserved,
            cached=running.read,
        )

    def _note_sent(self) -> None:
        """Token counts of the documents in the history, kept because the budget is made on every key."""
        start_id = None if self._chat is None else self._chat.history_from_id
        start = 0
        if start_id is not None:
            start = next((i for i, message in enumerate(self._messages) if message.id == start_id), 0)
        self._sent = [info.tokens for message in self._messages[start:] for info in message.documents]

    def _tell(self) -> None:
        budget = self.budget()
        if budget is not None and budget != self._told:
            self._told = budget
            self.changed.emit(budget)


def _load(
    db: sqlite3.Connection,
    last_id: int | None,
    history_from_id: int | None,
    system_prompt: str,
    unknown: frozenset[int],
) -> tuple[tuple[PromptMessage, ...], dict[int, str]]:
    """The chat as it would be sent with an empty question, and the blocks of uncounted documents. Store's thread."""
    history = load_history(db, last_id, history_from_id)
    prompt = (*build_prompt(system_prompt, history), PromptMessage(PromptRole.USER, ""))
    blocks = {
        document_id: document_block(documents.document_name(db, document_id), documents.document_text(db, document_id))
        for document_id in sorted(unknown)
    }
    return prompt, blocks


def _without(total: int | None, part: int | None) -> int | None:
    """What is left of the total; None if either is not known."""
    return None if total is None or part is None else max(0, total - part)


def _sum(counts: list[int | None]) -> int | None:
    """The sum; None if a part is not known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
