"""Every report of the qualification as a JSON file in one folder. Failures are kept like passes; nothing is removed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.qualify.records import Report
from engine.qualify.report import report_from_json, report_to_json

Writer = Callable[[Path, bytes], None]


@dataclass(frozen=True, slots=True)
class SavedReport:
    """A report and its file."""

    path: Path
    report: Report


@dataclass(frozen=True, slots=True)
class ReportHistory:
    """Reports, newest first, and one sentence for each file that could not be read."""

    reports: tuple[SavedReport, ...]
    problems: tuple[str, ...]


def save_report(report: Report, folder: Path, write: Writer) -> Path:
    """Write a report as a new file, never over another one. Returns its path."""
    stem = re.sub(r"[^0-9A-Za-z]+", "-", f"{report.started_at}-{report.series}").strip("-")
    path, number = folder / f"{stem}.json", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.json"
    write(path, report_to_json(report).encode())
    return path


def load_reports(folder: Path) -> ReportHistory:
    """All reports in the folder; one that does not exist is an empty history."""
    found, problems = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(load_report(path))
        except UserError as error:
            problems.append(str(error))
    found.sort(key=lambda saved: (saved.report.started_at, saved.path.name), reverse=True)
    return ReportHistory(tuple(found), tuple(problems))


def load_report(path: Path) -> SavedReport:
    """One report. Raises UserError naming the file."""
    try:
        return SavedReport(path, report_from_json(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"The report {path.name} cannot be read: {error}.") from None
