"""Turns the engine's events of one answer into the few events a window can paint: text gathered over about 33 ms.

Owned by EngineWorker for one job, on the worker thread. Nothing here looks at what the text says.
"""

import time
from collections.abc import Callable

from app.protocol.events import AnswerFinished, MemoryReported, PrefillProgressed, TextArrived
from app.protocol.events import Event as AppEvent
from engine.events import Event, Finished, MemoryChanged, PrefillAdvanced, TokenDecoded

FLUSH_S = 0.033
MEMORY_S = 0.25


class AnswerStream:
    """Feeds on engine events in order and emits app events; `close` after an error flushes what is held back."""

    def __init__(
        self,
        job_id: int,
        conversation_id: int,
        emit: Callable[[AppEvent], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job_id = job_id
        self._conversation_id = conversation_id
        self._emit = emit
        self._clock = clock
        self._is_thinking = False
        self._reasoning: list[str] = []
        self._text: list[str] = []
        self._tokens = 0
        self._reasoning_tokens = 0
        self._tok_s: float | None = None
        self._unsent_tokens = False
        self._text_at = float("-inf")
        self._prefill: PrefillAdvanced | None = None
        self._prefill_at = float("-inf")
        self._memory: MemoryChanged | None = None
        self._memory_at = float("-inf")

    def feed(self, event: Event) -> None:
        """Take one engine event."""
        if isinstance(event, TokenDecoded):
            self._feed_token(event)
        elif isinstance(event, PrefillAdvanced):
            self._prefill = event
            if self._clock() - self._prefill_at >= FLUSH_S:
                self._flush_prefill()
        elif isinstance(event, MemoryChanged):
            self._memory = event
            if self._clock() - self._memory_at >= MEMORY_S:
                self._flush_memory()
        else:
            self._feed_finished(event)

    def close(self) -> None:
        """Send everything held back. Called at the end and before a failure is told."""
        self._flush_prefill()
        self._flush_text()
        self._flush_memory()

    def _feed_token(self, event: TokenDecoded) -> None:
        self._flush_prefill()  # the last piece of progress is always told before the first text
        self._tokens += 1
        self._tok_s = event.tok_s
        self._unsent_tokens = True
        self._is_thinking = event.thinking
        self._reasoning_tokens += event.thinking
        self._pieces().append(event.text)
        if self._clock() - self._text_at >= FLUSH_S:
            self._flush_text()

    def _pieces(self) -> list[str]:
        return self._reasoning if self._is_thinking else self._text

    def _feed_finished(self, event: Finished) -> None:
        if event.text_tail:
            self._pieces().append(event.text_tail)
            self._unsent_tokens = True
        self.close()
        self._emit(AnswerFinished(self._job_id, self._conversation_id, event))

    def _flush_text(self) -> None:
        if not self._unsent_tokens:
            return
        reasoning, text = "".join(self._reasoning), "".join(self._text)
        self._reasoning, self._text = [], []
        self._unsent_tokens = False
        self._text_at = self._clock()
        self._emit(
            TextArrived(
                self._job_id, self._conversation_id, reasoning, text, self._tokens, self._reasoning_tokens, self._tok_s
            )
        )

    def _flush_prefill(self) -> None:
        if self._prefill is not None:
            self._emit(PrefillProgressed(self._job_id, self._conversation_id, self._prefill))
            self._prefill = None
            self._prefill_at = self._clock()

    def _flush_memory(self) -> None:
        if self._memory is not None:
            self._emit(MemoryReported(self._job_id, self._conversation_id, self._memory.report))
            self._memory = None
            self._memory_at = self._clock()
