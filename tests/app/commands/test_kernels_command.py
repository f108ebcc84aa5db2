"""`haloband kernels` on a report made by hand: both views, the status for a broken rule, progress for people only."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app import cli
from app.commands import kernels
from engine.errors import UserError
from kernels.catalog import catalogue
from kernels.report import KernelReport, ReportRow
from kernels.resources import Resources

ENTRY = catalogue("gfx1151")[0]


def report(*complaints: str) -> KernelReport:
    return KernelReport(
        "gfx1151", "a compiler", (ReportRow(ENTRY, Resources(90, 30, 512, 0, 0, 0, 12, 999), complaints),)
    )


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[KernelReport]:
    """The reports that the command is given, the last one first; it is told of two kernels on the way."""
    reports = [report()]

    def compile_all(target: str, progress: Callable[[int, int], None]) -> KernelReport:
        assert target == "gfx1151"
        progress(1, 2)
        progress(2, 2)
        return reports[-1]

    monkeypatch.setattr(kernels, "kernel_report", compile_all)
    return reports


def test_both_views_tell_the_same(made: list[KernelReport], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernels", "--target", "gfx1151", "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert cli.main(["kernels"]) == 0
    text, said = capsys.readouterr()
    line = text.splitlines()[-1]
    assert line.split()[:6] == [str(kernel[name]) for name in ("vgprs", "sgprs", "lds_bytes")] + ["0", "0", "12"]
    assert line.endswith(ENTRY.source.label) and said == ""


def test_a_broken_rule_is_named_and_sets_the_status(
    made: list[KernelReport], capsys: pytest.CaptureFixture[str]
) -> None:
    made.append(report("spills 3 registers"))
    assert cli.main(["kernels"]) == 1
    assert f"{ENTRY.source.label}: spills 3 registers" in capsys.readouterr().out


def test_without_a_compiler_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> KernelReport:
        raise UserError("no gfx compiler")

    monkeypatch.setattr(kernels, "kernel_report", missing)
    assert cli.main(["kernels"]) == 1
    assert capsys.readouterr().err == "haloband: no gfx compiler\n"


def test_the_page_gets_the_table(made: list[KernelReport], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- resources: begin -->\n<!-- resources: end -->\nbelow\n")
    assert cli.main(["kernels", "--update-page", str(page)]) == 0
    assert ENTRY.source.label in page.read_text() and page.read_text().endswith("below\n")


def test_a_person_sees_how_far_it_is(made: list[KernelReport], monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert cli.main(["kernels"]) == 0
    assert "compiling [############............]  50%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
