"""The protocol with children that need no model: order, noise, misses, death, stop and resume, history."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from engine.errors import UserError
from engine.qualify.history import load_report, load_reports, save_report
from engine.qualify.limits import LIMITS_FILE
from engine.qualify.records import Axis, Domain, Report
from engine.qualify.report import report_from_json, report_to_json, report_to_markdown
from engine.qualify.run import (
    QualifyEnded,
    QualifyProgressed,
    QualifyRequest,
    QualifyUpdate,
    process_specs,
    run_qualification,
)
from engine.qualify.statistics import row_kl
from tests.engine.qualify.fake_arm import logits_of

FAKE = Path(__file__).with_name("fake_arm.py")
SMALL = QualifyRequest(domains=(Domain.PROSE, Domain.CODE), prompt_tokens=64, rows=16, greedy=8, retrieval_tokens=100)
WIDTH_ONLY = replace(SMALL, domains=(Domain.PROSE,), with_exact=False, retrieval_tokens=0)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKE.parents[3]))


def _run(
    folder: Path,
    request: QualifyRequest = WIDTH_ONLY,
    stop: threading.Event | None = None,
    limits_file: Path = LIMITS_FILE,
    **scenario: object,
) -> Iterator[QualifyUpdate]:
    command = (sys.executable, str(FAKE), json.dumps(scenario))
    return run_qualification(
        request, folder, stop or threading.Event(), command, limits_file, lambda: datetime(2026, 1, 2, tzinfo=UTC)
    )


def _report(folder: Path, request: QualifyRequest = WIDTH_ONLY, **scenario: object) -> Report:
    (*_, end) = _run(folder, request, **scenario)
    assert isinstance(end, QualifyEnded)
    assert end.report is not None
    return end.report


def _checks(report: Report, domain: Domain = Domain.PROSE) -> dict[str, bool]:
    verdict = next(item for item in report.verdicts if item.domain is domain)
    return {check.rule: check.passed for check in verdict.checks}


def test_the_processes_run_a_b_b_a_then_exact_then_keys() -> None:
    specs = process_specs(SMALL)
    assert [(spec.arm, spec.mode, spec.cap) for spec in specs[:4]] == [
        ("A", "sparse", 2048), ("B", "sparse", 8192), ("B", "sparse", 8192), ("A", "sparse", 2048),
    ]  # fmt: skip
    assert [(spec.axis, spec.mode, spec.dtype) for spec in specs[4:]] == [
        (Axis.SELECTION, "sparse", "auto"), (Axis.SELECTION, "exact", "float32"),
        (Axis.RETRIEVAL, "sparse", "auto"), (Axis.RETRIEVAL, "dense", "auto"),
    ]  # fmt: skip
    assert [spec.place for spec in specs] == list(range(1, 9))
    full = process_specs(QualifyRequest())
    assert {(spec.prompt_tokens, spec.rows, spec.greedy) for spec in full[:4]} == {(9133, 128, 32)}
    assert {(spec.prompt_tokens, spec.rows) for spec in full[4:6]} == {(4096, 256)}


def test_equal_arms_pass_with_noise_exactly_zero(tmp_path: Path) -> None:
    report = _report(tmp_path, SMALL)
    assert report.passed
    assert len(report.processes) == 8
    assert [(item.axis, item.domain) for item in report.verdicts] == [
        (Axis.WIDTH, Domain.PROSE), (Axis.WIDTH, Domain.CODE),
        (Axis.SELECTION, Domain.PROSE), (Axis.SELECTION, Domain.CODE),
    ]  # fmt: skip
    width = report.verdicts[0]
    assert [(pair.left, pair.right) for pair in width.same] == [("1-A", "4-A"), ("2-B", "3-B")]
    assert [(pair.left, pair.right) for pair in width.cross] == [
        ("1-A", "2-B"), ("1-A", "3-B"), ("4-A", "2-B"), ("4-A", "3-B"),
    ]  # fmt: skip
    assert {pair.mean_kl for pair in (*width.same, *width.cross)} == {0.0}
    assert not (tmp_path / "work").exists() or not any((tmp_path / "work").iterdir())


def test_a_known_kl_between_the_arms_is_measured_and_judged(tmp_path: Path) -> None:
    report = _report(tmp_path, cross=0.4)
    specs = process_specs(WIDTH_ONLY)
    expected = row_kl(logits_of(specs[0], {"cross": 0.4}), logits_of(specs[1], {"cross": 0.4})).mean()
    (verdict,) = report.verdicts
    assert [pair.mean_kl for pair in verdict.cross] == pytest.approx([expected] * 4)
    assert _checks(report)["mean KL"] is bool(expected <= 0.006)
    assert _checks(report)["determinism"]


def test_noise_within_an_arm_fails_determinism_and_state(tmp_path: Path) -> None:
    checks = _checks(_report(tmp_path, noise=0.01))
    assert not checks["determinism"]
    assert not checks["state"]


def test_swapping_fails_the_machine(tmp_path: Path) -> None:
    report = _report(tmp_path, swapped=3)
    assert [(check.rule, check.passed) for check in report.checks] == [("machine", False)]
    assert not report.passed


def test_a_lost_key_fails_the_retrieval(tmp_path: Path) -> None:
    report = _report(tmp_path, replace(WIDTH_ONLY, retrieval_tokens=100), lost_key=0.5)
    check = report.checks[-1]
    assert (check.rule, check.passed) == ("retrieval", False)
    assert "50%" in check.text


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"die_at": "3-B"}, "Process 3-B ended with status 3: The graph header was overwritten."),
        ({"kill_at": "2-B"}, "Process 2-B was ended by SIGKILL: it said nothing"),
        ({"garbage_at": "4-A"}, "Process 4-A left no readable result."),
        ({"commit_at": "3-B", "commit": "b"}, "Between processes 1-A and 3-B changed: versions."),
    ],
)
def test_a_process_that_dies_is_reported_and_not_started_again(
    tmp_path: Path, scenario: dict[str, str], words: str
) -> None:
    updates = list(_run(tmp_path, **scenario))
    starts = [u.name for u in updates if isinstance(u, QualifyProgressed) and not u.what]
    place = int(words.split("Process ")[1][0]) if words.startswith("Process") else 3
    assert len(set(starts)) == place
    end = updates[-1]
    assert isinstance(end, QualifyEnded)
    assert end.report is not None
    assert end.report.failure == words
    assert not end.report.passed
    assert len(end.report.processes) == place - 1
    assert words in report_to_markdown(end.report)


def test_progress_only_grows(tmp_path: Path) -> None:
    shares = [update.share for update in _run(tmp_path, SMALL) if isinstance(update, QualifyProgressed)]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_a_stop_ends_the_running_process_and_the_run_goes_on_later(tmp_path: Path) -> None:
    stop, seen, pid = threading.Event(), [], None
    for update in _run(tmp_path, stop=stop, hang_at="3-B"):
        seen.append(update)
        if isinstance(update, QualifyProgressed) and update.name == "3-B" and update.what:
            (mark,) = _wait_for_mark(tmp_path)
            pid = int(mark.read_text())
            stop.set()
    assert seen[-1] == QualifyEnded(None)
    assert pid is not None
    assert not psutil.pid_exists(pid)
    updates = list(_run(tmp_path))
    begun = [u.name for u in updates if isinstance(u, QualifyProgressed) and u.what]
    assert set(begun) == {"3-B", "4-A"}
    end = updates[-1]
    assert isinstance(end, QualifyEnded)
    assert end.report is not None
    assert end.report.passed
    assert len(end.report.processes) == 4


def _wait_for_mark(folder: Path) -> list[Path]:
    while not (found := [path for path in folder.rglob("pid") if path.read_text()]):
        time.sleep(0.01)
    return found


def test_another_question_does_not_go_on_with_a_stopped_run(tmp_path: Path) -> None:
    stop = threading.Event()
    for update in _run(tmp_path, stop=stop):
        if isinstance(update, QualifyProgressed) and update.name == "2-B":
            stop.set()
    other = replace(WIDTH_ONLY, cap_b=10_240)
    names = {u.name for u in _run(tmp_path, other) if isinstance(u, QualifyProgressed) and u.what}
    assert names == {"1-A", "2-B", "3-B", "4-A"}


def test_a_changed_limit_starts_a_new_series_and_so_does_a_changed_cap(tmp_path: Path) -> None:
    changed = tmp_path / "limits.json"
    changed.write_text(LIMITS_FILE.read_text().replace("0.006", "0.007"))
    first, again = _report(tmp_path), _report(tmp_path)
    (*_, end) = _run(tmp_path, limits_file=changed)
    assert isinstance(end, QualifyEnded)
    assert end.report is not None
    wider = _report(tmp_path, replace(WIDTH_ONLY, cap_b=10_240))
    assert first.series == again.series
    assert len({first.series, end.report.series, wider.series}) == 3
    assert first.limits_sha256 != end.report.limits_sha256


def test_limits_that_cannot_be_read_are_named_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="limits"):
        next(_run(tmp_path, limits_file=tmp_path / "none.json"))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def test_failed_results_persist(tmp_path: Path) -> None:
    history = tmp_path / "history"
    history.mkdir()
    failed, passed = _report(tmp_path, die_at="1-A"), _report(tmp_path)
    paths = [
        save_report(report, history, lambda path, data: path.write_bytes(data) and None)
        for report in (failed, passed, failed)
    ]
    assert len(set(paths)) == 3
    (history / "broken.json").write_text("{")
    found = load_reports(history)
    assert sorted(saved.report.passed for saved in found.reports) == [False, False, True]
    assert len(found.problems) == 1
    assert "broken.json" in found.problems[0]
    assert load_report(paths[0]).report == failed


def test_a_report_survives_json_and_prints_its_table(tmp_path: Path) -> None:
    report = _report(tmp_path, SMALL, cross=0.05)
    assert report_from_json(report_to_json(report)) == report
    assert json.loads(report_to_json(report))["passed"] is report.passed
    text = report_to_markdown(report)
    assert f"Limits: SHA-256 {report.limits_sha256}" in text
    assert "| width | prose |" in text
    assert "| selection | code |" in text
    assert "1-A against 2-B" in text
    assert "keys 5 of 5" in text


@pytest.mark.parametrize("text", ["", "[]", '{"schema_version": 9}', '{"schema_version": 1}'])
def test_a_damaged_report_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"report\.json cannot be read"):
        load_report(path)
