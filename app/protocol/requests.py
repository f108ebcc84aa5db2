"""What the GUI thread asks of the worker, and what a question is made of. Frozen records; only a benchmark's plan acts,
on the worker thread."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from app.engine_face import EngineModel
from engine.partial_sampling import UNSAID, PartialSampling


class PromptRole(Enum):
    """Who speaks in a prompt. The engine's own roles have the same values."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message as the model shall see it; becomes an engine.chat_format.Message on the worker thread, because
    the engine's types come with torch, which the window does not wait for."""

    role: PromptRole
    content: str


@dataclass(frozen=True, slots=True)
class SamplingChoice:
    """How tokens are chosen; becomes an engine.sampling.Sampling on the worker thread. Temperature 0 is greedy; what is
    not wished is the model's to advise."""

    wishes: PartialSampling = UNSAID
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class LoadModel:
    """Load this model and drop the one before. `path` None is the embedded model."""

    job_id: int
    path: Path | None
    backend: str = "auto"
    kv_rounding: str | None = None
    dtype: str = "auto"


@dataclass(frozen=True, slots=True)
class Ask:
    """Answer the last message of a conversation. `messages` is the whole conversation as the model shall see it."""

    job_id: int
    conversation_id: int
    messages: tuple[PromptMessage, ...]
    sampling: SamplingChoice
    max_tokens: int
    context: int
    thinking: bool = False
    mode: str = "sparse"


@dataclass(frozen=True, slots=True)
class CountTokens:
    """Count the tokens of several plain texts. Answered while the engine works, by a small thread of its own."""

    job_id: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountPrompt:
    """Count the tokens of a whole conversation as it would be sent, and how many of them a session still holds."""

    job_id: int
    conversation_id: int
    messages: tuple[PromptMessage, ...]
    thinking: bool = False


class BenchmarkPlan(Protocol):
    """What the Benchmark panel asks for: an object that runs on the worker thread and yields frozen updates.

    `run` must look at `stop` between measurements and hand it to the engine; after a stop it returns normally, and
    the updates it yielded so far are the rows that are kept.
    """

    def run(self, model: EngineModel, stop: threading.Event) -> Iterator[object]:
        """Measure and yield one frozen update at a time. `model` is what `engine.load` returned."""
        ...


@dataclass(frozen=True, slots=True)
class RunBenchmark:
    """Run a plan after the jobs before it. The sessions of the chats are kept."""

    job_id: int
    plan: BenchmarkPlan


Request = LoadModel | Ask | CountTokens | CountPrompt | RunBenchmark
