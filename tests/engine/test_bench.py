"""The benchmark runner on a model of known speed: figures, counting, order of calls, stop and failure."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.bench.face import ModelSupply
from engine.bench.plans import Plan
from engine.bench.records import (
    BenchActivity,
    BenchEnded,
    BenchProgressed,
    BenchRun,
    BenchStarted,
    BenchUpdate,
    Figure,
    Phase,
    RowMeasured,
)
from engine.bench.run import BenchRequest, run_bench
from engine.errors import EngineError, UserError
from engine.events import Finished, PrefillAdvanced, TokenDecoded
from tests.engine.bench_fake import FakeModel, StubClock, surroundings, with_info

Run = Callable[..., tuple[list[BenchUpdate], BenchRun]]


@pytest.fixture
def model() -> FakeModel:
    return FakeModel(StubClock())


@pytest.fixture
def run(model: FakeModel, tmp_path: Path) -> Run:
    def start(plan: Plan, fresh: bool = False, **options: object) -> tuple[list[BenchUpdate], BenchRun]:
        request = BenchRequest(plan, **options)  # type: ignore[arg-type]  # the test names the request's fields
        source = ModelSupply(lambda: model, fresh)
        updates = list(run_bench(request, source, model.stop, surroundings(model.clock, tmp_path)))
        assert isinstance(updates[0], BenchStarted)
        assert isinstance(updates[-1], BenchEnded)
        return updates, updates[-1].run

    return start


def test_speeds_are_those_of_the_clock(run: Run) -> None:
    _, found = run(Plan.QUICK)
    assert [row.label for row in found.rows] == ["pp512", "pp2048", "tg64"]
    prefill, decode = found.rows[1].stats(Figure.PREFILL), found.rows[2].stats(Figure.DECODE)
    assert prefill is not None
    assert decode is not None
    assert (prefill.count, prefill.mean) == (5, pytest.approx(1000.0))  # 1 ms a token
    assert (decode.count, decode.mean) == (5, pytest.approx(50.0))  # 63 tokens after the first, 20 ms each
    assert found.rows[2].stats(Figure.PREFILL) is None
    assert found.rows[0].stats(Figure.DECODE) is None


def test_deviation_is_over_the_measured_runs_and_not_the_warm_up(run: Run, model: FakeModel) -> None:
    model.speeds = [1.0, 0.001, 0.002]
    _, found = run(Plan.QUICK, runs=2)
    stats = found.rows[0].stats(Figure.PREFILL)
    assert stats is not None
    assert (stats.mean, stats.stdev) == (pytest.approx(750.0), pytest.approx(353.5534, rel=1e-6))


def test_cached_tokens_never_count_as_computed(run: Run) -> None:
    """At depth 8,192 only the 2,048 new tokens are counted, and neither filling nor restoring is timed."""
    _, found = run(Plan.STANDARD, runs=3)
    row = found.rows[3]
    assert row.label == "pp2048 @ d8192"
    assert {(sample.cached, sample.computed) for sample in row.samples} == {(8192, 2048)}
    stats = row.stats(Figure.PREFILL)
    assert stats is not None
    assert stats.mean == pytest.approx(1000.0)
    assert stats.stdev == pytest.approx(0.0, abs=1e-6)


def test_the_depth_is_filled_once_and_restored_for_each_run(run: Run, model: FakeModel) -> None:
    run(Plan.STANDARD, runs=2)
    deep = model.calls[model.calls.index("prefill 8192 at 0") :]
    assert deep == ["prefill 8192 at 0", "snapshot 8192", *["restore 8192", "prefill 2048 at 8192"] * 3]


def test_seed_rows_for_both_cuts(run: Run) -> None:
    _, found = run(Plan.SEED)
    assert [(row.variant, len(row.samples), row.steps) for row in found.rows] == [
        ("8,192 + 941, cold", 1, (8192, 941)),
        ("8,192 + 941, warm", 2, (8192, 941)),
        ("9,133 in one step, cold", 1, (9133,)),
        ("9,133 in one step, warm", 2, (9133,)),
    ]
    for row, largest in zip(found.rows, (8192, 8192, 9133, 9133), strict=True):
        wall = row.stats(Figure.WALL)
        assert wall is not None
        assert wall.mean == pytest.approx(9133 * 0.001 + 127 * 0.02)  # 128 tokens: the first belongs to the prompt
        assert row.mask_bytes == largest * (1 + 2 + 3 + 4)
        assert row.mask_bytes_ratio4 == largest * 3
    assert len({sample.output_sha256 for row in found.rows for sample in row.samples}) == 1


def test_every_arm_writes_as_many_tokens_though_the_model_wants_to_end(run: Run, model: FakeModel) -> None:
    model.end_is_likely = True  # the fake session refuses to be fed the end of text
    _, found = run(Plan.SEED)
    assert {sample.generated for row in found.rows for sample in row.samples} == {128}


def test_a_cold_run_gets_a_new_session_and_a_new_model_where_that_is_possible(
    run: Run, model: FakeModel, tmp_path: Path
) -> None:
    run(Plan.SEED)
    assert [call for call in model.calls if call.startswith("session")] == [
        "session 9261 sparse 8192 greedy",
        "session 9261 sparse 10240 equal",
    ]
    loads = []

    def load() -> FakeModel:
        loads.append(1)
        return FakeModel(model.clock)

    request, stop = BenchRequest(Plan.SEED), threading.Event()
    list(run_bench(request, ModelSupply(load, True), stop, surroundings(model.clock, tmp_path)))
    assert len(loads) == 2


def test_the_sweep_walks_one_text_and_takes_answers_back(run: Run, model: FakeModel) -> None:
    _, found = run(Plan.SWEEP, context=4096 + 64)
    assert [(row.depth, row.prompt_tokens, row.context) for row in found.rows] == [(0, 2048, 2048), (2048, 2048, 4096)]
    second = model.calls[model.calls.index("prefill 2048 at 2048") - 1 :]
    assert second == ["restore 2048", "prefill 2048 at 2048", "snapshot 4096"]
    for row in found.rows:
        prefill, decode = row.stats(Figure.PREFILL), row.stats(Figure.DECODE)
        assert prefill is not None
        assert decode is not None
        assert (prefill.mean, decode.mean) == (pytest.approx(1000.0), pytest.approx(50.0))
    assert found.rows[1].held_bytes == 4 * (100 + 4096 + 10)


def test_rows_fill_one_run_at_a_time(run: Run) -> None:
    updates, _ = run(Plan.QUICK, runs=2)
    start = updates[0]
    assert isinstance(start, BenchStarted)
    assert [(row.label, row.samples, row.runs_planned) for row in start.rows] == [
        ("pp512", (), 2), ("pp2048", (), 2), ("tg64", (), 2),
    ]  # fmt: skip
    filled = [(update.index, len(update.row.samples)) for update in updates if isinstance(update, RowMeasured)]
    assert filled == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]


def test_progress_only_grows_and_knows_the_time_left_once_speeds_are_known(run: Run) -> None:
    updates, _ = run(Plan.QUICK, runs=2)
    told = [update for update in updates if isinstance(update, BenchProgressed)]
    shares = [update.share for update in told]
    assert shares == sorted(shares)
    assert told[0].left_s is None
    assert told[0].phase is Phase.WARM_UP
    last = told[-1]
    assert (last.row, last.rows, last.run, last.runs, last.phase) == (3, 3, 2, 2, Phase.DECODE)
    assert last.left_s == pytest.approx(64 * 0.02, rel=0.05)


def test_the_live_panel_is_told_the_figures_of_the_table(run: Run) -> None:
    updates, found = run(Plan.SEED)
    events = [update.event for update in updates if isinstance(update, BenchActivity)]
    ends = [event for event in events if isinstance(event, Finished)]
    samples = [sample for row in found.rows for sample in row.samples]
    assert [(end.timings.prefill_tok_s, end.timings.decode_tok_s) for end in ends] == [
        (sample.prefill_tok_s, sample.decode_tok_s) for sample in samples
    ]
    assert any(isinstance(event, PrefillAdvanced) and event.layer == 2 for event in events)
    assert any(isinstance(event, TokenDecoded) and event.tok_s == pytest.approx(50.0) for event in events)


@pytest.mark.parametrize("after", [1, 512, 512 * 3 + 1, 512 * 3 + 2048, 512 * 6 + 2048 * 6 + 20])
def test_stop_keeps_the_rows_so_far(run: Run, model: FakeModel, after: int) -> None:
    model.stop_after_tokens = after
    _, found = run(Plan.QUICK)
    assert found.was_stopped
    assert found.failure is None
    whole = FakeModel(StubClock())
    assert all(row.samples for row in found.rows)
    for row in found.rows:
        for sample in row.samples:
            assert sample.prefill_tok_s in (None, pytest.approx(1 / whole.prompt_s))
            assert sample.generated in (0, 64)


@pytest.mark.parametrize("failure", [EngineError("memory ran out at token 512"), MemoryError()])
def test_a_failure_hands_over_the_rows_before_it_is_raised(
    model: FakeModel, tmp_path: Path, failure: Exception
) -> None:
    model.fail_after_tokens, model.failure = 512 * 4, failure
    source = ModelSupply(lambda: model, False)
    updates: list[BenchUpdate] = []
    with pytest.raises(type(failure)):
        for update in run_bench(BenchRequest(Plan.QUICK), source, model.stop, surroundings(model.clock, tmp_path)):
            updates.append(update)
    end = updates[-1]
    assert isinstance(end, BenchEnded)
    assert [len(row.samples) for row in end.run.rows] == [2]
    assert end.run.failure == (str(failure) or "MemoryError")


def test_a_plan_that_does_not_fit_is_refused_before_anything_runs(model: FakeModel, tmp_path: Path) -> None:
    with_info(model, context_length=4096)
    with pytest.raises(UserError, match="seed plan needs a context of 9,261"):
        run_bench(
            BenchRequest(Plan.SEED),
            ModelSupply(lambda: model, False),
            model.stop,
            surroundings(model.clock, tmp_path),
        )
    assert model.calls == []


def test_the_record_says_what_was_run(run: Run) -> None:
    _, found = run(Plan.QUICK, runs=1, mode="dense", dtype="float32")
    assert found.started_at == "2026-01-02T03:04:05+00:00"
    assert (found.settings.mode, found.settings.dtype, found.settings.kv_rounding) == ("dense", "float32", "f16")
    assert found.model.name == "fake"
    assert "Persuasion" in found.text
    assert len(found.text_sha256) == 64
