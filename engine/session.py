"""The public face of one conversation with a model: prefill, decode, generate, plan, memory, snapshot.

Built by `Model.session`; used from one thread at a time. A session is a committed timeline of tokens: whatever stops
or fails inside a step leaves it at its last committed position.
"""

import io
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import BinaryIO

import torch

from engine.backends.base import TokenProgram
from engine.backends.failures import engine_error, forget_variables, is_out_of_memory, telling_failures
from engine.backends.session_memory import require_session_memory
from engine.cache_shape import CacheShape
from engine.errors import ContextFullError, EngineError, Stopped, UserError
from engine.events import Event
from engine.faces import ModelFace, StepProgress
from engine.generation import run_generation
from engine.layers.rounding import KvRounding
from engine.ledger import MemoryReport
from engine.plan import BAND_TOKENS, STEP_CAP, Cut, Step, cut_prompt
from engine.sampling import Sampling
from engine.snapshot import Origin, checked_snapshot, read_state, write_snapshot
from engine.state import Checkpoint, SessionState
from engine.timeline import Timeline


class Mode(Enum):
    """How rows are selected and tokens executed (banded-prefill 2.6)."""

    SPARSE = "sparse"  # selection, whole steps
    DENSE = "dense"  # every visible row, whole steps: a diagnostic of the selection's error
    EXACT = "exact"  # selection, one token at a time in float32: the oracle


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """What a prompt of some length would do: its steps, the bands of each, and the memory after it."""

    steps: tuple[Step, ...]
    bands: tuple[int, ...]
    reused: int
    memory: MemoryReport


class Session:
    """See the module. Raises UserError for a context, mode or token id that makes no sense, and for a context that
    does not fit the memory there is; EngineError where memory runs out all the same.
    """

    def __init__(self, model: ModelFace, context: int, mode: Mode, cap: int, cut: Cut, rounding: KvRounding) -> None:
        if not 1 <= context <= model.config.context_length:
            raise UserError(f"a context of {context} tokens is outside 1 to {model.config.context_length}")
        if cap < 1:
            raise UserError(f"a step cap of {cap} tokens is below one token")
        self.model, self.mode, self.cap, self.cut = model, mode, min(cap, STEP_CAP), cut
        self.timeline, self._program = self._allocated(context, rounding)
        self._steps: list[Step] = []

    @property
    def position(self) -> int:
        """Tokens that every layer has consumed."""
        return self.timeline.position

    @property
    def context(self) -> int:
        return self.timeline.state.context

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(self.timeline.tokens)

    def prefill(self, ids: Sequence[int], stop: threading.Event | None = None) -> torch.Tensor:
        """Continue with `ids`; logits float32 [vocab] after the last. Raises ContextFullError, UserError, Stopped."""
        running = self.prefill_steps(ids, stop)
        return _drain(running)

    def prefill_steps(
        self, ids: Sequence[int], stop: threading.Event | None = None
    ) -> Generator[StepProgress, None, torch.Tensor]:
        """As `prefill`, yielding after each layer of each step (in exact mode, after each token)."""
        self.check(ids)
        steps = cut_prompt(self.position, len(ids), self.cap, self.cut)
        singly = self.mode is Mode.EXACT or (
            self._program is not None and len(ids) <= self.model.network.backend.singly_up_to
        )
        done, logits = 0, torch.empty(0)
        for number, step in enumerate(steps, 1):
            chosen = ids[done : done + step.tokens]
            progress = StepProgress(number, len(steps), step.tokens, 0, done)
            if singly:
                logits = yield from self._run_tokens(chosen, progress, stop)
            else:
                streams = yield from self._run_step(chosen, step, progress, stop)
                if number == len(steps):
                    logits = self._logits(streams)
            done += step.tokens
        return logits

    def _run_tokens(
        self, ids: Sequence[int], before: StepProgress, stop: threading.Event | None
    ) -> Generator[StepProgress, None, torch.Tensor]:
        """A step's tokens one at a time; each is a commit of its own."""
        layers, logits = self.model.config.layers, torch.empty(0)
        for count, token in enumerate(ids, 1):
            _look_at(stop)
            logits = self.decode(token)
            yield replace(before, layers_done=layers * count // len(ids), done=before.done + count)
        return logits

    def _run_step(
        self, ids: Sequence[int], step: Step, before: StepProgress, stop: threading.Event | None
    ) -> Generator[StepProgress, None, torch.Tensor]:
        layers = self.model.config.layers
        running = self._guarded(self.timeline.run(ids, step, stop))
        while True:
            try:
                layer = next(running)
            except StopIteration as finished:
                self._steps.append(step)
                streams: torch.Tensor = finished.value
                return streams
            yield replace(before, layers_done=layer, done=before.done + step.tokens * layer // layers)

    def decode(self, token_id: int) -> torch.Tensor:
        """Append one token; logits float32 [vocab] after it. Raises ContextFullError, UserError."""
        self.check([token_id])
        if self._program is not None:
            self.timeline.settle()
            with telling_failures(self):
                logits = self._program.run(token_id, self.position)
            self.timeline.accept(token_id)
            return logits
        running = self._guarded(self.timeline.run([token_id], Step(self.position, 1)))
        return self._logits(_drain(running))

    def generate(
        self,
        ids: Sequence[int],
        sampling: Sampling,
        max_tokens: int,
        stop: threading.Event | None = None,
        job_id: int = 0,
    ) -> Iterator[Event]:
        """Answer the conversation `ids` (all of it: what the session already holds is reused), as events.

        Ends with Finished, also when stopped. Raises ContextFullError or UserError before anything is computed.
        """
        return run_generation(self, ids, sampling, max_tokens, stop or threading.Event(), job_id)

    def plan(self, tokens: int, reused: int = 0) -> PromptPlan:
        """Steps and memory of `tokens` further tokens. Raises ContextFullError when they do not fit."""
        self._require_room(tokens)
        steps = cut_prompt(self.position, tokens, self.cap, self.cut)
        report = self.model.memory_report(self.timeline.state, [*self._steps, *steps], self.position + tokens)
        return PromptPlan(steps, tuple(len(list(step.bands(BAND_TOKENS))) for step in steps), reused, report)

    def memory(self) -> MemoryReport:
        """The ledger of this session now, layer by layer."""
        return self.model.memory_report(self.timeline.state, self._steps, self.position)

    @property
    def origin(self) -> Origin:
        """What the state depends on besides its tokens."""
        return Origin(self.model.fingerprint, self.mode.value, self.timeline.state.rounding.value)

    def snapshot(self) -> bytes:
        """The session as bytes (engine.snapshot)."""
        file = io.BytesIO()
        self.save(file, self.timeline.points())
        return file.getvalue()

    def save(self, file: BinaryIO, points: Sequence[Checkpoint]) -> None:
        """Write the session as it was at the last of `points` (Timeline.points)."""
        tokens = self.timeline.tokens[: points[-1].position]
        write_snapshot(file, self.timeline.state, tokens, points, self.origin)

    def restore(self, blob: bytes) -> None:
        """As `load`."""
        self.load(io.BytesIO(blob))

    def load(self, file: BinaryIO) -> None:
        """Replace the session by one of the same model and mode. Raises SnapshotError; OSError where the file fails.

        Nothing is changed before the file has been checked as a whole and there is room for what it holds. If it fails
        after that, the session is empty.
        """
        self.timeline.settle()
        state = self.timeline.state
        tokens, points = checked_snapshot(file, state, self.origin)
        try:
            read_state(file, state, points)
        except BaseException:
            self.reset()
            raise
        self.timeline.adopt(tokens, points)
        self._steps.clear()

    def reset(self) -> None:
        """Forget everything."""
        self.timeline.reset()
        self._steps.clear()

    def reuse(self, ids: Sequence[int]) -> tuple[int, torch.Tensor | None]:
        """Go back to the longest prefix of `ids` that the session holds, or that was kept on disk if that is longer.

        Returns the tokens that need not be computed, and the logits after them when that is all of `ids`.
        """
        if self.model.prefixes is not None:
            self.model.prefixes.restore(self, ids)
        logits = self.timeline.return_to_shared(ids)
        self._steps = [step for step in self._steps if step.stop <= self.position]
        return self.position, logits

    def keep(self, end: int | None = None) -> None:
        """Put the session, up to `end`, on disk if the model has a place for long ones (engine.prefix_store)."""
        if self.model.prefixes is not None:
            self.model.prefixes.keep(self, end)

    def check(self, ids: Sequence[int]) -> None:
        """Raise UserError for an empty prompt or an id outside the vocabulary, ContextFullError for too many."""
        self.check_ids(ids)
        self._require_room(len(ids))

    def check_ids(self, ids: Sequence[int]) -> None:
        """Raise UserError for an empty prompt or an id outside the vocabulary."""
        if not len(ids):
            raise UserError("the prompt is empty")
        vocab = self.model.config.vocab
        for token in ids:
            if not 0 <= token < vocab:
                raise UserError(f"token id {token} is outside the vocabulary of {vocab}")

    def _logits(self, streams: torch.Tensor) -> torch.Tensor:
        with telling_failures(self):
            return self.model.network.logits(streams)[0]

    def _allocated(self, context: int, rounding: KvRounding) -> tuple[Timeline, TokenProgram | None]:
        """The session's memory. Whatever raises, none of it is still held by the error: the caller may try again."""
        config, device = self.model.config, self.model.network.backend.tensor_device
        require_session_memory(CacheShape.from_config(config, rounding.row_dtype.itemsize), context, device)
        try:
            return self._allocate(context, rounding)
        except Exception as error:
            forget_variables(error)
            if is_out_of_memory(error):
                raise EngineError(
                    f"memory ran out for a conversation of {context} tokens; choose a shorter context or close other "
                    "programs"
                ) from error
            if (told := engine_error(error)) is not None:
                raise told from error
            raise

    def _allocate(self, context: int, rounding: KvRounding) -> tuple[Timeline, TokenProgram | None]:
        model, selects = self.model, self.mode is not Mode.DENSE
        state = SessionState(model.config, context, rounding, model.network.backend.tensor_device)
        return Timeline(model.network, state, selects), model.token_program(state, selects)

    def _require_room(self, tokens: int) -> None:
        if self.position + tokens > self.context:
            needed = self.position + tokens
            raise ContextFullError(f"the prompt needs {needed} tokens, this session's context holds {self.context}")

    def _guarded(self, running: Generator[int, None, torch.Tensor]) -> Generator[int, None, torch.Tensor]:
        """A step of the timeline, which has restored itself by the time its failure is told."""
        with telling_failures(self):
            return (yield from running)


def _drain(running: Generator[object, None, torch.Tensor]) -> torch.Tensor:
    """Run a generator to its end and return what it returns."""
    while True:
        try:
            next(running)
        except StopIteration as finished:
            result: torch.Tensor = finished.value
            return result


def _look_at(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped("the prompt was stopped")
