"""What the worker and the host tell the GUI thread. Frozen records without behaviour."""

from dataclasses import dataclass
from pathlib import Path

from engine.events import Finished, PrefillAdvanced
from engine.ledger import MemoryReport
from engine.model_info import ModelInfo


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
