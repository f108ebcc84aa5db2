"""What the benchmark needs of the engine, as structural types, so that its tests can hand in a model of known speed.

`engine.load` returns a BenchModel. Nothing here computes.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.ledger import MemoryReport

if TYPE_CHECKING:
    import torch


class BenchInfo(Protocol):
    """What a loaded model says about itself."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def architecture(self) -> str: ...
    @property
    def parameters(self) -> int: ...
    @property
    def file_bytes(self) -> int: ...
    @property
    def quantization(self) -> str: ...
    @property
    def layers(self) -> int: ...
    @property
    def context_length(self) -> int: ...
    @property
    def backend(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def native(self) -> str | None: ...


class BenchTokenizer(Protocol):
    """Text to ids."""

    @property
    def bos(self) -> int: ...
    @property
    def eos(self) -> int: ...
    def encode(self, text: str) -> Sequence[int]: ...


class PromptProgress(Protocol):
    """Some layers of a step are done; `done` counts the prompt's tokens."""

    @property
    def step(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def step_tokens(self) -> int: ...
    @property
    def layers_done(self) -> int: ...
    @property
    def done(self) -> int: ...


class BenchSession(Protocol):
    """One mutable timeline of tokens."""

    @property
    def position(self) -> int: ...
    def reset(self) -> None: ...
    def prefill_steps(
        self, ids: Sequence[int], stop: threading.Event | None = None
    ) -> "Generator[PromptProgress, None, torch.Tensor]":
        """Prefill after `position`, yielding after each layer; returns logits float32 [vocab]."""
        ...

    def decode(self, token_id: int) -> "torch.Tensor": ...
    def memory(self) -> MemoryReport: ...
    def snapshot(self) -> bytes: ...
    def restore(self, blob: bytes) -> None: ...


class BenchModel(Protocol):
    """A loaded model."""

    @property
    def info(self) -> BenchInfo: ...
    @property
    def tokenizer(self) -> BenchTokenizer: ...
    @property
    def rounding(self) -> Enum: ...
    def session(self, context: int, mode: str, cap: int, cut: str) -> BenchSession: ...


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where the model comes from. `is_fresh`: every call loads it anew, so that a run after it is cold in full.

    The runner lets go of the model it has before it calls `get` again; a caller that keeps another reference would
    hold two models in memory.
    """

    get: Callable[[], BenchModel]
    is_fresh: bool
