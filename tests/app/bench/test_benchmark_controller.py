"""The Benchmark panel on a real engine host with a model of known speed: start, rows, stop, compare, export, refuse."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bench.controller import BenchmarkController
from app.bench.panel import BenchmarkPanel, BenchState
from app.bench.table_model import SPEED
from app.engine_host import EngineHost, JobKind
from app.protocol.events import AnswerFailed, AnswerFinished, Event, ModelLoaded
from app.telemetry.live_meter import LiveMeter
from app.widgets import formats
from engine.bench.history import load_history, save_run
from engine.bench.json_form import run_from_json
from engine.bench.plans import Plan
from engine.bench.records import Figure
from engine.errors import EngineError
from tests.app.conftest import MakeHost
from tests.app.fake_engine import FakeScript
from tests.engine.bench_examples import example_run
from tests.engine.bench_fake import FakeModel, StubClock
from tests.engine.bench_tables import parse_csv

WAIT_MS = 20_000


class GatedModel(FakeModel):
    """Waits at a token count until the test lets it go on."""

    def __init__(self, gate_at: int | None = None) -> None:
        super().__init__(StubClock())
        self.gate, self.reached, self._gate_at = threading.Event(), threading.Event(), gate_at

    def spend(self, tokens: int, seconds: float) -> None:
        super().spend(tokens, seconds)
        if self._gate_at is not None and self.spent_tokens >= self._gate_at and not self.reached.is_set():
            self.reached.set()
            self.gate.wait(WAIT_MS / 1000)


@dataclass
class Bench:
    """Everything a test talks to."""

    qtbot: QtBot
    host: EngineHost
    panel: BenchmarkPanel
    controller: BenchmarkController
    folder: Path
    events: list[Event]

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=WAIT_MS)

    def start(self, plan: Plan = Plan.QUICK) -> None:
        self.panel.plans.setCurrentIndex(list(Plan).index(plan))
        self.panel.start_button.click()

    def wait_for_end(self) -> None:
        self.wait(lambda: self.panel.state is BenchState.IDLE)

    def cells(self) -> list[str]:
        model = self.panel.model
        return [str(model.data(model.index(line, SPEED))) for line in range(model.rowCount())]


@pytest.fixture
def make_bench(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    monkeypatch.setattr("engine.bench.run._WATCH_S", 0.0)
    made: list[Bench] = []

    def make(model: FakeModel | None = None, host: EngineHost | None = None, folder: Path | None = None) -> Bench:
        events: list[Event] = []
        if host is None:
            host = EngineHost(lambda path, **options: model)  # type: ignore[arg-type, return-value]  # as far as needed
            host.start()
        host.event_arrived.connect(events.append)
        panel = BenchmarkPanel()
        qtbot.addWidget(panel)
        folder = folder or tmp_path / "benchmarks"
        bench = Bench(qtbot, host, panel, BenchmarkController(host, panel, folder), folder, events)
        made.append(bench)
        if model is not None:
            host.load_model(None)
            bench.wait(lambda: any(isinstance(event, ModelLoaded) for event in events))
        return bench

    yield make
    for bench in made:
        bench.controller.close()
        assert bench.host.shutdown()


def test_rows_appear_one_after_another_and_the_run_is_kept(make_bench: Callable[..., Bench]) -> None:
    model = GatedModel(gate_at=512 * 6 + 2048)
    bench = make_bench(model)
    bench.start()
    bench.wait(model.reached.is_set)
    bench.wait(lambda: bench.cells()[0] != formats.UNKNOWN)
    assert bench.cells()[1:] == [formats.UNKNOWN, formats.UNKNOWN]
    assert bench.panel.state is BenchState.RUNNING
    model.gate.set()
    bench.wait_for_end()
    assert formats.UNKNOWN not in bench.cells()
    bench.wait(lambda: bench.panel.after.earlier.count() == 3)
    (saved,) = load_history(bench.folder).runs
    assert saved.run == bench.panel.run
    assert saved.run.settings.cold_is_fresh is False


def test_stop_keeps_what_is_done(make_bench: Callable[..., Bench]) -> None:
    model = GatedModel(gate_at=512 * 6 + 2048)
    bench = make_bench(model)
    bench.start()
    bench.wait(model.reached.is_set)
    bench.panel.start_button.click()
    assert bench.panel.state is BenchState.STOPPING
    model.gate.set()
    bench.wait_for_end()
    run = bench.panel.run
    assert run is not None
    assert run.was_stopped
    assert [len(row.samples) for row in run.rows] == [5]
    bench.wait(lambda: len(load_history(bench.folder).runs) == 1)


def test_a_stop_before_the_engine_began_leaves_no_run(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(GatedModel())
    bench.start()
    bench.panel.start_button.click()
    bench.wait_for_end()
    assert bench.panel.run is None or bench.panel.run.was_stopped


def test_a_failing_machine_is_told_and_its_rows_are_kept(make_bench: Callable[..., Bench]) -> None:
    model = GatedModel()
    model.fail_after_tokens, model.failure = 512 * 4, EngineError("memory ran out at token 512")
    bench = make_bench(model)
    bench.start()
    bench.wait(lambda: "memory ran out" in bench.panel.notice.text())
    assert bench.cells()[0] != formats.UNKNOWN
    bench.wait(lambda: len(load_history(bench.folder).runs) == 1)


def test_a_plan_that_does_not_fit_is_told(make_bench: Callable[..., Bench]) -> None:
    model = GatedModel()
    model.info = replace(model.info, context_length=4096)
    bench = make_bench(model)
    bench.start(Plan.SEED)
    bench.wait(lambda: "9,261" in bench.panel.notice.text())
    assert bench.panel.state is BenchState.IDLE
    assert bench.panel.start_button.isEnabled()


def test_it_refuses_while_a_chat_is_answering(make_bench: Callable[..., Bench], make_host: MakeHost) -> None:
    recorder = make_host(FakeScript(answer=("x",) * 1000, token_s=0.02))
    bench = make_bench(host=recorder.host)
    assert bench.panel.start_button.isEnabled()
    job = recorder.ask()
    assert not bench.panel.start_button.isEnabled()
    assert "answer is being written" in bench.panel.progress_text.text()
    bench.panel.start_requested.emit(Plan.QUICK)  # however it was asked for
    assert JobKind.BENCHMARK not in recorder.host.busy_kinds
    assert bench.panel.state is BenchState.IDLE
    recorder.host.stop(job)
    bench.wait(lambda: any(isinstance(event, AnswerFinished | AnswerFailed) for event in recorder.events))
    bench.wait(bench.panel.start_button.isEnabled)


def test_it_says_when_no_model_is_loaded(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    assert not bench.panel.start_button.isEnabled()
    assert "No model is loaded" in bench.panel.progress_text.text()


def test_a_run_is_compared_with_one_of_the_history(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    path = save_run(example_run(), folder, lambda place, content: place.write_bytes(content) and None)
    bench = make_bench(GatedModel(), folder=folder)
    bench.wait(lambda: bench.panel.after.earlier.count() == 3)
    bench.start()
    bench.wait_for_end()
    bench.panel.earlier_requested.emit(path)
    bench.wait(lambda: bench.panel.model.is_compared)
    assert "model: DS4 nano, now fake" in bench.panel.after.changes.text()
    bench.panel.earlier_requested.emit(None)
    assert not bench.panel.model.is_compared


def test_a_damaged_file_is_named(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    bench = make_bench(GatedModel())
    bench.panel.earlier_requested.emit(broken)
    bench.wait(lambda: "broken.json" in bench.panel.notice.text())


@pytest.mark.parametrize("name", ["run.md", "run.csv", "run.json"])
def test_a_run_is_exported(make_bench: Callable[..., Bench], tmp_path: Path, name: str) -> None:
    bench = make_bench(GatedModel())
    bench.panel.export_requested.emit(example_run(), tmp_path / name)
    bench.wait(lambda: f"Saved as {name}" in bench.panel.notice.text())
    text = (tmp_path / name).read_text()
    if name == "run.csv":
        assert len(parse_csv(text)) == 2
    elif name == "run.json":
        assert run_from_json(text) == example_run()


@pytest.mark.parametrize(("name", "words"), [("none/run.md", "the folder is gone"), ("run.txt", ".json, .csv or .md")])
def test_a_run_that_cannot_be_exported_is_told(
    make_bench: Callable[..., Bench], tmp_path: Path, name: str, words: str
) -> None:
    bench = make_bench(GatedModel())
    bench.panel.export_requested.emit(example_run(), tmp_path / name)
    bench.wait(lambda: words in bench.panel.notice.text())
    assert bench.panel.notice.text().startswith("Not saved")


def test_a_history_that_cannot_be_written_is_told(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    bench = make_bench(GatedModel(), folder=tmp_path / "file" / "benchmarks")
    bench.start()
    bench.wait(lambda: "The run was not kept" in bench.panel.notice.text())
    assert bench.panel.after.copy_button.isEnabled()


def test_the_live_panels_meter_shows_the_figures_of_the_last_row(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(GatedModel())
    meter = LiveMeter()
    bench.host.event_arrived.connect(meter.consume)
    bench.start(Plan.SEED)
    bench.wait_for_end()
    run = bench.panel.run
    assert run is not None
    last = run.rows[-1].samples[-1]
    assert (meter.figures.prefill_run, meter.figures.decode_run) == (last.prefill_tok_s, last.decode_tok_s)
    assert formats.speed(meter.figures.prefill_run) == formats.speed(run.rows[-1].values(Figure.PREFILL)[-1])
