"""What a session asks of its model, and what generation and the prefix store ask of a session.

Structural types, so that these four depend on this page and not on one another in a circle.
"""

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

import torch

from engine.backends.base import TokenProgram
from engine.config import ModelConfig
from engine.ledger import MemoryReport
from engine.model import Network
from engine.plan import Step
from engine.snapshot import Origin
from engine.state import Checkpoint, SessionState
from engine.timeline import Timeline
from engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class StepProgress:
    """`layers_done` of step number `step` (from 1) of `steps` are done; `done` counts this prompt's tokens."""

    step: int
    steps: int
    step_tokens: int
    layers_done: int
    done: int


class PrefixKeeper(Protocol):
    """Where long sessions wait for their next turn (engine.prefix_store)."""

    def keep(self, session: "SessionFace", end: int | None = None) -> object: ...
    def restore(self, session: "SessionFace", ids: Sequence[int]) -> int: ...


class ModelFace(Protocol):
    """The part of engine.loading.Model that sessions use."""

    config: ModelConfig
    network: Network
    tokenizer: Tokenizer
    fingerprint: str
    prefixes: PrefixKeeper | None

    def memory_report(self, state: SessionState, steps: Sequence[Step], position: int) -> MemoryReport: ...
    def token_program(self, state: SessionState, selects: bool) -> TokenProgram | None: ...


class SessionFace(Protocol):
    """The part of engine.session.Session that generation and the prefix store use."""

    model: ModelFace
    timeline: Timeline

    @property
    def origin(self) -> Origin: ...
    @property
    def position(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def tokens(self) -> tuple[int, ...]: ...
    def check_ids(self, ids: Sequence[int]) -> None: ...
    def reuse(self, ids: Sequence[int]) -> tuple[int, torch.Tensor | None]: ...
    def prefill_steps(
        self, ids: Sequence[int], stop: threading.Event | None = None
    ) -> Generator[StepProgress, None, torch.Tensor]: ...
    def decode(self, token_id: int) -> torch.Tensor: ...
    def memory(self) -> MemoryReport: ...
    def save(self, file: BinaryIO, points: Sequence[Checkpoint]) -> None: ...
    def load(self, file: BinaryIO) -> None: ...
    def keep(self, end: int | None = None) -> None: ...
