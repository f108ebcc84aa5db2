"""Between the Benchmark panel and the engine host: starts and stops plans, keeps the history, exports. GUI thread.

Files are read and written on a task thread. A plan is refused while anything else runs, and the panel says so; rows
of a stopped run are kept, and every run with a row is saved in the data folder.
"""

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, SignalInstance, Slot

from app.bench.panel import BenchmarkPanel, BenchState
from app.bench.plan import EngineBenchmark
from app.engine_host import JobKind
from app.errors import describe_error
from app.files import why_not_written, write_atomic
from app.protocol.events import BenchmarkAdvanced, BenchmarkFailed, BenchmarkFinished, BenchmarkStarted, Event
from app.protocol.requests import BenchmarkPlan
from app.sentences import translated
from app.tasks import TaskThread
from engine.bench.export import export
from engine.bench.history import History, load_history, load_run, save_run
from engine.bench.plans import Plan
from engine.bench.records import BenchEnded, BenchProgressed, BenchRun, BenchStarted, RowMeasured


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchmarkPanel", text)


class BenchHost(Protocol):
    """The part of EngineHost that is needed."""

    @property
    def event_arrived(self) -> SignalInstance: ...
    @property
    def jobs_changed(self) -> SignalInstance: ...
    @property
    def busy_kinds(self) -> frozenset[JobKind]: ...
    @property
    def has_model(self) -> bool: ...
    def run_benchmark(self, plan: BenchmarkPlan) -> int: ...
    def stop(self, job_id: int) -> None: ...


class BenchmarkController(QObject):
    """One per panel. `folder` is where runs are kept; `close` before the application ends."""

    def __init__(self, host: BenchHost, panel: BenchmarkPanel, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host, self._panel, self._folder = host, panel, folder
        self._job: int | None = None
        self._tasks = TaskThread("benchmarks", self)
        self._earlier: Path | None = None
        host.event_arrived.connect(self._on_event_arrived)
        host.jobs_changed.connect(self._on_jobs_changed)
        panel.start_requested.connect(self._on_start_requested)
        panel.stop_requested.connect(self._on_stop_requested)
        panel.earlier_requested.connect(self._on_earlier_requested)
        panel.export_requested.connect(self._on_export_requested)
        self._on_jobs_changed()
        self._reload_history()

    def close(self) -> None:
        """Finish writing what is being written."""
        self._tasks.close()

    # ------------------------------------------------------------ the engine

    @Slot(object)
    def _on_start_requested(self, plan: Plan) -> None:
        if self._reason_to_refuse():
            self._on_jobs_changed()
            return
        self._panel.set_state(BenchState.WAITING)
        self._job = self._host.run_benchmark(EngineBenchmark(plan))

    @Slot()
    def _on_stop_requested(self) -> None:
        if self._job is not None:
            self._host.stop(self._job)

    @Slot()
    def _on_jobs_changed(self) -> None:
        self._panel.set_blocked("" if self._job is not None else self._reason_to_refuse())

    def _reason_to_refuse(self) -> str:
        busy = self._host.busy_kinds
        if JobKind.ANSWER in busy:
            return _tr(
                "An answer is being written. A benchmark beside it would measure neither; start when it has ended."
            )
        if JobKind.LOAD in busy:
            return _tr("A model is being loaded. Start when it is ready.")
        if busy:
            return _tr("Another benchmark is running.")
        return "" if self._host.has_model else _tr("No model is loaded. Choose one on the Models page first.")

    @Slot(object)
    def _on_event_arrived(self, event: Event) -> None:
        if event.job_id != self._job:
            self._on_jobs_changed()  # a model that has just been loaded makes a start possible
            return
        match event:
            case BenchmarkStarted():
                self._panel.set_state(BenchState.RUNNING)
            case BenchmarkAdvanced(update=update):
                self._show(update)
            case BenchmarkFinished():
                self._end()
            case BenchmarkFailed(message=message):
                self._end()
                self._panel.show_failure(message)
            case _:
                pass

    def _show(self, update: object) -> None:
        """Everything but BenchActivity, which is for the Live panel."""
        if isinstance(update, BenchStarted | BenchProgressed | RowMeasured | BenchEnded):
            self._panel.show_update(update)
        if isinstance(update, BenchEnded) and update.run.rows:
            self._save(update.run)

    def _end(self) -> None:
        self._job = None
        self._panel.set_state(BenchState.IDLE)
        self._on_jobs_changed()

    # ------------------------------------------------------------ files

    def _save(self, run: BenchRun) -> None:
        def write() -> Path:
            self._folder.mkdir(parents=True, exist_ok=True)
            return save_run(run, self._folder, write_atomic)

        self._tasks.submit(write, lambda path: self._reload_history(), self._on_history_failed)

    def _reload_history(self) -> None:
        self._tasks.submit(lambda: load_history(self._folder), self._on_history_read)

    def _on_history_read(self, history: History) -> None:
        self._panel.show_history(history, self._earlier)

    def _on_history_failed(self, error: BaseException) -> None:
        reason = why_not_written(error) if isinstance(error, OSError) else describe_error(error).message
        self._panel.show_failure(
            _tr("The run was not kept: {reason}. It can still be saved.").format(reason=translated(reason))
        )

    @Slot(object)
    def _on_earlier_requested(self, path: Path | None) -> None:
        self._earlier = path
        if path is None:
            self._panel.show_earlier(None)
            return
        self._tasks.submit(lambda: load_run(path), self._panel.show_earlier, self._on_earlier_failed)

    def _on_earlier_failed(self, error: BaseException) -> None:
        self._earlier = None
        self._panel.show_earlier(None)
        self._panel.show_failure(describe_error(error).message)
        self._reload_history()

    @Slot(object, object)
    def _on_export_requested(self, run: BenchRun, path: Path) -> None:
        def write() -> Path:
            write_atomic(path, export(run, path).encode())
            return path

        def failed(error: BaseException) -> None:
            reason = f"{path.name}: {why_not_written(error)}" if isinstance(error, OSError) else str(error)
            self._panel.show_failure(_tr("Not saved: {reason}").format(reason=translated(reason)))

        self._tasks.submit(
            write, lambda done: self._panel.show_saved(_tr("Saved as {name}.").format(name=done.name)), failed
        )
