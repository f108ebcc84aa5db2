"""The Live panel's numbers from events on a stub clock: windows, whole runs, cached tokens, benchmark runs."""

import pytest

from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    BenchmarkAdvanced,
    BenchmarkFailed,
    BenchmarkFinished,
    BenchmarkStarted,
    Event,
    LoadCancelled,
    ModelLoaded,
    PrefillProgressed,
    TextArrived,
)
from app.telemetry.live_meter import Activity, LiveFigures, LiveMeter
from app.worker import stopped_before_start
from engine.bench.records import BenchActivity
from engine.events import Event as EngineEvent
from engine.events import Finished, FinishReason, MemoryChanged, Timings, TokenDecoded, Usage
from tests.app.telemetry import live_events as events
from tests.engine.bench_fake import StubClock


class _Meter:
    """A meter and its clock."""

    def __init__(self) -> None:
        self.clock = StubClock()
        self.meter = LiveMeter(self.clock)

    def at(self, seconds: float, event: Event) -> LiveFigures:
        self.clock.now = 100.0 + seconds
        self.meter.consume(event)
        return self.meter.figures

    def bench(self, seconds: float, event: EngineEvent) -> LiveFigures:
        return self.at(seconds, BenchmarkAdvanced(2, BenchActivity(event)))


@pytest.fixture
def live() -> _Meter:
    return _Meter()


def test_nothing_is_known_before_anything_ran() -> None:
    assert LiveMeter().figures == LiveFigures()


def test_prefill_now_covers_two_seconds_and_the_run_is_the_engines(live: _Meter) -> None:
    live.at(0, events.started(4300))
    for layer in range(1, 11):
        live.at(layer, events.read_layer(layer, 4300, tok_s=100.0))  # 100 tokens a second
    figures = live.at(10.5, events.read_layer(20, 4300, tok_s=190.0))  # then 1,000 in half a second
    assert figures.prefill_now == pytest.approx(1200 / 2.5)  # from the newest point that is two seconds old
    assert figures.prefill_run == 190.0
    assert figures.left_s == pytest.approx(2300 / 190.0)
    assert figures.activity is Activity.PREFILL


def test_cached_tokens_are_shown_apart_and_never_counted(live: _Meter) -> None:
    live.at(0, events.started(9133))
    figures = live.at(1, events.read_layer(1, 9133, cached=8000, tok_s=26.0))
    assert figures.reused == 8000
    assert figures.prefill_now == pytest.approx((1133 // 43) / 1.0)


def test_speed_is_unknown_until_the_first_layer_was_timed(live: _Meter) -> None:
    figures = live.at(0, events.started())
    assert figures.activity is Activity.STARTING
    assert (figures.prefill_now, figures.prefill_run, figures.left_s) == (None, None, None)
    figures = live.at(0, events.read_layer(1, tok_s=None))
    assert (figures.prefill_now, figures.left_s) == (None, None)


def test_decode_now_is_the_engines_and_the_run_follows_the_rule(live: _Meter) -> None:
    live.at(0, events.started())
    live.at(36, events.read_layer(43))
    live.at(36.25, events.text(1, None))
    figures = live.at(38.25, events.text(41, 19.0))
    assert figures.activity is Activity.DECODE
    assert figures.first_token_s == pytest.approx(36.25)
    assert figures.decode_now == 19.0
    assert figures.decode_run == pytest.approx(40 / 2.0)
    assert figures.answer_tokens == 41
    assert figures.prefill_now is None


def test_a_finished_run_shows_the_engines_own_figures(live: _Meter) -> None:
    live.at(0, events.started())
    live.at(36, events.read_layer(43))
    live.at(37, events.text(5))
    ending = events.finished(cached=133)
    figures = live.at(44, ending)
    timings = ending.finished.timings
    assert (figures.prefill_run, figures.decode_run) == (timings.prefill_tok_s, timings.decode_tok_s)
    assert figures.first_token_s == timings.first_token_s
    assert (figures.prompt_tokens, figures.reused, figures.answer_tokens) == (9133, 133, 128)
    assert (figures.prefill_now, figures.decode_now) == (None, None)
    assert figures.activity is Activity.DONE


def test_endings_are_told_apart(live: _Meter) -> None:
    live.at(0, events.started())
    assert live.at(1, events.finished(reason=FinishReason.STOPPED)).activity is Activity.STOPPED
    live.at(2, events.started())
    assert live.at(3, AnswerFailed(1, 1, "memory ran out", False)).activity is Activity.FAILED
    live.at(4, BenchmarkStarted(2))
    assert live.at(5, BenchmarkFailed(2, "memory ran out", False)).activity is Activity.FAILED
    live.at(6, BenchmarkStarted(2))
    assert live.at(7, BenchmarkFinished(2, stopped=True)).activity is Activity.STOPPED


def test_a_new_question_starts_clean_and_keeps_the_memory(live: _Meter) -> None:
    live.at(0, events.started())
    live.at(1, events.memory())
    live.at(2, events.text(9))
    live.at(3, events.finished())
    figures = live.at(4, events.started(20))
    assert (figures.decode_run, figures.first_token_s, figures.prompt_tokens) == (None, None, 20)
    assert figures.report == events.flash_report(9133)
    assert live.meter.points == ()


def test_another_model_forgets_the_memory(live: _Meter) -> None:
    live.at(0, events.memory())
    figures = live.at(1, ModelLoaded(3, None, info=None))  # type: ignore[arg-type]  # the meter does not look at it
    assert figures == LiveFigures()


def test_other_events_change_nothing(live: _Meter) -> None:
    before = live.at(0, events.started())
    assert live.at(0, LoadCancelled(3, None, True)) == before


_PIECE = BenchActivity(TokenDecoded(0, 5, "", 48.0))


@pytest.mark.parametrize(
    "other",
    [
        PrefillProgressed(7, 7, events.progress(1, 100)),
        TextArrived(7, 7, "", "x", 1, 0, 3.0),
        AnswerFinished(7, 7, stopped_before_start(7)),
        AnswerFailed(7, 7, "memory ran out", False),
        BenchmarkAdvanced(7, _PIECE),
        BenchmarkFinished(7, stopped=True),
        BenchmarkFailed(7, "memory ran out", False),
    ],
)
def test_the_end_of_a_waiting_job_leaves_the_running_one_alone(live: _Meter, other: Event) -> None:
    live.at(0, events.started())
    live.at(36, events.read_layer(43))
    before = live.at(37, events.text(5))
    assert live.at(38, other) == before
    live.at(40, BenchmarkStarted(2))
    before = live.at(41, BenchmarkAdvanced(2, _PIECE))
    assert live.at(42, other) == before
    assert live.at(43, BenchmarkFinished(2, stopped=False)).activity is Activity.DONE


def test_a_benchmark_sample_shows_the_figures_of_its_row(live: _Meter) -> None:
    live.at(0, BenchmarkStarted(2))
    live.bench(1, events.progress(43))
    live.bench(2, TokenDecoded(0, 5, "", 48.0))
    live.bench(3, MemoryChanged(0, events.flash_report(9133)))
    ending = Finished(0, FinishReason.LENGTH, "", Usage(9133, 0, 128), Timings(36.2, 6.6, 36.2, 252.3, 19.2))
    figures = live.bench(3, ending)
    assert figures.is_benchmark
    assert (figures.prefill_run, figures.decode_run) == (252.3, 19.2)
    assert figures.report is not None
    figures = live.bench(4, events.progress(1))  # the next sample is a run of its own
    assert (figures.decode_run, figures.activity) == (None, Activity.PREFILL)


def test_a_prompt_that_starts_over_is_another_run(live: _Meter) -> None:
    """Filling a session up to a depth ends without a Finished."""
    live.at(0, BenchmarkStarted(2))
    live.bench(10, events.progress(43, 8192))
    figures = live.bench(12, events.progress(1, 2048, tok_s=None))
    assert figures.prompt_tokens == 2048
    assert len(live.meter.points) <= 1


def test_the_chart_keeps_a_bounded_number_of_points(live: _Meter) -> None:
    live.at(0, events.started())
    for index in range(5000):
        live.at(index, events.text(index + 1, 20.0))
    points = live.meter.points
    assert 600 <= len(points) <= 1200
    assert [point.at_s for point in points] == sorted(point.at_s for point in points)
    assert points[-1].at_s >= 4999 - 1


def test_points_come_no_faster_than_a_chart_can_show(live: _Meter) -> None:
    live.at(0, events.started())
    for index in range(100):
        live.at(index / 100, events.text(index + 1, 20.0))
    assert len(live.meter.points) <= 6
