"""Runs a qualification on a helper thread and keeps its reports; the page only asks and shows. Lives on the GUI thread.

Every report goes into the data folder, failed ones too. Closing stops a run; what had finished is gone on with later.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.errors import record_error
from app.files import why_not_written, write_atomic
from app.qualify.command import arm_command
from app.tasks import TaskThread
from engine.qualify.history import load_reports, save_report
from engine.qualify.records import Report
from engine.qualify.report import report_to_json, report_to_markdown
from engine.qualify.run import QualifyEnded, QualifyProgressed, QualifyRequest, QualifyUpdate, run_qualification


class Run(Protocol):
    """`run_qualification` or a stand-in."""

    def __call__(self, request: QualifyRequest, folder: Path, stop: threading.Event, /) -> Iterator[QualifyUpdate]: ...


def run_with_our_arms(request: QualifyRequest, folder: Path, stop: threading.Event, /) -> Iterator[QualifyUpdate]:
    """The real thing."""
    return run_qualification(request, folder, stop, arm_command())


class QualifyRunner(QObject):
    """One run at a time. `close` before the application ends."""

    progressed = Signal(object)  # QualifyProgressed
    ended = Signal(object)  # Report, or None after a stop
    failed = Signal(str)  # the run
    file_failed = Signal(str)  # a report that could not be read, kept or exported
    history_read = Signal(object)  # ReportHistory
    exported = Signal(object)  # Path
    _told = Signal(object)  # QualifyUpdate, from the helper thread

    def __init__(self, folder: Path, run: Run = run_with_our_arms, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder, self._run = folder, run
        self._stop = threading.Event()
        self._work = TaskThread("qualify", self)
        self._files = TaskThread("reports", self)
        self._told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)

    def start(self, request: QualifyRequest) -> None:
        """Begin, or go on with, a qualification."""
        self._stop = threading.Event()
        stop = self._stop

        def work() -> None:
            self._folder.mkdir(parents=True, exist_ok=True)
            for update in self._run(request, self._folder, stop):
                self._told.emit(update)

        self._work.submit(work, None, lambda error: self.failed.emit(self._words(error)))

    def stop(self) -> None:
        self._stop.set()

    def read_history(self) -> None:
        self._files.submit(lambda: load_reports(self._folder), self.history_read.emit, self._on_file_failed)

    def export(self, report: Report, path: Path) -> None:
        """Write a report as Markdown or, for .json, as JSON."""
        text = report_to_json(report) if path.suffix.lower() == ".json" else report_to_markdown(report)
        self._files.submit(
            lambda: write_atomic(path, text.encode()), lambda _: self.exported.emit(path), self._on_file_failed
        )

    def close(self) -> None:
        self._stop.set()
        self._work.close()
        self._files.close()

    @Slot(object)
    def _on_told(self, update: QualifyUpdate) -> None:
        if isinstance(update, QualifyProgressed):
            self.progressed.emit(update)
        elif isinstance(update, QualifyEnded):
            if update.report is not None:
                self._keep(update.report)
            self.ended.emit(update.report)

    def _keep(self, report: Report) -> None:
        self._files.submit(
            lambda: save_report(report, self._folder, write_atomic), lambda _: self.read_history(), self._on_file_failed
        )

    def _on_file_failed(self, error: BaseException) -> None:
        self.file_failed.emit(self._words(error))

    def _words(self, error: BaseException) -> str:
        if isinstance(error, OSError):
            return f"{error.filename or self._folder}: {why_not_written(error)}"
        return record_error(error, "qualifying").message
