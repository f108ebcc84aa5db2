"""One answer: reuse what is held, read the rest of the prompt, then sample token by token, telling each in events.

Runs on the thread that iterates it. Time is monotonic; the counting rule is engine.speed's.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from engine.backends.failures import telling_failures
from engine.errors import ContextFullError, Stopped, UserError
from engine.events import (
    Event,
    Finished,
    FinishReason,
    MemoryChanged,
    PrefillAdvanced,
    Timings,
    TokenDecoded,
    Usage,
)
from engine.faces import SessionFace
from engine.sampling import Sampler, Sampling
from engine.speed import decode_tok_s, prefill_tok_s

_LIVE_WINDOW_S = 2.0

Clock = Callable[[], float]


@dataclass(slots=True)
class _Clocked:
    """Times and counts of the running answer."""

    clock: Clock
    prompt_tokens: int
    cached: int = 0
    began: float = 0.0
    reading: float = 0.0  # what is held has been found, also on disk: what follows is computed
    prefilled: float | None = None
    first_token: float | None = None
    last_token: float | None = None
    tokens: int = 0
    recent: deque[float] = field(default_factory=deque)

    def note_token(self) -> float | None:
        """Count one token; the speed over the last two seconds, None for the first."""
        now = self.clock()
        self.tokens += 1
        self.first_token = now if self.first_token is None else self.first_token
        self.last_token = now
        self.recent.append(now)
        while now - self.recent[0] > _LIVE_WINDOW_S:
            self.recent.popleft()
        return decode_tok_s(len(self.recent), now - self.recent[0])

    def usage(self) -> Usage:
        return Usage(self.prompt_tokens, self.cached, self.tokens)

    def timings(self) -> Timings:
        now = self.clock()
        prefill_s = (self.prefilled if self.prefilled is not None else now) - self.reading
        computed = self.prompt_tokens - self.cached if self.prefilled is not None else 0
        decode_s = self.last_token - self.first_token if self.last_token and self.first_token else 0.0
        return Timings(
            prefill_s=prefill_s,
            decode_s=decode_s,
            first_token_s=None if self.first_token is None else self.first_token - self.began,
            prefill_tok_s=prefill_tok_s(computed, prefill_s),
            decode_tok_s=decode_tok_s(self.tokens, decode_s),
        )


def run_generation(
    session: SessionFace,
    ids: Sequence[int],
    sampling: Sampling,
    max_tokens: int,
    stop: threading.Event,
    job_id: int,
    clock: Clock = time.perf_counter,
) -> Iterator[Event]:
    """The events of one answer. See Session.generate; the checks run before the first event is asked for."""
    if max_tokens < 1:
        raise UserError(f"an answer of {max_tokens} tokens was asked for")
    session.check_ids(ids)
    if len(ids) > session.context:
        raise ContextFullError(f"the prompt needs {len(ids)} tokens, this session's context holds {session.context}")
    sampler = Sampler(sampling)
    return _told(session, _events(session, list(ids), sampler, max_tokens, stop, job_id, _Clocked(clock, len(ids))))


def _told(session: SessionFace, events: Iterator[Event]) -> Iterator[Event]:
    """A GPU's work is queued: what fails in it shows at the next copy, wherever in an answer that is."""
    with telling_failures(session):
        yield from events


def _events(
    session: SessionFace,
    ids: list[int],
    sampler: Sampler,
    max_tokens: int,
    stop: threading.Event,
    job_id: int,
    timed: _Clocked,
) -> Iterator[Event]:
    timed.began = timed.clock()
    timed.cached, logits = session.reuse(ids)
    timed.reading = timed.clock()
    try:
        if logits is None:
            logits = yield from _read_prompt(session, ids, stop, job_id, timed)
    except Stopped:
        yield Finished(job_id, FinishReason.STOPPED, "", timed.usage(), timed.timings())
        return
    timed.prefilled = timed.clock()
    session.timeline.mark(logits)
    yield MemoryChanged(job_id, session.memory())
    yield from _answer(session, logits, _thinks(session, ids), sampler, max_tokens, stop, job_id, timed)
    # After the last event: nobody waits for the disk. No later turn begins with reasoning.
    session.keep(_shared_with_later(session, ids) if _thinks(session, ids) else None)


def _read_prompt(
    session: SessionFace, ids: list[int], stop: threading.Event, job_id: int, timed: _Clocked
) -> Generator[Event, None, torch.Tensor]:
    """Compute what is not held, in one part or two, and keep where each begins; logits after the last token."""
    border = max(_shared_with_later(session, ids), timed.cached)
    parts = [part for part in (ids[timed.cached : border], ids[border:]) if part]
    steps, logits = 0, torch.empty(0)
    for further, part in zip(reversed(range(len(parts))), parts, strict=True):
        start, taken = session.position, 0
        if start:
            session.timeline.mark(None)
        running = session.prefill_steps(part, stop)
        while True:
            try:
                at = next(running)
            except StopIteration as finished:
                logits = finished.value
                break
            taken = at.steps
            done = start + at.done
            yield PrefillAdvanced(
                job_id=job_id,
                step=steps + at.step,
                steps=steps + at.steps + further,  # a further part is one token
                step_tokens=at.step_tokens,
                layer=at.layers_done,
                layers=session.model.config.layers,
                tokens_done=done,
                tokens_total=len(ids),
                cached=timed.cached,
                tok_s=prefill_tok_s(done - timed.cached, timed.clock() - timed.reading),
            )
        steps += taken
    return logits


def _answer(
    session: SessionFace,
    logits: torch.Tensor,
    thinking: bool,
    sampler: Sampler,
    max_tokens: int,
    stop: threading.Event,
    job_id: int,
    timed: _Clocked,
) -> Iterator[Event]:
    """Sample until the end token, the length, the context or the stop; the last token is not fed to the model."""
    tokenizer = session.model.tokenizer
    text = tokenizer.stream()
    reason = FinishReason.LENGTH
    while True:
        if stop.is_set():
            reason = FinishReason.STOPPED
            break
        token = sampler.pick(logits)
        if token == tokenizer.eos:
            reason = FinishReason.END
            break
        speed = timed.note_token()
        ends_thinking = thinking and token == tokenizer.think_end
        yield TokenDecoded(job_id, token, "" if ends_thinking else text.push(token), speed, thinking)
        thinking = thinking and not ends_thinking
        if timed.tokens == max_tokens:
            break
        if session.position == session.context:
            reason = FinishReason.CONTEXT
            break
        logits = session.decode(token)
    yield MemoryChanged(job_id, session.memory())
    yield Finished(job_id, reason, text.finish(), timed.usage(), timed.timings())


def _thinks(session: SessionFace, ids: list[int]) -> bool:
    """Whether the prompt left the model inside an open think tag."""
    return ids[-1] == session.model.tokenizer.think_start


def _shared_with_later(session: SessionFace, ids: list[int]) -> int:
    """How much of a prompt later turns begin with: without an open think tag, because they leave the reasoning out."""
    return len(ids) - 1 if _thinks(session, ids) else len(ids)
