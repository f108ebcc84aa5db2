"""The Qualify page: start, progress, stop and go on, reports shown and kept, refusals, export."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.qualify import command, words
from app.qualify.kl_chart import KlChart, shown_pair
from app.qualify.page import QualifyPage
from app.qualify.runner import QualifyRunner
from app.qualify.wiring import make_qualify_page
from app.telemetry.fonts import numeric_font
from app.theme import dark_palette, light_palette, theme_from_palette
from engine.qualify.history import load_reports, save_report
from engine.qualify.records import Domain, Report
from engine.qualify.report import report_from_json
from engine.qualify.run import (
    QualifyEnded,
    QualifyProgressed,
    QualifyRequest,
    QualifyUpdate,
    run_qualification,
)
from tests.app.conftest import MakeHost
from tests.app.fake_engine import FakeScript
from tests.app.qualify.reports import missing, passing, unfinished

WAIT_MS = 20_000
FAKE = Path(__file__).parents[2] / "engine" / "qualify" / "fake_arm.py"


class Script:
    """Stands in for run_qualification: tells one step of progress, waits to be let go, ends with `report`."""

    def __init__(self, report: Report | Exception) -> None:
        self.report, self.go_on, self.requests = report, threading.Event(), list[QualifyRequest]()

    def __call__(self, request: QualifyRequest, folder: Path, stop: threading.Event, /) -> Iterator[QualifyUpdate]:
        self.requests.append(request)
        yield QualifyProgressed(3, 8, "3-B", "code", 0.25)
        while not self.go_on.wait(0.01):
            if stop.is_set():
                yield QualifyEnded(None)
                return
        if isinstance(self.report, Exception):
            raise self.report
        yield QualifyEnded(self.report)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "qualifications"


@pytest.fixture
def make_page(qtbot: QtBot, folder: Path) -> Iterator[Callable[..., QualifyPage]]:
    made = []

    def make(run: Callable[..., Iterator[QualifyUpdate]] | None = None) -> QualifyPage:
        runner = QualifyRunner(folder, run or Script(passing()))
        page = QualifyPage(runner, lambda: Path("/models/flash.gguf"), theme_from_palette(light_palette()))
        qtbot.addWidget(page)
        page.resize(760, 900)
        page.show()
        made.append(page)
        return page

    yield make
    for page in made:
        page.close_tasks()


def _wait(qtbot: QtBot, condition: Callable[[], object]) -> None:
    qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_run_is_asked_for_watched_shown_and_kept(
    make_page: Callable[..., QualifyPage], qtbot: QtBot, folder: Path
) -> None:
    script = Script(passing())
    page = make_page(script)
    page.caps.setCurrentIndex(1)
    page.exact.setChecked(False)
    page.start_button.click()
    _wait(qtbot, lambda: page.bar.value() == 250)
    assert page.status.text() == "Process 3 of 8: 3-B, Code"
    assert (page.start_button.text(), page.caps.isEnabled()) == ("Stop", False)
    script.go_on.set()
    _wait(qtbot, lambda: page.report == passing())
    assert page.view.title.text() == "Passed"
    assert page.start_button.text() == "Start"
    (request,) = script.requests
    assert (request.cap_b, request.model, request.with_exact) == (10_240, "/models/flash.gguf", False)
    _wait(qtbot, lambda: page.reports.count() == 1)
    assert load_reports(folder).reports[0].report == passing()


def test_stop_says_that_it_can_go_on_and_keeps_no_report(
    make_page: Callable[..., QualifyPage], qtbot: QtBot, folder: Path
) -> None:
    page = make_page()
    page.start_button.click()
    _wait(qtbot, lambda: page.bar.value() == 250)
    page.start_button.click()
    assert not page.start_button.isEnabled()
    _wait(qtbot, lambda: page.start_button.text() == "Start")
    assert "goes on" in page.status.text()
    assert page.report is None
    assert load_reports(folder).reports == ()


def test_a_failed_report_is_shown_and_kept_like_any_other(
    make_page: Callable[..., QualifyPage], qtbot: QtBot, folder: Path
) -> None:
    script = Script(missing())
    script.go_on.set()
    page = make_page(script)
    page.start_button.click()
    _wait(qtbot, lambda: page.reports.count() == 1)
    assert page.view.title.text() == "Failed"
    assert page.view.table.currentIndex().row() == 1  # the domain that missed
    assert "a miss by 0.005500" in page.view.checks.text()
    assert not load_reports(folder).reports[0].report.passed


def test_a_run_that_was_not_finished_says_why(make_page: Callable[..., QualifyPage], qtbot: QtBot) -> None:
    script = Script(unfinished())
    script.go_on.set()
    page = make_page(script)
    page.start_button.click()
    _wait(qtbot, lambda: page.report is not None)
    assert page.view.title.text() == "Not finished"
    assert "The graph header was overwritten." in page.view.subtitle.text()
    assert not page.view.table.isVisible()


def test_an_error_of_the_run_is_told(make_page: Callable[..., QualifyPage], qtbot: QtBot) -> None:
    script = Script(PermissionError(13, "Permission denied", "/data/qualifications"))
    script.go_on.set()
    page = make_page(script)
    page.start_button.click()
    _wait(qtbot, lambda: "/data/qualifications: the folder is read-only" in page.status.text())
    assert page.start_button.isEnabled()


def test_it_refuses_with_the_reason_it_was_given(make_page: Callable[..., QualifyPage]) -> None:
    page = make_page()
    page.set_blocked("An answer is being written.")
    assert not page.start_button.isEnabled()
    assert page.status.text() == "An answer is being written."
    page.set_blocked("")
    assert page.start_button.isEnabled()
    assert not page.status.isVisible()


def test_earlier_reports_are_listed_and_can_be_read(
    make_page: Callable[..., QualifyPage], qtbot: QtBot, folder: Path
) -> None:
    folder.mkdir()
    save_report(missing(), folder, _write)
    (folder / "broken.json").write_text("{")
    page = make_page()
    _wait(qtbot, lambda: page.reports.count() == 1)
    assert page.report == missing()
    assert "broken.json" in page.reports.toolTip()
    page.view.show_report(None)
    page.reports.activated.emit(0)
    assert page.report == missing()


def test_table_and_chart_follow_the_chosen_domain(make_page: Callable[..., QualifyPage], qtbot: QtBot) -> None:
    page = make_page()
    page.view.show_report(missing())
    rows = [[page.view.model.data(page.view.model.index(row, column)) for column in (0, 2, 7)] for row in range(4)]
    assert rows[0] == ["Prose", "0.002100", "passed"]
    assert rows[1] == ["Code", "0.011500", "missed"]
    for row, domain in enumerate(Domain):
        page.view.table.selectRow(row)
        verdict = missing().verdicts[row]
        assert verdict.domain is domain
        assert page.view.chart_title.text().startswith(words.domain_name(domain))
        assert list(page.view.chart._curve.getData()[1]) == pytest.approx(list(shown_pair(verdict).row_kl))
        assert page.view.chart._limit.value() == pytest.approx(0.006)
    assert "first part at token 22 (1-A against 2-B), top-2 gap 0.0310" in page.view.checks.text()


def test_equal_answers_are_said_to_be_equal() -> None:
    verdict = passing().verdicts[0]
    same = tuple(replace(pair, greedy_gap=None) for pair in verdict.cross)
    assert words.first_difference(replace(verdict, cross=same)) == "The greedy answers are equal."


def test_a_report_is_copied_and_exported(make_page: Callable[..., QualifyPage], qtbot: QtBot, tmp_path: Path) -> None:
    page = make_page()
    page.view.show_report(missing())
    page.view.copy_button.click()
    assert QApplication.clipboard().text().startswith("# Qualification failed")
    page.view.save_button.click()
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "report.json"))
    _wait(qtbot, lambda: "Saved as report.json" in page.status.text())
    assert report_from_json((tmp_path / "report.json").read_text()) == missing()
    dialog.fileSelected.emit(str(tmp_path / "none" / "report.md"))
    _wait(qtbot, lambda: "the folder is gone" in page.status.text())
    dialog.close()


def test_the_chart_follows_the_theme(qtbot: QtBot) -> None:
    chart = KlChart(theme_from_palette(light_palette()), numeric_font())
    qtbot.addWidget(chart)
    chart.resize(600, 180)
    chart.show_verdict(missing().verdicts[1])
    chart.show()
    QApplication.processEvents()
    light = chart.grab().toImage()
    chart.set_theme(theme_from_palette(dark_palette()), numeric_font())
    assert chart.grab().toImage() != light
    chart.show_verdict(None)
    assert chart._curve.getData()[0] is None or len(chart._curve.getData()[0]) == 0


def test_the_page_runs_real_processes(
    make_page: Callable[..., QualifyPage], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKE.parents[3]))
    fake = (sys.executable, str(FAKE), json.dumps({"cross": 0.1}))

    def run(request: QualifyRequest, folder: Path, stop: threading.Event, /) -> Iterator[QualifyUpdate]:
        small = QualifyRequest(domains=(Domain.PROSE,), rows=8, greedy=4, with_exact=False, retrieval_tokens=0)
        return run_qualification(small, folder, stop, fake)

    page = make_page(run)
    page.start_button.click()
    _wait(qtbot, lambda: page.report is not None)
    assert [verdict.domain for verdict in page.report.verdicts] == [Domain.PROSE]


def test_it_refuses_beside_a_running_chat_and_takes_the_model_in_use(
    make_host: MakeHost, qtbot: QtBot, tmp_path: Path
) -> None:
    recorder = make_host(FakeScript(answer=("x",) * 1000, token_s=0.02), load=False)
    page = make_qualify_page(recorder.host, tmp_path / "qualifications", theme_from_palette(light_palette()))
    qtbot.addWidget(page)
    model = tmp_path / "flash.gguf"
    model.write_bytes(b"GGUF")
    recorder.load(model)
    assert page._model_path() == model
    assert page.start_button.isEnabled()
    job = recorder.ask()
    assert not page.start_button.isEnabled()
    assert "answer is being written" in page.status.text()
    recorder.host.stop(job)
    _wait(qtbot, page.start_button.isEnabled)
    page.close_tasks()


def test_a_bundle_starts_itself_as_an_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command.arm_command()[1:] == ("-m", "engine.qualify.arm")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command.arm_command() == (sys.executable, "qualify", "--arm")
