"""What the GUI thread and the engine's worker thread say to each other: small frozen records, nothing else crosses.

Requests go to `EngineHost` (app/engine_host.py) on the GUI thread, which hands them to `EngineWorker` by queued
signal; events come back through one signal, `EngineHost.event_arrived`. Every job has an id, an answer also has its
conversation's id; an event of a finished job never arrives. Stopping is a threading.Event, never a queued request.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from app.engine_face import EngineModel
from app.generation import GenerationState
from engine.events import Finished, PrefillAdvanced
from engine.ledger import MemoryReport
from engine.model_info import ModelInfo

__all__ = [
    "AnswerFailed",
    "AnswerFinished",
    "AnswerStarted",
    "Ask",
    "BenchmarkAdvanced",
    "BenchmarkFailed",
    "BenchmarkFinished",
    "BenchmarkPlan",
    "BenchmarkStarted",
    "CountPrompt",
    "CountTokens",
    "Event",
    "GenerationState",
    "JobQueued",
    "LoadCancelled",
    "LoadFailed",
    "LoadModel",
    "MemoryReported",
    "ModelLoaded",
    "ModelLoading",
    "PrefillProgressed",
    "PromptCounted",
    "PromptMessage",
    "PromptRole",
    "Request",
    "RunBenchmark",
    "SamplingChoice",
    "TextArrived",
    "TokensCounted",
]


# ---------------------------------------------------------------- requests: GUI thread -> worker


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
    """How tokens are chosen; becomes an engine.sampling.Sampling on the worker thread. Temperature 0 is greedy."""

    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.0
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


# ---------------------------------------------------------------- events: worker -> GUI thread


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """Bytes read so far. total_bytes is 0 until it is known."""

    job_id: int
    path: Path | None
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ModelLoaded:
    """The model answers from now on."""

    job_id: int
    path: Path | None
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """The model could not be loaded. `kept_previous` tells whether the one before is still in place."""

    job_id: int
    path: Path | None
    message: str
    is_bug: bool
    kept_previous: bool


@dataclass(frozen=True, slots=True)
class LoadCancelled:
    """The person cancelled loading."""

    job_id: int
    path: Path | None
    kept_previous: bool


@dataclass(frozen=True, slots=True)
class JobQueued:
    """An answer or a benchmark waits behind `ahead` other jobs. conversation_id is None for a benchmark."""

    job_id: int
    conversation_id: int | None
    ahead: int


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The worker took the question up; the prompt has this many tokens."""

    job_id: int
    conversation_id: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class PrefillProgressed:
    """The engine's own progress record; at most one every 33 ms, and always the last one."""

    job_id: int
    conversation_id: int
    progress: PrefillAdvanced


@dataclass(frozen=True, slots=True)
class TextArrived:
    """Text gathered over about 33 ms. `reasoning` belongs to the thinking fold and comes before `text`.

    `tokens` counts the answer's tokens so far, thinking included; `tok_s` is the speed of the last 2 s.
    """

    job_id: int
    conversation_id: int
    reasoning: str
    text: str
    tokens: int
    reasoning_tokens: int
    tok_s: float | None


@dataclass(frozen=True, slots=True)
class MemoryReported:
    """The per-layer ledger after a commit of this conversation's session."""

    job_id: int
    conversation_id: int
    report: MemoryReport


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The last event of an answer, also of a stopped one. All text has arrived before it (text_tail included)."""

    job_id: int
    conversation_id: int
    finished: Finished


@dataclass(frozen=True, slots=True)
class AnswerFailed:
    """The last event of an answer that could not be finished. The text before it stands."""

    job_id: int
    conversation_id: int
    message: str
    is_bug: bool


@dataclass(frozen=True, slots=True)
class TokensCounted:
    """One count for each text of CountTokens, in order; None while no model is loaded."""

    job_id: int
    counts: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class PromptCounted:
    """Tokens of the whole prompt, and the leading ones that a session still holds; None while no model is loaded."""

    job_id: int
    conversation_id: int
    tokens: int | None
    cached: int


@dataclass(frozen=True, slots=True)
class BenchmarkStarted:
    job_id: int


@dataclass(frozen=True, slots=True)
class BenchmarkAdvanced:
    """One update of the plan, untouched."""

    job_id: int
    update: object


@dataclass(frozen=True, slots=True)
class BenchmarkFinished:
    """The plan ended; `stopped` if the person stopped it (its rows so far are good)."""

    job_id: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class BenchmarkFailed:
    job_id: int
    message: str
    is_bug: bool


Event = (
    ModelLoading
    | ModelLoaded
    | LoadFailed
    | LoadCancelled
    | JobQueued
    | AnswerStarted
    | PrefillProgressed
    | TextArrived
    | MemoryReported
    | AnswerFinished
    | AnswerFailed
    | TokensCounted
    | PromptCounted
    | BenchmarkStarted
    | BenchmarkAdvanced
    | BenchmarkFinished
    | BenchmarkFailed
)
