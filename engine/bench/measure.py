"""Times one prompt and one answer on a session, with one clock, and tells them as the engine's own events.

The last event, Finished, carries the times that the sample is made of, so that the live panel and the table show the
same numbers of the same run. Called by the runner; saving and restoring state happens between the calls, unclocked.
"""

import hashlib
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.bench.face import BenchSession
from engine.bench.records import Sample
from engine.errors import Stopped
from engine.events import Event, Finished, FinishReason, MemoryChanged, PrefillAdvanced, Timings, TokenDecoded, Usage
from engine.speed import decode_tok_s, prefill_tok_s

if TYPE_CHECKING:
    import torch

Clock = Callable[[], float]
_TOLD_EVERY_S = 0.25  # decode progress; telling every token would be timed with it


@dataclass(frozen=True, slots=True)
class Prefill:
    """A timed prompt and the token it leads to."""

    computed: int
    cached: int
    seconds: float
    first: int


@dataclass(frozen=True, slots=True)
class Decode:
    """A timed answer: its ids, the first one being the prompt's, and the time from the first to the last."""

    ids: tuple[int, ...]
    seconds: float


def greedy_token(logits: "torch.Tensor", end: int) -> int:
    """The likeliest token that is not the end of text: every arm writes the same number of tokens. [vocab] -> id."""
    best = int(logits.argmax())
    if best != end:
        return best
    return next(int(found) for found in logits.topk(2).indices.tolist() if int(found) != end)


def read_prompt(
    session: BenchSession, ids: Sequence[int], layers: int, clock: Clock, stop: threading.Event
) -> "Generator[Event, None, torch.Tensor]":
    """Compute `ids` after the position, told layer by layer; returns logits float32 [vocab]. Raises Stopped."""
    cached, started = session.position, clock()
    running = session.prefill_steps(ids, stop)
    while True:
        try:
            at = next(running)
        except StopIteration as finished:
            logits: torch.Tensor = finished.value
            return logits
        speed = prefill_tok_s(at.done, clock() - started)
        total = cached + len(ids)
        place = (at.step, at.steps, at.step_tokens, at.layers_done, layers)
        yield PrefillAdvanced(0, *place, tokens_done=cached + at.done, tokens_total=total, cached=cached, tok_s=speed)


def time_prefill(
    session: BenchSession, ids: Sequence[int], layers: int, end: int, clock: Clock, stop: threading.Event
) -> Generator[Event, None, Prefill]:
    """Time `ids` after the session's position. What the session holds already is cached and never counted.

    The clock stops when the first token is known, which also waits for a GPU. Raises Stopped.
    """
    cached, started = session.position, clock()
    logits = yield from read_prompt(session, ids, layers, clock, stop)
    first = greedy_token(logits, end)
    return Prefill(len(ids), cached, clock() - started, first)


def time_decode(
    session: BenchSession, first: int, count: int, end: int, clock: Clock, stop: threading.Event
) -> Generator[Event, None, Decode]:
    """Generate greedily until `count` tokens are there, `first` included, past any end of text. Raises Stopped."""
    ids = [first]
    started = told = clock()
    now = started
    while len(ids) < count:
        if stop.is_set():
            raise Stopped("the benchmark was stopped")
        ids.append(greedy_token(session.decode(ids[-1]), end))
        now = clock()
        if now - told >= _TOLD_EVERY_S:
            told = now
            yield TokenDecoded(0, ids[-1], "", decode_tok_s(len(ids), now - started))
    return Decode(tuple(ids), now - started)


def make_sample(prefill: Prefill | None, decode: Decode | None) -> Sample:
    """A sample of what was measured. A decode case gives no prefill: its one prompt token is not a figure."""
    return Sample(
        computed=prefill.computed if prefill else 0,
        cached=prefill.cached if prefill else 0,
        prefill_s=prefill.seconds if prefill else None,
        generated=len(decode.ids) if decode else 0,
        decode_s=decode.seconds if decode else None,
        output_sha256=hashlib.sha256(repr(decode.ids).encode()).hexdigest() if decode else "",
    )


def closing_events(session: BenchSession, sample: Sample) -> tuple[Event, ...]:
    """What the live panel is told at the end of a sample: the ledger, then the whole run's times and speeds."""
    usage = Usage(sample.cached + sample.computed, sample.cached, sample.generated)
    timings = Timings(
        prefill_s=sample.prefill_s or 0.0,
        decode_s=sample.decode_s or 0.0,
        first_token_s=sample.prefill_s,
        prefill_tok_s=prefill_tok_s(sample.computed, sample.prefill_s or 0.0),
        decode_tok_s=decode_tok_s(sample.generated, sample.decode_s or 0.0),
    )
    return MemoryChanged(0, session.memory()), Finished(0, FinishReason.LENGTH, "", usage, timings)
