"""The runner on the embedded model with tiny cases: the real session has the face the benchmark needs."""

import threading

import pytest

import engine
import engine.bench.run
from engine.bench.face import ModelSupply
from engine.bench.plans import Case, CaseKind, Plan
from engine.bench.records import BenchActivity, BenchEnded, Figure
from engine.bench.run import BenchRequest, run_bench
from engine.events import Finished, MemoryChanged, PrefillAdvanced


def test_every_kind_of_case_runs_on_the_embedded_model(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        Case(CaseKind.PREFILL, 0, 48, 0, 2, warm_ups=0),
        Case(CaseKind.PREFILL, 130, 16, 0, 2, warm_ups=0),
        Case(CaseKind.DECODE, 0, 0, 4, 1, warm_ups=0),
        Case(CaseKind.SEED, 0, 40, 3, 1, cap=32, variant="32 + 8, cold", is_cold=True, warm_ups=0),
        Case(CaseKind.FRONTIER, 0, 20, 3, 2, warm_ups=0),
        Case(CaseKind.FRONTIER, 20, 20, 3, 2, warm_ups=0),
    ]
    monkeypatch.setattr(engine.bench.run, "plan_cases", lambda *args: cases)
    model = engine.load(None)
    updates = list(run_bench(BenchRequest(Plan.QUICK), ModelSupply(lambda: model, False), threading.Event()))
    end = updates[-1]
    assert isinstance(end, BenchEnded)
    run = end.run
    assert not run.was_stopped
    assert [len(row.samples) for row in run.rows] == [case.runs for case in cases]
    for case, row in zip(cases, run.rows, strict=True):
        assert bool(row.values(Figure.PREFILL)) == bool(case.prompt)
        assert bool(row.values(Figure.DECODE)) == bool(case.answer)
        assert all(sample.cached == case.depth for sample in row.samples if case.prompt)
    deep, sweep = run.rows[1], run.rows[4:]
    assert {(sample.cached, sample.computed) for sample in deep.samples} == {(130, 16)}
    for row in sweep:  # the same state leads to the same answer, run after run
        assert len({sample.output_sha256 for sample in row.samples}) == 1
    assert run.rows[3].mask_bytes is not None
    assert run.model.fingerprint is not None
    events = [update.event for update in updates if isinstance(update, BenchActivity)]
    assert {PrefillAdvanced, MemoryChanged, Finished} <= {type(event) for event in events}
