"""Turns the worker's events into the numbers of the Live panel. Pure bookkeeping on the GUI thread, no widgets.

The counting rule is engine.speed's; a finished run shows the engine's own timings, so that the numbers are those of
the transcript and of the benchmark. "Now" is a window of two seconds, as the engine's own.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    AnswerStarted,
    BenchmarkAdvanced,
    BenchmarkFailed,
    BenchmarkFinished,
    BenchmarkStarted,
    Event,
    MemoryReported,
    ModelLoaded,
    PrefillProgressed,
    TextArrived,
)
from engine.bench.records import BenchActivity
from engine.events import Event as EngineEvent
from engine.events import Finished, FinishReason, MemoryChanged, PrefillAdvanced, TokenDecoded
from engine.ledger import MemoryReport
from engine.speed import decode_tok_s, prefill_tok_s

WINDOW_S = 2.0
_KEPT_POINTS = 1200  # of the chart; then every second one is dropped
_POINT_EVERY_S = 0.2
_OF_THE_RUN = (
    PrefillProgressed,
    TextArrived,
    AnswerFinished,
    AnswerFailed,
    BenchmarkAdvanced,
    BenchmarkFinished,
    BenchmarkFailed,
)


class Activity(Enum):
    """What the engine does, as far as the panel shows it."""

    IDLE = "idle"
    STARTING = "starting"
    PREFILL = "prefill"
    DECODE = "decode"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """Everything the panel shows of a run. None is not known yet. Speeds in tok/s, times in seconds.

    `prefill_now` and `decode_now` cover the last two seconds and are None outside their phase; the run figures cover
    the whole run. `left_s` is for the prompt. `reused` tokens came from the cache.
    """

    activity: Activity = Activity.IDLE
    is_benchmark: bool = False
    progress: PrefillAdvanced | None = None
    prefill_now: float | None = None
    prefill_run: float | None = None
    decode_now: float | None = None
    decode_run: float | None = None
    first_token_s: float | None = None
    left_s: float | None = None
    prompt_tokens: int | None = None
    reused: int | None = None
    answer_tokens: int | None = None
    report: MemoryReport | None = None


@dataclass(frozen=True, slots=True)
class SpeedPoint:
    """One point of the chart: seconds since the run began, and the speed of the phase it was in."""

    at_s: float
    prefill: float | None
    decode: float | None


class LiveMeter:
    """Feed it every event of the host; read `figures` and `points` when painting."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._report: MemoryReport | None = None
        self._job_id: int | None = None  # of the run whose figures these are
        self._begin(False, None)
        self._activity = Activity.IDLE

    def consume(self, event: Event) -> None:
        """Take in one event; those of a job that is not the running one, a queued one that was stopped say, and those
        that say nothing about speed or memory change nothing."""
        if isinstance(event, _OF_THE_RUN) and event.job_id != self._job_id:
            return
        match event:
            case AnswerStarted(job_id=job_id, prompt_tokens=tokens):
                self._job_id = job_id
                self._begin(False, tokens)
            case PrefillProgressed(progress=progress):
                self._advance(progress)
            case TextArrived(tokens=tokens, tok_s=tok_s):
                self._decode(tokens, tok_s)
            case MemoryReported(report=report):
                self._report = report
            case AnswerFinished(finished=finished):
                self._finish(finished)
            case AnswerFailed():
                self._end(Activity.FAILED)
            case ModelLoaded():
                self._report = None
                self._begin(False, None)
                self._activity = Activity.IDLE
            case _:
                self._consume_benchmark(event)

    def _consume_benchmark(self, event: Event) -> None:
        match event:
            case BenchmarkStarted(job_id=job_id):
                self._job_id = job_id
                self._begin(True, None)
            case BenchmarkAdvanced(update=BenchActivity(event=inner)):
                self._consume_inner(inner)
            case BenchmarkFinished(stopped=stopped):
                self._end(Activity.STOPPED if stopped else Activity.DONE)
            case BenchmarkFailed():
                self._end(Activity.FAILED)
            case _:
                pass

    @property
    def points(self) -> tuple[SpeedPoint, ...]:
        return tuple(self._points)

    @property
    def figures(self) -> LiveFigures:
        progress, is_reading = self._progress, self._activity is Activity.PREFILL
        left = None
        if is_reading and progress is not None and self._prefill_run:
            left = (progress.tokens_total - progress.tokens_done) / self._prefill_run
        return LiveFigures(
            activity=self._activity,
            is_benchmark=self._is_benchmark,
            progress=progress,
            prefill_now=self._window_speed() if is_reading else None,
            prefill_run=self._prefill_run,
            decode_now=self._decode_now if self._activity is Activity.DECODE else None,
            decode_run=self._decode_run,
            first_token_s=self._first_token_s,
            left_s=left,
            prompt_tokens=self._prompt_tokens,
            reused=self._reused,
            answer_tokens=self._answer_tokens,
            report=self._report,
        )

    def _begin(self, is_benchmark: bool, prompt_tokens: int | None) -> None:
        self._activity = Activity.STARTING
        self._is_benchmark = is_benchmark
        self._began = self._clock()
        self._progress: PrefillAdvanced | None = None
        self._window: deque[tuple[float, int]] = deque()
        self._prefill_run: float | None = None
        self._decode_now: float | None = None
        self._decode_run: float | None = None
        self._first_token_at: float | None = None
        self._first_token_s: float | None = None
        self._prompt_tokens = prompt_tokens
        self._reused: int | None = None
        self._answer_tokens: int | None = None
        self._points: list[SpeedPoint] = []

    def _consume_inner(self, event: EngineEvent) -> None:
        """An event of a benchmark's sample: each sample is a run of its own."""
        if isinstance(event, MemoryChanged):
            self._report = event.report
        elif isinstance(event, Finished):
            self._finish(event)
        else:
            if self._activity in (Activity.DONE, Activity.STOPPED) or self._is_new_prompt(event):
                self._begin(True, None)
            if isinstance(event, PrefillAdvanced):
                self._advance(event)
            elif isinstance(event, TokenDecoded):
                self._decode(None, event.tok_s)

    def _is_new_prompt(self, event: EngineEvent) -> bool:
        """Filling a session has no Finished: a prompt that starts over tells that another one began."""
        before = self._progress
        return isinstance(event, PrefillAdvanced) and before is not None and event.tokens_done < before.tokens_done

    def _advance(self, progress: PrefillAdvanced) -> None:
        now = self._clock()
        if not self._window:
            self._window.append((self._began, progress.cached))
        self._window.append((now, progress.tokens_done))
        while len(self._window) > 2 and now - self._window[1][0] > WINDOW_S:
            self._window.popleft()
        self._activity = Activity.PREFILL
        self._progress = progress
        self._prefill_run = progress.tok_s
        self._prompt_tokens, self._reused = progress.tokens_total, progress.cached
        self._note(now, self._window_speed(), None)

    def _window_speed(self) -> float | None:
        if len(self._window) < 2:
            return None
        (first_at, first), (last_at, last) = self._window[0], self._window[-1]
        return prefill_tok_s(max(0, last - first), last_at - first_at)

    def _decode(self, tokens: int | None, tok_s: float | None) -> None:
        now = self._clock()
        if self._first_token_at is None:
            self._first_token_at = now
            self._first_token_s = now - self._began
        self._activity = Activity.DECODE
        self._decode_now = tok_s
        if tokens is not None:
            self._answer_tokens = tokens
            self._decode_run = decode_tok_s(tokens, now - self._first_token_at)
        else:
            self._decode_run = tok_s
        self._note(now, None, tok_s)

    def _finish(self, finished: Finished) -> None:
        """The engine's own figures replace what was estimated on this side."""
        timings, usage = finished.timings, finished.usage
        self._prefill_run, self._decode_run = timings.prefill_tok_s, timings.decode_tok_s
        self._first_token_s = timings.first_token_s
        self._prompt_tokens, self._reused = usage.prompt_tokens, usage.cached_tokens
        self._answer_tokens = usage.completion_tokens
        self._end(Activity.STOPPED if finished.reason is FinishReason.STOPPED else Activity.DONE)

    def _end(self, activity: Activity) -> None:
        self._activity = activity
        self._decode_now = None

    def _note(self, now: float, prefill: float | None, decode: float | None) -> None:
        """A point of the chart, unless the newest one of the same phase is still fresh."""
        at_s, newest = now - self._began, self._points[-1] if self._points else None
        if prefill is None and decode is None:
            return
        same_phase = newest is not None and (newest.prefill is None) == (prefill is None)
        if newest is not None and same_phase and at_s - newest.at_s < _POINT_EVERY_S:
            return
        if len(self._points) >= _KEPT_POINTS:
            del self._points[1::2]
        self._points.append(SpeedPoint(at_s, prefill, decode))
