"""TokenCounter: counts tokens on a small thread of its own, so that counts come while the worker is busy. Owned by
EngineHost; asked on the GUI thread.

It looks only at what the worker published last: the model, whose encoder any thread may use, and copies of the ids that
its sessions hold.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal

from app.errors import record_error
from app.protocol.events import Event, PromptCounted, TokensCounted
from app.protocol.requests import CountPrompt, CountTokens
from app.real_engine import engine_messages
from app.worker import EngineWorker, Published


class TokenCounter(QObject):
    """Answers each request with one event; none after `close`."""

    counted = Signal(object)  # TokensCounted or PromptCounted, sent from the counting thread

    def __init__(self, worker: EngineWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="count")
        self._is_closed = False
        self._closing = threading.Lock()  # held while the counting thread tells a count, and to end that for good

    def count_tokens(self, request: CountTokens) -> None:
        """Count several plain texts."""
        self._submit(TokensCounted(request.job_id, None), lambda published: _count_tokens(published, request))

    def count_prompt(self, request: CountPrompt) -> None:
        """Count a whole prompt."""
        unknown = PromptCounted(request.job_id, request.conversation_id, None, 0)
        self._submit(unknown, lambda published: _count_prompt(published, request))

    def close(self) -> None:
        """End the thread after the count it is at, and tell nothing more."""
        with self._closing:
            self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _submit(self, unknown: Event, count: Callable[[Published], Event]) -> None:
        if not self._is_closed:
            self._thread.submit(self._run, unknown, count)

    def _run(self, unknown: Event, count: Callable[[Published], Event]) -> None:
        """On the counting thread."""
        try:
            event = count(self._worker.published)
        except Exception as error:  # a count that fails is no count; the person can still send
            record_error(error, "counting tokens")
            event = unknown
        with self._closing:
            if not self._is_closed:  # an event posted to an object that is being deleted would crash
                self.counted.emit(event)


def _count_tokens(published: Published, request: CountTokens) -> Event:
    model = published.model
    if model is None:
        return TokensCounted(request.job_id, None)
    return TokensCounted(request.job_id, tuple(model.tokenizer.count(text) for text in request.texts))


def _count_prompt(published: Published, request: CountPrompt) -> Event:
    model = published.model
    if model is None:
        return PromptCounted(request.job_id, request.conversation_id, None, 0)
    ids = model.encode_chat(engine_messages(request.messages), thinking=request.thinking)
    held = next((entry for entry in published.held if entry.conversation_id == request.conversation_id), None)
    cached = 0 if held is None else held.reusable(ids)
    return PromptCounted(request.job_id, request.conversation_id, len(ids), cached)
