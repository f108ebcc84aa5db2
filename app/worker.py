"""EngineWorker: owns the model and one session for each of the last few conversations. Lives in its own QThread.

`EngineHost` sends it requests by queued signal, so they run one after another in the order they were asked. It
answers through `event_sent` only, never touches a widget, and looks at the job's threading.Event, which `StopRegistry`
shares with the GUI thread.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.answer_stream import FLUSH_S, AnswerStream
from app.engine_face import EngineLoader, EngineModel
from app.errors import UserError, record_error
from app.free_memory import give_back_free_memory
from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    AnswerStarted,
    BenchmarkAdvanced,
    BenchmarkFailed,
    BenchmarkFinished,
    BenchmarkStarted,
    Event,
    LoadCancelled,
    LoadFailed,
    ModelLoaded,
    ModelLoading,
)
from app.protocol.requests import Ask, LoadModel, RunBenchmark
from app.real_engine import engine_messages, engine_sampling
from app.sessions import HeldTokens, SessionPool
from app.stop_registry import StopRegistry
from engine.events import Finished, FinishReason, Timings, Usage
from engine.host import available_bytes

log = logging.getLogger("haloband.worker")

COLLECTION_WAIT_S = 2.0
NO_USAGE = Usage(prompt_tokens=0, cached_tokens=0, completion_tokens=0)
NO_TIMINGS = Timings(prefill_s=0.0, decode_s=0.0, first_token_s=None, prefill_tok_s=None, decode_tok_s=None)


@dataclass(frozen=True, slots=True)
class Published:
    """What the counting thread may use while the worker is busy: the model's encoder and the ids each session holds."""

    model: EngineModel | None = None
    held: tuple[HeldTokens, ...] = ()  # of idle sessions


class EngineWorker(QObject):
    """Handles one request at a time. `published` is replaced as a whole, so other threads may read it at any time."""

    event_sent = Signal(object)
    collection_wanted = Signal(object)  # threading.Event to set when the GUI thread has collected garbage

    def __init__(self, loader: EngineLoader, stops: StopRegistry, session_limit: int = 3) -> None:
        super().__init__()
        self._loader = loader
        self._stops = stops
        self._model: EngineModel | None = None
        self._sessions = SessionPool(session_limit)
        self.published = Published()

    @Slot(object)
    def on_request(self, request: object) -> None:
        """The one way in, by queued connection."""
        if isinstance(request, Ask):
            self._answer(request)
        elif isinstance(request, LoadModel):
            self._load(request)
        elif isinstance(request, RunBenchmark):
            self._run_benchmark(request)

    @Slot(int)
    def on_session_limit(self, limit: int) -> None:
        """Hold so many conversations from now on."""
        self._sessions.set_limit(limit)
        self._publish()
        if self._sessions.take_let_go():
            give_back_free_memory()

    @Slot()
    def on_shutdown(self) -> None:
        """Let go of the model on the thread that made it."""
        self._sessions.clear()
        self._model = None
        self._publish()

    def _send(self, event: Event) -> None:
        self.event_sent.emit(event)

    # ---- answers

    def _answer(self, ask: Ask) -> None:
        stop = self._stops.get(ask.job_id)
        if stop.is_set():
            self._send(AnswerFinished(ask.job_id, ask.conversation_id, stopped_before_start(ask.job_id)))
            return
        stream = AnswerStream(ask.job_id, ask.conversation_id, self._send)
        try:
            self._generate(ask, stop, stream)
        except Exception as error:  # the boundary: whatever escapes becomes words, and the thread lives on
            stream.close()
            text = record_error(error, f"answering in conversation {ask.conversation_id}")
            if text.is_bug:  # UserError and EngineError leave the session at its last commit; a bug may not
                self._sessions.drop(ask.conversation_id)
            self._send(AnswerFailed(ask.job_id, ask.conversation_id, text.message, text.is_bug))
        finally:
            self._publish()
            if self._sessions.take_let_go():
                give_back_free_memory()

    def _generate(self, ask: Ask, stop: threading.Event, stream: AnswerStream) -> None:
        model = self._model
        if model is None:
            raise UserError("No model is loaded. Choose one on the Models page, then ask again.")
        ids = model.encode_chat(engine_messages(ask.messages), thinking=ask.thinking)
        self._send(AnswerStarted(ask.job_id, ask.conversation_id, len(ids)))
        sampling = engine_sampling(ask.sampling, model.info.advice)
        session = self._sessions.session(model, ask.conversation_id, ask.context, ask.mode)
        self._sessions.note_prompt(ask.conversation_id, len(ids))
        for event in session.generate(ids, sampling, ask.max_tokens, stop, job_id=ask.job_id):
            stream.feed(event)

    # ---- the model

    def _load(self, request: LoadModel) -> None:
        stop = self._stops.get(request.job_id)
        progress = _LoadProgress(request, self._send)
        try:
            if stop.is_set():
                raise InterruptedError
            self._make_room_for(request.path)
            model = self._loader(
                request.path,
                backend=request.backend,
                kv_rounding=request.kv_rounding,
                dtype=request.dtype,
                progress=progress,
                stop=stop,
            )
            if stop.is_set():
                raise InterruptedError
        except Exception as error:  # the boundary, as above
            kept = self._model is not None
            if stop.is_set():
                self._send(LoadCancelled(request.job_id, request.path, kept))
            else:
                text = record_error(error, f"loading {request.path or 'the embedded model'}")
                self._send(LoadFailed(request.job_id, request.path, text.message, text.is_bug, kept))
            return
        is_switch = self._model is not None
        self._drop_model()
        self._model = model
        self._publish()
        self._send(ModelLoaded(request.job_id, request.path, model.info))
        if is_switch:
            give_back_free_memory()

    def _make_room_for(self, path: Path | None) -> None:
        """Keep the old model until the new one stands, unless memory holds only one of them."""
        if self._model is None or path is None:
            return
        try:
            needed = path.stat().st_size
        except OSError:
            return  # the loader names the trouble
        available = available_bytes()
        if available is not None and needed * 5 // 4 > available:
            log.info("dropping the old model first: the new one needs %d bytes", needed)
            self._drop_model()

    def _drop_model(self) -> None:
        """Let go of the model, and of cycles that still lead to it: the next one may need its memory."""
        if self._model is None:
            return
        self._sessions.clear()
        self._model = None
        self._publish()
        collected = threading.Event()
        self.collection_wanted.emit(collected)
        collected.wait(COLLECTION_WAIT_S)  # not for ever: the GUI thread may be waiting for this one to end

    def _publish(self) -> None:
        self.published = Published(self._model, self._sessions.held_tokens())

    # ---- benchmarks

    def _run_benchmark(self, request: RunBenchmark) -> None:
        stop = self._stops.get(request.job_id)
        if stop.is_set():
            self._send(BenchmarkFinished(request.job_id, stopped=True))
            return
        try:
            if self._model is None:
                raise UserError("No model is loaded. Choose one on the Models page, then start the benchmark.")
            self._send(BenchmarkStarted(request.job_id))
            for update in request.plan.run(self._model, stop):
                self._send(BenchmarkAdvanced(request.job_id, update))
        except Exception as error:  # the boundary, as above
            text = record_error(error, "running a benchmark")
            self._send(BenchmarkFailed(request.job_id, text.message, text.is_bug))
            return
        self._send(BenchmarkFinished(request.job_id, stopped=stop.is_set()))


def stopped_before_start(job_id: int) -> Finished:
    """The ending of an answer that was stopped before any work was done."""
    return Finished(job_id, FinishReason.STOPPED, "", NO_USAGE, NO_TIMINGS)


class _LoadProgress:
    """The engine's progress callback, thinned to what a bar can show; the first and the last call always pass."""

    def __init__(self, request: LoadModel, send: Callable[[Event], None]) -> None:
        self._request = request
        self._send = send
        self._sent_at = float("-inf")

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        now = time.monotonic()
        if now - self._sent_at >= FLUSH_S or done_bytes >= total_bytes:
            self._sent_at = now
            self._send(ModelLoading(self._request.job_id, self._request.path, done_bytes, total_bytes))
