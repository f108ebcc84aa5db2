"""The doctor page: it fills itself when shown, says what to do, can be copied, and never holds the window up."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.doctor.finding import Severity
from app.doctor.host import CommandResult, Host
from app.doctor.report import as_text
from app.pages.doctor_page import DoctorPage
from app.theme import dark_palette, light_palette, theme_from_palette
from app.window_language import install_language
from tests.app.doctor.recorded import RAISED, RECORDINGS, SELF_TEST, host

MakePage = Callable[..., DoctorPage]


@pytest.fixture
def make_page(qtbot: QtBot, tmp_path: Path) -> Iterator[MakePage]:
    pages: list[DoctorPage] = []

    def make(make_host: Callable[[threading.Event], Host] | None = None, **changes: Any) -> DoctorPage:
        theme = theme_from_palette(light_palette())
        found = make_host or (lambda _stop: host(tmp_path, **changes))
        page = DoctorPage(theme, found, lambda: RECORDINGS / "README.md")
        qtbot.addWidget(page)
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.close_tasks()


def shown(qtbot: QtBot, page: DoctorPage) -> DoctorPage:
    page.show()
    qtbot.waitUntil(lambda: bool(page.findings) and not page.is_checking, timeout=30_000)
    return page


def texts(page: DoctorPage) -> str:
    return "\n".join(part.text() for part in page.findChildren(QLabel))


def test_nothing_is_checked_before_the_page_is_shown(qtbot: QtBot, make_page: MakePage) -> None:
    page = make_page()
    assert not page.findings and not page.is_checking
    assert shown(qtbot, page).findings


def test_a_problem_is_shown_with_its_remedy(qapp: QApplication, qtbot: QtBot, make_page: MakePage) -> None:
    install_language(qapp, "en")  # with its plurals
    page = shown(qtbot, make_page())
    assert page.worst is Severity.PROBLEM
    row = next(row for row in page.rows if row.finding.key == "gtt_limit")
    assert row.accessibleName().startswith("Problem. GTT limit: 62.0 GiB")
    assert "ttm.pages_limit=32505856" in texts(page) and "1 problem, 0 warnings." in texts(page)


def test_every_finding_has_a_row_and_the_report_can_be_copied(qtbot: QtBot, make_page: MakePage) -> None:
    page = shown(qtbot, make_page(files=RAISED))
    assert [row.finding for row in page.rows] == sorted(
        page.findings, key=lambda finding: list(type(finding.topic)).index(finding.topic)
    )
    page.copy_report()
    assert QApplication.clipboard().text() == as_text(page.findings)


def test_checking_again_shows_what_has_changed(qtbot: QtBot, make_page: MakePage, tmp_path: Path) -> None:
    changes: dict[str, Any] = {}
    page = shown(qtbot, make_page(lambda _stop: host(tmp_path, **changes)))
    assert page.worst is Severity.PROBLEM
    changes["files"] = RAISED
    page.refresh()
    assert page.is_checking
    qtbot.waitUntil(lambda: not page.is_checking, timeout=30_000)
    assert page.worst is not Severity.PROBLEM


def test_a_check_that_raises_is_said_and_can_be_repeated(qtbot: QtBot, make_page: MakePage) -> None:
    def broken(_stop: threading.Event) -> Host:
        raise RuntimeError("no such machine")

    page = make_page(broken)
    page.show()
    qtbot.waitUntil(lambda: "no such machine" in texts(page))
    assert not page.is_checking


def test_closing_does_not_wait_for_a_self_test_that_hangs(qtbot: QtBot, make_page: MakePage, tmp_path: Path) -> None:
    """The window must close at once, whatever the engine does."""
    waiting = threading.Event()

    def slow(stop: threading.Event) -> Host:
        machine = host(tmp_path)

        def run(command: tuple[str, ...]) -> CommandResult | None:
            if " ".join(command) == SELF_TEST:
                waiting.set()
                assert stop.wait(60), "nobody asked it to stop"
                return None
            return machine.run(command)

        return dataclasses.replace(machine, run=run)

    page = make_page(slow)
    page.show()
    qtbot.waitUntil(waiting.is_set, timeout=30_000)
    page.close_tasks()


def test_the_theme_can_change_while_findings_are_shown(qtbot: QtBot, make_page: MakePage) -> None:
    page = shown(qtbot, make_page())
    before = [row.findChild(QLabel).pixmap().toImage() for row in page.rows]
    page.set_theme(theme_from_palette(dark_palette()))
    after = [row.findChild(QLabel).pixmap().toImage() for row in page.rows]
    assert all(old != new for old, new in zip(before, after, strict=True))
