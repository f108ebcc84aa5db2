"""Every report of the qualification as a JSON file in one folder. Failures are kept like passes; nothing is removed."""

from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.qualify.records import Report
from engine.qualify.report import report_from_json, report_to_json
from engine.record_files import Writer, load_all, save_new


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
    return save_new(f"{report.started_at}-{report.series}", report_to_json(report), folder, write)


def load_reports(folder: Path) -> ReportHistory:
    """All reports in the folder; one that does not exist is an empty history."""
    reports, problems = load_all(folder, load_report)
    reports.sort(key=lambda saved: (saved.report.started_at, saved.path.name), reverse=True)
    return ReportHistory(tuple(reports), problems)


def load_report(path: Path) -> SavedReport:
    """One report. Raises UserError naming the file."""
    try:
        return SavedReport(path, report_from_json(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"The report {path.name} cannot be read: {error}.") from None
