"""What the benchmark needs of the engine, as structural types, so that its tests can hand in a model of known speed.

`engine.load` returns a BenchModel. Nothing here computes.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from engine.ledger import MemoryReport
from engine.model_info import ModelInfo

if TYPE_CHECKING:
    import torch

    from engine.faces import StepProgress


class BenchTokenizer(Protocol):
    """Text to ids."""

    @property
    def bos(self) -> int: ...
    @property
    def eos(self) -> int: ...
    def encode(self, text: str) -> Sequence[int]: ...


class BenchSession(Protocol):
    """One mutable timeline of tokens."""

    @property
    def position(self) -> int: ...
    def reset(self) -> None: ...
    def prefill_steps(
        self, ids: Sequence[int], stop: threading.Event | None = None
    ) -> "Generator[StepProgress, None, torch.Tensor]":
        """Prefill after `position`, yielding after each layer; returns logits float32 [vocab]."""
        ...

    def decode(self, token_id: int) -> "torch.Tensor": ...
    def memory(self) -> MemoryReport: ...
    def snapshot(self) -> bytes: ...
    def restore(self, blob: bytes) -> None: ...


class BenchModel(Protocol):
    """A loaded model."""

    @property
    def info(self) -> ModelInfo: ...
    @property
    def tokenizer(self) -> BenchTokenizer: ...
    @property
    def rounding(self) -> Enum: ...
    def session(self, context: int, mode: str, cap: int, cut: str) -> BenchSession: ...


@dataclass(frozen=True, slots=True)
class ModelSupply:
    """Where the model comes from. `is_fresh`: every call loads it anew, so that a run after it is cold in full.

    The runner lets go of the model it has before it calls `get` again; a caller that keeps another reference would
    hold two models in memory.
    """

    get: Callable[[], BenchModel]
    is_fresh: bool
