"""EngineHost: the GUI thread's side of the engine. It owns the worker's QThread, gives out job ids, and passes on
events of live jobs only. Views and ChatService connect to `event_arrived`; every method returns at once.
"""

import gc
import itertools
import logging
import threading
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QThread, Signal, Slot

from app.engine_face import EngineLoader
from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    AnswerStarted,
    BenchmarkFailed,
    BenchmarkFinished,
    BenchmarkStarted,
    Event,
    JobQueued,
    LoadCancelled,
    LoadFailed,
    ModelLoaded,
    ModelLoading,
)
from app.protocol.requests import (
    Ask,
    BenchmarkPlan,
    CountPrompt,
    CountTokens,
    LoadModel,
    PromptMessage,
    RunBenchmark,
    SamplingChoice,
)
from app.real_engine import load_engine_model
from app.stop_registry import StopRegistry
from app.token_counter import TokenCounter
from app.worker import EngineWorker, stopped_before_start

log = logging.getLogger("haloband.engine_host")

_LAST_EVENTS = (
    AnswerFinished,
    AnswerFailed,
    BenchmarkFinished,
    BenchmarkFailed,
    ModelLoaded,
    LoadFailed,
    LoadCancelled,
)


class JobKind(Enum):
    LOAD = "load"
    ANSWER = "answer"
    BENCHMARK = "benchmark"


@dataclass(slots=True)
class _Job:
    kind: JobKind
    conversation_id: int | None
    path: Path | None = None
    has_started: bool = False
    ahead: int = 0


class EngineHost(QObject):
    """One engine worker. Create on the GUI thread, `start`, and `shutdown` before the application ends."""

    event_arrived = Signal(object)  # an Event of app/protocol/events.py, in order, of live jobs only
    jobs_changed = Signal()  # a job was added or ended: look at is_busy and busy_kinds
    _requested = Signal(object)  # to the worker
    _session_limit_set = Signal(int)
    _announced = Signal(object)  # events the host itself makes; queued, so that callers know the job id first
    _ending = Signal()

    def __init__(
        self, loader: EngineLoader = load_engine_model, session_limit: int = 3, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._ids = itertools.count(1)
        self._jobs: dict[int, _Job] = {}
        self._stops = StopRegistry()
        self._is_closed = False
        self._session_limit = session_limit
        self.is_stuck = False  # `shutdown` gave up: whoever frees this object now aborts the program
        self._thread = QThread(self)
        self._thread.setObjectName("engine")
        self._worker = EngineWorker(loader, self._stops, session_limit)
        self._worker.moveToThread(self._thread)
        self._counter = TokenCounter(self._worker, self)
        queued = Qt.ConnectionType.QueuedConnection
        self._requested.connect(self._worker.on_request, queued)
        self._session_limit_set.connect(self._worker.on_session_limit, queued)
        self._ending.connect(self._worker.on_shutdown, queued)
        self._worker.event_sent.connect(self._on_live_event, queued)
        self._worker.collection_wanted.connect(self._on_collection_wanted, queued)
        self._counter.counted.connect(self.event_arrived, queued)
        self._announced.connect(self._on_announced, queued)

    def start(self) -> None:
        self._thread.start()

    # ---- requests

    def load_model(
        self, path: Path | None, *, backend: str = "auto", kv_rounding: str | None = None, dtype: str = "auto"
    ) -> int:
        """Load a model after the jobs before it; a load that still runs or waits is cancelled. Returns the job id."""
        for job_id, job in list(self._jobs.items()):
            if job.kind is JobKind.LOAD:
                self.stop(job_id)
        job_id = self._new_job(_Job(JobKind.LOAD, None, path))
        self._requested.emit(LoadModel(job_id, path, backend, kv_rounding, dtype))
        return job_id

    def ask(
        self,
        conversation_id: int,
        messages: tuple[PromptMessage, ...],
        sampling: SamplingChoice,
        *,
        max_tokens: int,
        context: int,
        thinking: bool = False,
        mode: str = "sparse",
    ) -> int:
        """Queue an answer. Returns the job id; the first event arrives after this call."""
        job_id = self._new_job(_Job(JobKind.ANSWER, conversation_id))
        self._requested.emit(
            Ask(job_id, conversation_id, messages, sampling, max_tokens, context, thinking=thinking, mode=mode)
        )
        return job_id

    def run_benchmark(self, plan: BenchmarkPlan) -> int:
        """Queue a benchmark. Returns the job id."""
        job_id = self._new_job(_Job(JobKind.BENCHMARK, None))
        self._requested.emit(RunBenchmark(job_id, plan))
        return job_id

    def count_tokens(self, texts: tuple[str, ...]) -> int:
        """Count texts while the engine works; answered by TokensCounted."""
        request = CountTokens(next(self._ids), texts)
        self._counter.count_tokens(request)
        return request.job_id

    def count_prompt(self, conversation_id: int, messages: tuple[PromptMessage, ...], *, thinking: bool = False) -> int:
        """Count a whole prompt while the engine works; answered by PromptCounted."""
        request = CountPrompt(next(self._ids), conversation_id, messages, thinking)
        self._counter.count_prompt(request)
        return request.job_id

    def stop(self, job_id: int) -> None:
        """Stop a job. A waiting one ends now; a running one within a layer, a band or a token. Unknown ids: nothing."""
        self._stops.stop(job_id)
        job = self._jobs.get(job_id)
        if job is None or job.has_started:
            return
        if job.kind is JobKind.ANSWER and job.conversation_id is not None:
            self._end_early(job_id, AnswerFinished(job_id, job.conversation_id, stopped_before_start(job_id)))
        elif job.kind is JobKind.BENCHMARK:
            self._end_early(job_id, BenchmarkFinished(job_id, stopped=True))
        elif job.kind is JobKind.LOAD:
            self._end_early(job_id, LoadCancelled(job_id, job.path, kept_previous=self.has_model))

    def set_session_limit(self, limit: int) -> None:
        """Hold so many conversations in memory, after the jobs that were asked for before."""
        if limit != self._session_limit:
            self._session_limit = limit
            self._session_limit_set.emit(limit)

    # ---- state

    @property
    def is_busy(self) -> bool:
        """True while anything but counting runs or waits."""
        return bool(self._jobs)

    @property
    def busy_kinds(self) -> frozenset[JobKind]:
        """Kinds of the jobs that run or wait; a benchmark refuses to start beside an answer."""
        return frozenset(job.kind for job in self._jobs.values())

    @property
    def has_model(self) -> bool:
        return self._worker.published.model is not None

    def shutdown(self, timeout_s: float = 10.0) -> bool:
        """Stop every job, wait for the thread, deliver what it said last. False if it did not end in time."""
        if self._is_closed:
            return True
        self._is_closed = True
        self._counter.close()
        self._stops.stop_all()
        self._ending.emit()
        self._thread.quit()
        ended = not self._thread.isRunning() or self._thread.wait(int(timeout_s * 1000))
        if not ended:
            self.is_stuck = True
            log.error("the engine thread did not end within %.0f s", timeout_s)
        QCoreApplication.sendPostedEvents(self, QEvent.Type.MetaCall.value)
        return ended

    # ---- inside

    def _new_job(self, job: _Job) -> int:
        if self._is_closed:
            raise RuntimeError("the engine host is shut down")
        job_id = next(self._ids)
        self._stops.create(job_id)
        job.ahead = len(self._jobs)
        self._jobs[job_id] = job
        if job.ahead:
            self._announced.emit(JobQueued(job_id, job.conversation_id, job.ahead))
        self.jobs_changed.emit()
        return job_id

    def _end_early(self, job_id: int, event: Event) -> None:
        """End a job that has not started; what the worker says about it later is dropped."""
        self._remove(job_id)
        self._announced.emit(event)

    @Slot(object)
    def _on_live_event(self, event: Event) -> None:
        job = self._jobs.get(event.job_id)
        if job is None:
            return  # late: the job was ended already
        if isinstance(event, AnswerStarted | BenchmarkStarted | ModelLoading):
            job.has_started = True
        if isinstance(event, _LAST_EVENTS):
            self._remove(event.job_id)
        self.event_arrived.emit(event)

    @Slot(object)
    def _on_collection_wanted(self, collected: threading.Event) -> None:
        """The worker must not collect by itself (app/garbage.py)."""
        gc.collect()
        collected.set()

    @Slot(object)
    def _on_announced(self, event: Event) -> None:
        if isinstance(event, JobQueued):
            job = self._jobs.get(event.job_id)
            if job is None or job.has_started:
                return
        self.event_arrived.emit(event)

    def _remove(self, job_id: int) -> None:
        job = self._jobs.pop(job_id, None)
        self._stops.forget(job_id)  # a job that the registry does not know counts as stopped
        if job is None:
            return
        for ahead, (other_id, other) in enumerate(self._jobs.items()):
            if not other.has_started and other.ahead != ahead:
                other.ahead = ahead
                self._announced.emit(JobQueued(other_id, other.conversation_id, ahead))
        self.jobs_changed.emit()
