"""Runs a benchmark plan on a model and yields frozen updates: what comes, where it is, rows as they fill, the end.

Called by `haloband bench` and by the app's worker thread, which iterate `run_bench`. Setting `stop` ends the run at
the next layer or token; the rows measured so far are kept. The plans are in engine.bench.plans, the records in
engine.bench.records, the formats in engine.bench.export.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from engine.bench.case import CaseRun, Fixed
from engine.bench.environment import Load, LoadWatch, not_quiet_reasons, read_machine
from engine.bench.face import BenchModel, BenchSession, ModelSupply
from engine.bench.measure import Clock
from engine.bench.peak import PeakWatch
from engine.bench.plans import Case, Plan, plan_cases
from engine.bench.progress import WorkMeter, fill_tokens
from engine.bench.records import (
    BenchActivity,
    BenchEnded,
    BenchProgressed,
    BenchRow,
    BenchRun,
    BenchStarted,
    BenchUpdate,
    Phase,
    RowMeasured,
    Settings,
)
from engine.bench.rows import make_row, model_facts, planned_row
from engine.bench.text import BenchText, bench_text
from engine.errors import EngineError, Stopped
from engine.events import Event, PrefillAdvanced, TokenDecoded
from engine.model_info import ModelInfo
from engine.plan import Cut
from engine.threads import cpu_threads

T = TypeVar("T")

_TOLD_EVERY_S = 0.05
_WATCH_S = 0.5  # how long the machine is watched before the first run


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """What to run. None: the plan's own choice. `dtype` is what the model was loaded with, for the record."""

    plan: Plan
    context: int | None = None
    runs: int | None = None
    mode: str = "sparse"
    dtype: str = "auto"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Time and the machine's files; tests replace them."""

    clock: Clock = time.perf_counter
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], None] = time.sleep
    root: Path = Path("/")


def run_bench(
    request: BenchRequest, supply: ModelSupply, stop: threading.Event, around: Surroundings | None = None
) -> Iterator[BenchUpdate]:
    """Run a plan. The first update is BenchStarted, the last BenchEnded, also after a stop.

    Raises UserError before anything runs if the plan does not fit. A failure of the machine (EngineError, MemoryError)
    is raised after BenchEnded has handed over the rows measured so far.
    """
    return _Runner(request, supply, stop, around or Surroundings()).run()


class _Runner:
    """One run of one plan. Not reusable."""

    def __init__(self, request: BenchRequest, supply: ModelSupply, stop: threading.Event, around: Surroundings) -> None:
        self._request, self._supply, self._stop, self._around = request, supply, stop, around
        self._model: BenchModel | None = supply.get()
        self._is_untouched = True  # no run yet since the model was loaded
        self._info: ModelInfo = self._model.info
        self._cases = plan_cases(request.plan, request.runs, request.context, self._info.context_length)
        self._context = request.context or max(case.context for case in self._cases)
        longest = max(case.depth + max(case.prompt, 1) for case in self._cases)
        tokenizer = self._model.tokenizer
        self._text: BenchText = bench_text(tokenizer, longest, tokenizer.bos)
        self._fixed = Fixed(self._text.ids, tokenizer.eos, self._info.layers)
        self._kv_rounding = str(self._model.rounding.value)
        self._session: BenchSession | None = None
        self._session_cut: tuple[int, Cut] | None = None
        self._meter = WorkMeter(self._cases)
        self._rows: list[BenchRow] = []

    def run(self) -> Iterator[BenchUpdate]:
        started_at = self._around.now().isoformat(timespec="seconds")
        machine = read_machine(cpu_threads(), self._around.root)
        facts = model_facts(self._info)
        before = self._watch_machine()
        planned = tuple(planned_row(case) for case in self._cases)
        yield BenchStarted(self._request.plan, planned, not_quiet_reasons(machine, before))
        watch = LoadWatch(self._around.root, self._around.clock)
        failure: Exception | None = None
        was_stopped = False
        try:
            yield from self._run_cases()
        except Stopped:
            was_stopped = True
        except (EngineError, MemoryError) as error:
            failure = error
        during = watch.read()
        yield BenchEnded(
            BenchRun(
                started_at=started_at,
                settings=self._settings(),
                model=facts,
                machine=machine,
                text=self._text.description,
                text_sha256=self._text.sha256,
                load_before=before,
                load_during=during,
                not_quiet=not_quiet_reasons(machine, before, during),
                rows=tuple(self._rows),
                was_stopped=was_stopped,
                failure=None if failure is None else str(failure) or type(failure).__name__,
            )
        )
        if failure is not None:
            raise failure

    def _watch_machine(self) -> Load:
        watch = LoadWatch(self._around.root)
        self._around.sleep(_WATCH_S)
        return watch.read()

    def _settings(self) -> Settings:
        asked = self._request
        return Settings(
            asked.plan, self._context, asked.mode, asked.runs, self._kv_rounding, asked.dtype, self._supply.is_fresh
        )

    def _run_cases(self) -> Iterator[BenchUpdate]:
        frontier: bytes | None = None
        for index, case in enumerate(self._cases):
            session = self._session_for(case)
            run = CaseRun(case, session, self._fixed, frontier)
            yield from self._run_case(index, run)
            frontier = run.after

    def _session_for(self, case: Case) -> BenchSession:
        """The session of a case: the one before where it serves, and a new one, of a new model if possible, if cold."""
        key = (case.cap, case.cut)
        if case.is_cold and self._supply.is_fresh and not self._is_untouched:
            self._session = self._model = None  # let go first: two large models do not fit
            self._model = self._supply.get()
        if self._session is None or self._session_cut != key or case.is_cold:
            self._session = None
            assert self._model is not None
            self._session = self._model.session(self._context, self._request.mode, case.cap, case.cut.value)
            self._session_cut = key
        self._is_untouched = False
        return self._session

    def _run_case(self, index: int, run: CaseRun) -> Iterator[BenchUpdate]:
        case, samples = run.case, []
        if fill_tokens(case):
            yield self._progress(index, 1, Phase.SETUP)
            yield from self._tell(index, 1, run.prepare(self._around.clock, self._stop), Phase.SETUP)
            self._meter.prompt_done(fill_tokens(case))
        peak = PeakWatch(self._info.backend)
        for number in range(1 - case.warm_ups, case.runs + 1):
            if self._stop.is_set():
                raise Stopped("the benchmark was stopped")
            phase = Phase.WARM_UP if number < 1 else Phase.PREFILL if case.prompt else Phase.DECODE
            yield self._progress(index, max(number, 1), phase)
            sample = yield from self._tell(index, max(number, 1), run.measure(self._around.clock, self._stop), phase)
            self._meter.prompt_done(sample.computed, sample.prefill_s)
            self._meter.answer_done(sample.generated, sample.decode_s)
            if number >= 1:
                samples.append(sample)
                row = make_row(case, tuple(samples), run.report, peak)
                self._rows[index:] = [row]
                yield RowMeasured(index, row)

    def _tell(
        self, index: int, number: int, work: Generator[Event, None, T], phase: Phase
    ) -> Generator[BenchUpdate, None, T]:
        """Pass on the engine's events with the progress they mean, and return what the work returns.

        A layer of a short prompt takes milliseconds: what comes faster than anybody looks is left out, since it
        would be timed too.
        """
        told = float("-inf")
        while True:
            try:
                event = next(work)
            except StopIteration as done:
                result: T = done.value
                return result
            now = self._around.clock()
            if isinstance(event, PrefillAdvanced):
                if now - told < _TOLD_EVERY_S:
                    continue
                told = now
                yield self._progress(index, number, phase, event.tokens_done - event.cached)
            elif isinstance(event, TokenDecoded):
                yield self._progress(index, number, Phase.DECODE)
            yield BenchActivity(event)

    def _progress(self, index: int, number: int, phase: Phase, prompt_now: int = 0) -> BenchProgressed:
        runs = self._cases[index].runs
        share, left_s = self._meter.share(prompt_now), self._meter.left_s(prompt_now)
        return BenchProgressed(index + 1, len(self._cases), number, runs, phase, share, left_s)
