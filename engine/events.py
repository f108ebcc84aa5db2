"""What a running answer tells the outside: small frozen records, each with the id of its job.

`Session.generate` yields them on the thread that iterates it (the app's worker thread). They hold no tensors, so
they may cross threads. Speeds follow one counting rule everywhere: prefill speed is tokens really computed over the
time spent computing them (cached tokens never count); decode speed is (tokens - 1) over the time since the first.
"""

from dataclasses import dataclass
from enum import Enum

from engine.ledger import MemoryReport


class FinishReason(Enum):
    """Why an answer ended."""

    END = "end"  # the model produced its end-of-text token
    LENGTH = "length"  # max_tokens were produced
    CONTEXT = "context"  # the session's context is full
    STOPPED = "stopped"  # the stop event was set


@dataclass(frozen=True, slots=True)
class PrefillAdvanced:
    """One layer of one step of the prompt is done.

    `tokens_done` counts cached tokens, committed steps, and the running step in proportion to its layers;
    `tok_s` is None until the first layer has been timed. An open think tag is a step of its own, the last. `step` and
    `layer` count from 1.
    """

    job_id: int
    step: int
    steps: int
    step_tokens: int
    layer: int
    layers: int
    tokens_done: int
    tokens_total: int
    cached: int
    tok_s: float | None


@dataclass(frozen=True, slots=True)
class TokenDecoded:
    """One generated token. `text` holds only whole characters and may be empty; `tok_s` is the speed of the last 2 s.

    `thinking` tells whether the text belongs to the reasoning before the answer; the tags themselves have no text.
    """

    job_id: int
    id: int
    text: str
    tok_s: float | None
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """The per-layer ledger after a commit."""

    job_id: int
    report: MemoryReport


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one answer. prompt_tokens includes cached_tokens."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Timings:
    """Whole-run times in seconds and speeds in tokens per second; None where nothing was measured.

    `first_token_s` counts from the call. `prefill_s` does not hold the time to find and load what is known already.
    """

    prefill_s: float
    decode_s: float
    first_token_s: float | None
    prefill_tok_s: float | None
    decode_tok_s: float | None


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of every job, also of a stopped one."""

    job_id: int
    reason: FinishReason
    text_tail: str  # characters held back by the UTF-8 assembler, replaced where incomplete
    usage: Usage
    timings: Timings


Event = PrefillAdvanced | TokenDecoded | MemoryChanged | Finished
