"""Runs one case of a plan on a session: fills it up to the depth, then as many measured runs as asked for.

Used by the runner (engine/bench/run.py). Filling, saving and restoring are outside every clock.
"""

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from engine.bench.face import BenchSession
from engine.bench.measure import Clock, closing_events, make_sample, read_prompt, time_decode, time_prefill
from engine.bench.plans import Case, CaseKind
from engine.bench.records import Sample
from engine.events import Event
from engine.ledger import MemoryReport


@dataclass(frozen=True, slots=True)
class Fixed:
    """What no case changes: the text's ids from position 0, the end-of-text id, and how many layers the model has."""

    ids: Sequence[int]
    end: int
    layers: int


class CaseRun:
    """One case on one session.

    `start` is the saved state at the case's depth, None at depth 0 or where `prepare` has yet to make it. `report` is
    the ledger after the newest prompt; `after` the state there, kept for the next frontier.
    """

    def __init__(self, case: Case, session: BenchSession, fixed: Fixed, start: bytes | None) -> None:
        self.case, self.session, self._fixed, self._start = case, session, fixed, start
        self.after: bytes | None = None
        self.report: MemoryReport | None = None

    def prepare(self, clock: Clock, stop: threading.Event) -> Generator[Event, None, None]:
        """Fill the session up to the depth, unless a state for it was handed in. Raises Stopped."""
        if self.case.depth and self._start is None:
            self.session.reset()
            before = self._fixed.ids[: self.case.depth]
            yield from read_prompt(self.session, before, self._fixed.layers, clock, stop)
            self._start = self.session.snapshot()

    def measure(self, clock: Clock, stop: threading.Event) -> Generator[Event, None, Sample]:
        """One run from the case's depth. Raises Stopped; a stopped run leaves no sample."""
        self._rewind()
        case, fixed = self.case, self._fixed
        prompt = fixed.ids[case.depth : case.depth + max(case.prompt, 1)]
        prefill = yield from time_prefill(self.session, prompt, fixed.layers, fixed.end, clock, stop)
        self.report = self.session.memory()
        if case.kind is CaseKind.FRONTIER:
            self.after = self.session.snapshot()
        decode = None
        if case.answer:
            decode = yield from time_decode(self.session, prefill.first, case.answer, fixed.end, clock, stop)
        sample = make_sample(prefill if case.prompt else None, decode)
        yield from closing_events(self.session, sample)
        return sample

    def _rewind(self) -> None:
        if self._start is None:
            self.session.reset()
        else:
            self.session.restore(self._start)
