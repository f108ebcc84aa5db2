"""`haloband qualify` with children that need no model: what it prints, keeps and returns, stopped and resumed."""

import argparse
import json
import signal
import sys
from pathlib import Path

import pytest

import engine.qualify.run
from app.cli import parse
from app.commands import qualify
from app.errors import UserError
from app.paths import app_paths
from engine.qualify.history import load_reports
from engine.qualify.records import Domain
from engine.qualify.report import report_from_json
from engine.qualify.run import QualifyProgressed

FAKE = Path(__file__).parents[2] / "engine" / "qualify" / "fake_arm.py"
QUICK = ("--domain", "prose", "--without-exact", "--retrieval-tokens", "0")


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the made-up processes do; see fake_arm."""
    scenario: dict[str, object] = {}
    real = engine.qualify.run.run_qualification

    def with_fakes(request, folder, stop, command):  # type: ignore[no-untyped-def]  # stands in for run_qualification
        return real(request, folder, stop, (sys.executable, str(FAKE), json.dumps(scenario)))

    monkeypatch.setenv("PYTHONPATH", str(FAKE.parents[3]))
    monkeypatch.setattr(qualify, "run_qualification", with_fakes)
    return scenario


def _run(folder: Path, *words: str) -> int:
    return qualify.run(parse(["--data-dir", str(folder), "qualify", *words]))


def test_a_pass_is_printed_and_kept(
    children: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, *QUICK) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# Qualification passed")
    assert "kept as" in err
    (saved,) = load_reports(app_paths(tmp_path).qualifications_dir).reports
    assert saved.report.passed


def test_a_failure_is_status_1_and_kept_too(
    children: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    children["die_at"] = "2-B"
    assert _run(tmp_path, "--json", *QUICK) == 1
    report = report_from_json(capsys.readouterr().out)
    assert report.failure is not None
    assert "overwritten" in report.failure
    assert len(load_reports(app_paths(tmp_path).qualifications_dir).reports) == 1


@pytest.mark.parametrize("name", ["report.json", "report.md"])
def test_the_report_is_saved_where_asked(children: dict[str, object], tmp_path: Path, name: str) -> None:
    assert _run(tmp_path, "--out", str(tmp_path / name), *QUICK) == 0
    text = (tmp_path / name).read_text()
    assert report_from_json(text).passed if name.endswith("json") else text.startswith("# Qualification passed")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--a", "0"), "--a 0 is outside"),
        (("--b", "20000"), "--b 20,000 is outside 1 to 10,240"),
        (("--retrieval-tokens", "5"), "at least 512"),
        (("--model", "none.gguf"), "none.gguf does not exist"),
        (("--out", "report.csv"), r"\.json or \.md"),
        (("--out", "nowhere/report.md"), "does not exist"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    children: dict[str, object], tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        _run(tmp_path, *words)
    assert not (tmp_path / "qualifications").exists()


def test_a_folder_that_cannot_be_written_is_named(children: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "qualifications").write_text("in the way")
    with pytest.raises(UserError, match="qualifications"):
        _run(tmp_path, *QUICK)


def test_an_interrupt_keeps_what_had_finished(
    children: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes = qualify.run_qualification

    def interrupted(*args):  # type: ignore[no-untyped-def]  # stands in for run_qualification
        for update in fakes(*args):
            yield update
            if isinstance(update, QualifyProgressed) and update.name == "3-B" and update.what:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(qualify, "run_qualification", interrupted)
    assert _run(tmp_path, *QUICK) == qualify.STOPPED_STATUS
    assert "goes on from here" in capsys.readouterr().err
    assert load_reports(app_paths(tmp_path).qualifications_dir).reports == ()
    monkeypatch.setattr(qualify, "run_qualification", fakes)
    children["die_at"] = "1-A"  # which has its result already
    assert _run(tmp_path, *QUICK) == 0


def test_domains_can_be_chosen() -> None:
    args = argparse.Namespace(
        a=2048, b=10_240, retrieval_tokens=0, model=None, kv_rounding=None, dtype="auto",
        domain=["agent", "code"], without_exact=True,
    )  # fmt: skip
    request = qualify.request_of(args)
    assert request.domains == (Domain.CODE, Domain.AGENT)
    assert (request.cap_b, request.with_exact, request.retrieval_tokens) == (10_240, False, 0)


def test_the_progress_line_says_where_it_is() -> None:
    line = qualify.progress_line(QualifyProgressed(3, 8, "3-B", "code", 0.34))
    assert line == "[########................]  34%  process 3 of 8 (3-B), code"
