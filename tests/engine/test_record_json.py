"""Every reader of saved records against what a damaged or forged file may hold: its own sentence, or nothing, never a
traceback; and one such file takes no other away from a list."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.bench.history import compare_runs, load_history, load_run, save_run
from engine.bench.json_form import run_from_json, run_to_json
from engine.errors import UserError
from engine.qualify.arm_process import RESULT_FILE, read_result
from engine.qualify.history import load_report, load_reports, save_report
from engine.qualify.limits import LIMITS_FILE, load_limits
from engine.qualify.records import (
    Axis,
    Check,
    Domain,
    DomainVerdict,
    PairStatistics,
    ProcessResult,
    ProcessSpec,
    Report,
)
from engine.qualify.report import TABLE_RULES, report_to_json
from engine.qualify.tapes import TapeFile, read_tape_files
from engine.record_json import from_plain, to_plain
from tests.engine.bench_examples import example_run

SPEC = ProcessSpec(Axis.WIDTH, 1, "A", "sparse", 2048, "auto", None, None, (Domain.PROSE,), 64, 16, 8)
RESULT = ProcessResult(SPEC, "nano", "sha256:00", "cpu", "2 cores", None, ("torch 2",), (), (), 1 << 30, 0, 1.5)
CHECKS = tuple(Check(rule, True, 0.5, 1.0, "well") for rule in TABLE_RULES)
PAIR = PairStatistics("1-A", "2-B", 0.1, 0.2, 0, 0.2, (), (), 1.0, 8, None, (0.1, 0.2))
VERDICT = DomainVerdict(Axis.WIDTH, Domain.PROSE, (), (PAIR,), CHECKS)
REPORT = Report("2026-01-02T03:04:05+00:00", "s", "ab", 1, 2, (RESULT,), (VERDICT,), CHECKS, None)


def _read_result(path: Path) -> None:
    if read_result(path.parent, SPEC) is None:
        raise UserError(f"{path.name} has no result")


# Each reader: the name of its file, what it holds, and the call that reads it.
READERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "benchmark": ("run.json", run_to_json(example_run()), load_run),
    "report": ("report.json", report_to_json(REPORT), load_report),
    "limits": ("limits.json", LIMITS_FILE.read_text(), load_limits),
    "tapes": ("t.json", json.dumps(to_plain(TapeFile("t", "ab", ()))), lambda path: read_tape_files(path.parent)),
    "result": (RESULT_FILE, json.dumps(to_plain(RESULT)), _read_result),
}
DEEP = "[" * 100_000 + "]" * 100_000
RAW = {
    "nothing": "",
    "cut short": "{",
    "a list": "[]",
    "deep nesting": DEEP,
    "a deep field": f'{{"schema_version": {DEEP}}}',
    "digits": '{"schema_version": %s}' % ("1" * 5000),
    "half a character": '{"schema_version": "\\ud800"}',
    "not UTF-8": b"\xff\xfe{",
}
VALUES = {
    "huge whole": "1" * 400,
    "beyond all digits": "1" * 5000,
    "text": '"x"',
    "half a character": '"\\ud800"',
    "list": "[1]",
    "object": '{"a": 1}',
    "truth": "true",
    "deep": "[" * 900 + "]" * 900,
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str, Callable[[Path], object]]:
    name, text, read = READERS[request.param]
    return tmp_path / name, text, read


def _leaves(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all scalars, but for the statistics that no reader looks at."""
    if isinstance(data, dict):
        return [place for key, value in data.items() if key != "statistics" for place in _leaves(value, (*path, key))]
    if isinstance(data, list):
        return [place for index, value in enumerate(data) for place in _leaves(value, (*path, index))]
    return [path]


def _with(text: str, place: tuple[Any, ...], value: str) -> str:
    data = inner = json.loads(text)
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = "THE PLACE"
    return json.dumps(data).replace('"THE PLACE"', value)


def test_what_is_whole_is_read(reader: tuple[Path, str, Callable[[Path], object]]) -> None:
    path, text, read = reader
    path.write_text(text)
    read(path)


@pytest.mark.parametrize("content", RAW.values(), ids=RAW)
def test_a_file_of_another_kind_gets_a_sentence(
    reader: tuple[Path, str, Callable[[Path], object]], content: str | bytes
) -> None:
    path, _, read = reader
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as caught:
        read(path)
    assert path.name in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_every_field_may_hold_anything(reader: tuple[Path, str, Callable[[Path], object]], value: str) -> None:
    path, text, read = reader
    for place in _leaves(json.loads(text)):
        path.write_text(_with(text, place, value))
        try:
            read(path)
        except UserError as error:
            assert path.name in str(error) and len(str(error)) < 300  # many fields take some values


@pytest.mark.parametrize("value", ["1" * 400, "NaN", "Infinity", "1e999", "5e-324"])
def test_a_time_that_cannot_be_is_refused_before_anything_computes_with_it(tmp_path: Path, value: str) -> None:
    for sample in (0, 1):
        (tmp_path / "run.json").write_text(
            _with(run_to_json(example_run()), ("rows", 0, "samples", sample, "prefill_s"), value)
        )
        with pytest.raises(UserError, match=r"run\.json"):
            load_run(tmp_path / "run.json")


@pytest.mark.parametrize("value", ["-1.0", "0", "1e200", "1e-50"])
def test_a_strange_time_is_computed_with(tmp_path: Path, value: str) -> None:
    for sample in (0, 1):
        (tmp_path / "run.json").write_text(
            _with(run_to_json(example_run()), ("rows", 0, "samples", sample, "prefill_s"), value)
        )
        run = load_run(tmp_path / "run.json").run
        assert run_from_json(run_to_json(run)) == run
        compare_runs(run, example_run())
        compare_runs(example_run(), run)


@pytest.mark.parametrize("content", [*RAW.values(), '{"schema_version": 1, "cap_a": %s}' % ("1" * 400)])
def test_one_damaged_file_leaves_the_others_in_the_list(tmp_path: Path, content: str | bytes) -> None:
    runs, reports = tmp_path / "runs", tmp_path / "reports"
    for folder in (runs, reports):
        folder.mkdir()
        (folder / "bad.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    save_run(example_run(), runs, lambda path, data: path.write_bytes(data) and None)
    save_report(REPORT, reports, lambda path, data: path.write_bytes(data) and None)
    history, past = load_history(runs), load_reports(reports)
    assert [saved.run for saved in history.runs] == [example_run()]
    assert [saved.report for saved in past.reports] == [REPORT]
    for problems in (history.problems, past.problems):
        assert len(problems) == 1 and "bad.json" in problems[0]


def test_a_report_of_logits_that_were_no_numbers_is_kept(tmp_path: Path) -> None:
    checks = (replace(CHECKS[0], passed=False, value=float("nan")), *CHECKS[1:])
    failed = replace(REPORT, verdicts=(replace(VERDICT, checks=checks),))
    path = save_report(failed, tmp_path, lambda path, data: path.write_bytes(data) and None)
    assert report_to_json(load_report(path).report) == report_to_json(failed)


def test_a_report_without_a_check_of_the_table_is_refused(tmp_path: Path) -> None:
    for rule in TABLE_RULES:
        checks = tuple(check for check in CHECKS if check.rule != rule)
        (tmp_path / "r.json").write_text(report_to_json(replace(REPORT, verdicts=(replace(VERDICT, checks=checks),))))
        with pytest.raises(UserError, match=f"lacks the check {rule}"):
            load_report(tmp_path / "r.json")


def test_a_whole_number_too_large_for_a_float_is_named() -> None:
    with pytest.raises(ValueError, match=r"check\.value is too large"):
        from_plain(Check, to_plain(replace(CHECKS[0], value=10**400)), "check")
