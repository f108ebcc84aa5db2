"""A model that plays a fixed answer, for tests of `haloband chat` without weights."""

import io
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from engine.chat_format import Message
from engine.errors import Stopped
from engine.events import Event, Finished, FinishReason, PrefillAdvanced, Timings, TokenDecoded, Usage
from engine.partial_sampling import UNSAID
from engine.sampling import Sampling

PROMPT_IDS = list(range(100))


class WatchedText(io.StringIO):
    """A stream that says a person watches it."""

    def isatty(self) -> bool:
        return True


@dataclass
class FakeModel:
    """Reads a prompt of 100 tokens in two steps and says `pieces`. `interrupt_after` pieces, Ctrl+C is pressed."""

    pieces: Sequence[str] = ("The sea", " is", " wide.")
    tail: str = ""
    reason: FinishReason = FinishReason.END
    interrupt_after: int | None = None
    load_steps: int = 2
    stop_while_loading: bool = False
    messages: list[Message] = field(default_factory=list)
    wanted: dict[str, object] = field(default_factory=dict)
    info: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(name="Fake", context_length=1000, advice=UNSAID)
    )

    def load(self, path: object, progress: object = None, stop: threading.Event | None = None) -> "FakeModel":
        self.wanted["path"] = path
        assert callable(progress)
        for step in range(1, self.load_steps + 1):
            progress(step, self.load_steps)
        if self.stop_while_loading:
            raise Stopped("loading was stopped")
        return self

    def encode_chat(self, messages: Sequence[Message], thinking: bool = False) -> list[int]:
        assert not thinking
        self.messages = list(messages)
        return PROMPT_IDS

    def session(self, context: int, mode: str) -> "FakeModel":
        self.wanted |= {"context": context, "mode": mode}
        return self

    def generate(
        self, ids: Sequence[int], sampling: Sampling, max_tokens: int, stop: threading.Event, job_id: int = 0
    ) -> Iterator[Event]:
        assert ids == PROMPT_IDS
        self.wanted |= {"sampling": sampling, "max_tokens": max_tokens}
        for done, speed in ((50, None), (100, 2040.0)):
            yield PrefillAdvanced(job_id, 1, 1, 100, done // 50, 2, done, 100, 0, speed)
        yield TokenDecoded(job_id, 0, "hidden thought", None, thinking=True)
        said = 0
        for piece in self.pieces:
            if said == self.interrupt_after:
                signal_ourselves()
            if stop.is_set():
                break
            yield TokenDecoded(job_id, said, piece, 391.4)
            said += 1
        reason = FinishReason.STOPPED if stop.is_set() else self.reason
        timings = Timings(prefill_s=0.05, decode_s=0.1, first_token_s=0.06, prefill_tok_s=2040.4, decode_tok_s=391.4)
        yield Finished(job_id, reason, self.tail, Usage(100, 0, said), timings)


def signal_ourselves() -> None:
    """Press Ctrl+C."""
    import signal

    signal.raise_signal(signal.SIGINT)
