"""Saved runs: written through the caller's writer, never over another, read back newest first, compared by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.bench.history import compare_runs, load_history, load_run, save_run, seed_comparison, setting_changes
from engine.bench.records import Figure
from engine.errors import UserError
from tests.engine.bench_examples import example_run, seed_run


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def test_a_saved_run_comes_back(tmp_path: Path) -> None:
    run = seed_run()
    path = save_run(run, tmp_path, _write)
    assert path.name == "2026-01-02T03-04-05-00-00-seed.json"
    assert load_run(path).run == run


def test_two_runs_of_one_second_keep_two_files(tmp_path: Path) -> None:
    first, second = save_run(example_run(), tmp_path, _write), save_run(example_run(2.0), tmp_path, _write)
    assert first != second
    assert load_run(first).run == example_run()
    assert load_run(second).run == example_run(2.0)


def test_newest_first_and_damaged_files_named_and_left_alone(tmp_path: Path) -> None:
    old = save_run(example_run(started_at="2026-01-01T00:00:00+00:00"), tmp_path, _write)
    new = save_run(example_run(started_at="2026-01-03T00:00:00+00:00"), tmp_path, _write)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "notes.txt").write_text("not a run")
    history = load_history(tmp_path)
    assert [saved.path for saved in history.runs] == [new, old]
    assert len(history.problems) == 2
    assert any("broken.json" in problem for problem in history.problems)
    assert any("binary.json" in problem for problem in history.problems)
    assert (tmp_path / "broken.json").read_text() == "{"


def test_no_folder_is_an_empty_history(tmp_path: Path) -> None:
    history = load_history(tmp_path / "none")
    assert (history.runs, history.problems) == ((), ())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.json cannot be read"):
        load_run(tmp_path / "gone.json")


def test_runs_are_compared_figure_by_figure() -> None:
    found = compare_runs(example_run(), example_run(1.5))
    assert [(item.test, item.figure) for item in found] == [("pp512", Figure.PREFILL), ("tg64", Figure.DECODE)]
    for item in found:
        assert item.difference is not None
        assert item.difference.ratio == pytest.approx(1.5)
        assert item.difference.is_outside_noise is True


def test_a_run_against_itself_is_within_the_noise() -> None:
    for item in compare_runs(example_run(), example_run()):
        assert item.difference is not None
        assert item.difference.ratio == 1.0
        assert item.difference.is_outside_noise is False


def test_rows_that_only_one_run_has_are_left_out() -> None:
    assert compare_runs(example_run(), seed_run()) == ()


def test_what_else_changed_is_named() -> None:
    old = example_run()
    new = replace(
        old,
        settings=replace(old.settings, mode="dense"),
        machine=replace(old.machine, threads=4, commit="d" * 40),
        model=replace(old.model, fingerprint="sha256:" + "34" * 32),
    )
    assert setting_changes(old, old) == ()
    assert tuple(map(str, setting_changes(old, new))) == (
        "model file: 1212121212, now 3434343434",
        "mode: sparse, now dense",
        "threads: 2, now 4",
        "commit: cccccccccc, now dddddddddd",
    )


def test_the_two_cuts_of_a_seed_run_are_compared_warm() -> None:
    found = seed_comparison(seed_run())
    assert found is not None
    assert found.difference is not None
    assert found.difference.ratio == pytest.approx((9133 / 34.0) / ((9133 / 36.0 + 9133 / 36.5) / 2))
    assert seed_comparison(example_run()) is None
    run = seed_run()
    assert seed_comparison(replace(run, rows=run.rows[:2])) is None
