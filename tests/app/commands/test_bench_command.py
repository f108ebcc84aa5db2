"""`haloband bench` with a model of known speed: what it prints, saves and compares, and how it ends."""

import argparse
import signal
from pathlib import Path

import pytest

import engine
from app.commands import bench
from app.errors import UserError
from engine.bench.json_form import run_from_json
from engine.bench.plans import Plan
from engine.bench.records import BenchProgressed, Phase
from engine.errors import EngineError
from tests.engine.bench_examples import example_run
from tests.engine.bench_fake import FakeModel, StubClock
from tests.engine.bench_tables import parse_csv, parse_markdown


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    model = FakeModel(StubClock())

    def load(*args: object, **options: object) -> FakeModel:
        model.calls.append(f"load {args[0]}")
        return model

    monkeypatch.setattr(engine, "load", load)
    monkeypatch.setattr("engine.bench.run._WATCH_S", 0.0)
    return model


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(words))


def test_it_prints_the_table(model: FakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--runs", "2") == 0
    assert list(parse_markdown(capsys.readouterr().out)) == ["pp512", "pp2048", "tg64"]
    assert model.calls[0] == "load None"


def test_json_is_all_that_goes_to_stdout(model: FakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(bench.run_to_json(example_run()))
    assert _run("--json", "--runs", "1", "--plan", "seed", "--compare", str(earlier)) == 0
    out, err = capsys.readouterr()
    run = run_from_json(out)
    assert run.settings.plan is Plan.SEED
    assert run.settings.cold_is_fresh
    assert "no test in common" in err


def test_each_cold_arm_gets_a_freshly_loaded_model(model: FakeModel) -> None:
    assert _run("--plan", "seed", "--runs", "1") == 0
    assert [call for call in model.calls if call.startswith("load")] == ["load None", "load None"]


def test_the_run_is_saved_in_the_format_of_the_suffix(model: FakeModel, tmp_path: Path) -> None:
    for name in ("run.json", "run.csv", "run.md"):
        assert _run("--runs", "1", "--out", str(tmp_path / name)) == 0
    assert len(run_from_json((tmp_path / "run.json").read_text()).rows) == 3
    assert len(parse_csv((tmp_path / "run.csv").read_text())) == 3
    assert len(parse_markdown((tmp_path / "run.md").read_text())) == 3


def test_a_comparison_names_ratio_and_noise(
    model: FakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(bench.run_to_json(example_run()))
    assert _run("--runs", "3", "--compare", str(earlier)) == 0
    out = capsys.readouterr().out
    assert "against 2026-01-02T03:04:05+00:00" in out
    assert "pp512: 1500.00 ± 100.00 -> " in out
    assert "outside the noise" in out
    assert "changed: model: DS4 nano, now fake" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "bench.txt"), r"\.json, \.csv or \.md"),
        (("--out", "nowhere/run.json"), "does not exist"),
        (("--compare", "none.json"), "none.json cannot be read"),
    ],
)
def test_bad_files_are_refused_before_a_model_is_loaded(
    model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        _run(*words)
    assert model.calls == []


def test_a_folder_is_no_destination(model: FakeModel, tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        _run("--out", str(tmp_path / "run.json"))


@pytest.mark.parametrize("words", [("--runs", "0"), ("--context", "100"), ("--plan", "sweep", "--context", "70000")])
def test_numbers_that_do_not_fit_are_refused(model: FakeModel, words: tuple[str, ...]) -> None:
    with pytest.raises(UserError):
        _run(*words)


def test_the_first_interrupt_keeps_the_rows(
    model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spend, before = model.spend, signal.getsignal(signal.SIGINT)

    def interrupted(tokens: int, seconds: float) -> None:
        spend(tokens, seconds)
        if model.spent_tokens == 512 * 6 + 2048 * 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(model, "spend", interrupted)
    out = tmp_path / "run.json"
    assert _run("--out", str(out)) == bench.STOPPED_STATUS
    run = run_from_json(out.read_text())
    assert run.was_stopped
    assert [len(row.samples) for row in run.rows] == [5, 1]
    assert "stopped; 2 rows kept" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def test_a_failing_machine_still_hands_over_the_rows(
    model: FakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.fail_after_tokens, model.failure = 512 * 4, EngineError("memory ran out at token 512")
    out = tmp_path / "run.json"
    with pytest.raises(EngineError, match="memory ran out"):
        _run("--out", str(out))
    assert [len(row.samples) for row in run_from_json(out.read_text()).rows] == [2]
    assert "ended early: memory ran out at token 512" in capsys.readouterr().out


def test_the_progress_line_says_where_it_is() -> None:
    line = bench.progress_line(BenchProgressed(2, 3, 4, 5, Phase.PREFILL, 0.5, 80.4), "pp2048")
    assert line == "[############............]  50%  pp2048, prefill, run 4 of 5, row 2 of 3, 80 s left"
    assert "left" not in bench.progress_line(BenchProgressed(1, 3, 1, 5, Phase.WARM_UP, 0.0, None), "pp512")
