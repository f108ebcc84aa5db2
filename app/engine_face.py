"""The engine as the app sees it, as structural types: what `engine.load` returns must look like this.

The real engine pulls in torch, so it is imported on the worker thread (app/real_engine.py); tests hand in a fake of
the same shape. Nothing here computes.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.events import Event
from engine.model_info import ModelInfo

if TYPE_CHECKING:
    from engine.chat_format import Message
    from engine.sampling import Sampling


class EngineTokenizer(Protocol):
    """Text to ids. May be called from several threads at once."""

    def count(self, text: str) -> int: ...


class EngineSession(Protocol):
    """One mutable timeline. Only the worker thread may touch it."""

    @property
    def tokens(self) -> Sequence[int]: ...
    @property
    def context(self) -> int: ...
    def generate(
        self, ids: Sequence[int], sampling: "Sampling", max_tokens: int, stop: threading.Event, job_id: int = 0
    ) -> Iterator[Event]: ...


class EngineModel(Protocol):
    """A loaded model. `encode_chat` may be called from several threads; `session` only from the worker."""

    @property
    def info(self) -> ModelInfo: ...
    @property
    def tokenizer(self) -> EngineTokenizer: ...
    def encode_chat(self, messages: "Sequence[Message]", thinking: bool = False) -> list[int]: ...
    def session(self, context: int = 16384, mode: str = "sparse") -> EngineSession: ...


class EngineLoader(Protocol):
    """`engine.load` or a fake. Long: reports bytes through `progress` and looks at `stop`."""

    def __call__(
        self,
        path: Path | None,
        *,
        backend: str,
        kv_rounding: str | None,
        dtype: str,
        progress: Callable[[int, int], None],
        stop: threading.Event,
    ) -> EngineModel: ...
