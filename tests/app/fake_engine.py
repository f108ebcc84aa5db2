"""A fake model that speaks the real engine's face at a set speed, step size, prompt duration and failure.

Used by the tests of the worker, the service and the window. `FakeEngine(...).load` is an `EngineLoader`. Times are
seconds; a fake with all times zero answers as fast as Python runs. Sleeping ends early on stop, as the real engine
ends between layers.
"""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import ContextFullError
from engine.events import Event, Finished, FinishReason, MemoryChanged, PrefillAdvanced, Timings, TokenDecoded, Usage
from engine.ledger import LayerMemory, MemoryReport
from engine.model_info import ModelInfo
from engine.partial_sampling import UNSAID, PartialSampling

BOS, EOS, USER, ASSISTANT, THINK, THINK_END = range(6)
_FIRST_TEXT_ID = 16
_PIECE = 4  # characters in one token


@dataclass(frozen=True)
class FakeScript:
    """How the fake behaves. `answer` and `thoughts` are the token texts it streams."""

    answer: tuple[str, ...] = ("Hello", ", ", "world", ".")
    thoughts: tuple[str, ...] = ("Let me ", "think.")
    token_s: float = 0.0
    prefill_s: float = 0.0  # for the whole prompt, spread over steps and layers
    step_tokens: int = 512
    layers: int = 4
    load_s: float = 0.0
    load_parts: int = 5
    load_gate: threading.Event | None = None  # loading waits for it
    load_error: Exception | None = None
    prefill_error: Exception | None = None  # raised in the middle of the prompt
    token_error: Exception | None = None  # raised at token_error_at
    token_error_at: int = 2
    session_error: Exception | None = None
    context_length: int = 65536
    encode_s: float = 0.0  # for each call of encode or encode_chat
    advice: PartialSampling = UNSAID


class FakeTokenizer:
    """Four characters a token; ids are given out in order of first sight, so that decode is exact."""

    def __init__(self, encode_s: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._ids: dict[str, int] = {}
        self._pieces: dict[int, str] = {}
        self._encode_s = encode_s
        self.vocab_size = 1 << 20
        self.bos, self.eos = BOS, EOS

    def count(self, text: str) -> int:
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        time.sleep(self._encode_s)
        with self._lock:
            return [self._id(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)]

    def decode(self, ids: Sequence[int]) -> str:
        with self._lock:
            return "".join(self._pieces.get(id_, "") for id_ in ids)

    def piece_id(self, piece: str) -> int:
        with self._lock:
            return self._id(piece)

    def _id(self, piece: str) -> int:
        if piece not in self._ids:
            self._ids[piece] = _FIRST_TEXT_ID + len(self._ids)
            self._pieces[self._ids[piece]] = piece
        return self._ids[piece]


class FakeSession:
    """Holds ids, reuses the common prefix, streams the script's answer."""

    def __init__(self, model: "FakeModel", context: int, mode: str) -> None:
        self.model = model
        self.context = context
        self.mode = mode
        self.tokens: list[int] = []

    @property
    def position(self) -> int:
        return len(self.tokens)

    def memory(self) -> MemoryReport:
        script = self.model.script
        rows = tuple(
            LayerMemory(layer, 4, self.position * 256, self.position * 64, 0, 512, self.position * 4096, 1 << 20)
            for layer in range(script.layers)
        )
        return MemoryReport(self.position, rows, 1 << 20, self.model.info.file_bytes, 1 << 28)

    def generate(
        self, ids: Sequence[int], sampling: Any, max_tokens: int, stop: threading.Event, job_id: int = 0
    ) -> Iterator[Event]:
        self.model.engine.log(f"generate {job_id}")
        self.model.engine.samplings.append(sampling)
        if len(ids) >= self.context:
            raise ContextFullError(f"The prompt has {len(ids)} tokens, but the context holds {self.context}.")
        started = time.monotonic()
        cached = min(_common_prefix(ids, self.tokens), len(ids) - 1)
        del self.tokens[cached:]
        yield from self._prefill(ids, cached, stop, job_id)
        prefill_s = time.monotonic() - started
        if stop.is_set():
            yield self._finished(job_id, FinishReason.STOPPED, len(ids), cached, 0, prefill_s, started)
            return
        yield MemoryChanged(job_id, self.memory())
        done, reason = 0, FinishReason.END
        thinking = ids[-1] == THINK
        pieces = self.model.pieces(thinking=thinking)
        for done, (id_, text) in enumerate(itertools.islice(pieces, max_tokens), start=1):
            stop.wait(self.model.script.token_s)
            if stop.is_set():
                done, reason = done - 1, FinishReason.STOPPED  # noqa: PLW2901 - the token was not made after all
                break
            self._fail_at_token(done)
            self.tokens.append(id_)
            yield TokenDecoded(job_id, id_, text, self.model.tok_s, thinking)
            thinking = thinking and id_ != THINK_END
        else:
            if done == max_tokens:
                reason = FinishReason.LENGTH
        yield self._finished(job_id, reason, len(ids), cached, done, prefill_s, started)

    def _prefill(self, ids: Sequence[int], cached: int, stop: threading.Event, job_id: int) -> Iterator[Event]:
        script = self.model.script
        todo = len(ids) - cached
        steps = -(-todo // script.step_tokens)
        pause = script.prefill_s / (steps * script.layers)
        for step in range(steps):
            size = min(script.step_tokens, todo - step * script.step_tokens)
            for layer in range(script.layers):
                if script.prefill_error is not None and layer == script.layers // 2:
                    raise script.prefill_error
                stop.wait(pause)
                if stop.is_set():
                    return
                done = cached + step * script.step_tokens + size * (layer + 1) // script.layers
                yield PrefillAdvanced(
                    job_id, step + 1, steps, size, layer + 1, script.layers, done, len(ids), cached, 1000.0
                )
            self.tokens.extend(ids[len(self.tokens) : len(self.tokens) + size])

    def _fail_at_token(self, count: int) -> None:
        script = self.model.script
        if script.token_error is not None and count == script.token_error_at:
            raise script.token_error

    @staticmethod
    def _finished(
        job_id: int, reason: FinishReason, prompt: int, cached: int, made: int, prefill_s: float, started: float
    ) -> Finished:
        decode_s = time.monotonic() - started - prefill_s
        timings = Timings(prefill_s, decode_s, prefill_s if made else None, 1000.0, 50.0 if made > 1 else None)
        return Finished(job_id, reason, "", Usage(prompt, cached, made), timings)


class FakeModel:
    def __init__(self, engine: "FakeEngine", path: Path | None) -> None:
        self.engine = engine
        self.script = engine.script
        self.info = ModelInfo(
            name=path.stem if path else "fake",
            path=path or Path("fake.gguf"),
            architecture="deepseek4",
            parameters=44_000_000,
            file_bytes=39_500_000,
            quantization="MXFP4",
            layers=engine.script.layers,
            context_length=engine.script.context_length,
            backend="cpu",
            device="fake",
            native=None,
            advice=engine.script.advice,
        )
        self.tokenizer = FakeTokenizer(engine.script.encode_s)

    @property
    def tok_s(self) -> float | None:
        return 1 / self.script.token_s if self.script.token_s else None

    def encode_chat(self, messages: Sequence[Any], thinking: bool = False) -> list[int]:
        ids = [BOS]
        for message in messages:
            role = {"user": [USER], "assistant": [ASSISTANT, THINK_END]}.get(message.role.value, [])
            ids += role + self.tokenizer.encode(message.content)
            ids += [EOS] if message.role.value == "assistant" else []
        return [*ids, ASSISTANT, THINK if thinking else THINK_END]

    def session(self, context: int = 16384, mode: str = "sparse") -> FakeSession:
        self.engine.log(f"session {context} {mode}")
        if self.script.session_error is not None:
            raise self.script.session_error
        return FakeSession(self, context, mode)

    def pieces(self, *, thinking: bool) -> Iterator[tuple[int, str]]:
        if thinking:
            for text in self.script.thoughts:
                yield self.tokenizer.piece_id(text), text
            yield THINK_END, ""
        for text in self.script.answer:
            yield self.tokenizer.piece_id(text), text


@dataclass
class FakeEngine:
    """`load` is what EngineHost wants. `script` may be replaced between loads; `calls` says what was asked of it."""

    script: FakeScript = field(default_factory=FakeScript)
    calls: list[str] = field(default_factory=list)
    samplings: list[Any] = field(default_factory=list)  # of the answers, in order
    threads: set[int] = field(default_factory=set)  # idents of all threads that worked

    def log(self, call: str) -> None:
        self.calls.append(call)
        self.threads.add(threading.get_ident())

    def load(
        self,
        path: Path | None,
        *,
        backend: str = "auto",
        kv_rounding: str | None = None,
        dtype: str = "auto",
        progress: Callable[[int, int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> FakeModel:
        self.log(f"load {path}")
        stop = stop or threading.Event()
        gate = self.script.load_gate
        while gate is not None and not stop.is_set() and not gate.wait(0.005):
            pass
        for part in range(self.script.load_parts):
            stop.wait(self.script.load_s / self.script.load_parts)
            if stop.is_set():
                raise InterruptedError("loading was stopped")
            if progress is not None:
                progress((part + 1) * 100, self.script.load_parts * 100)
            if self.script.load_error is not None and part == self.script.load_parts // 2:
                raise self.script.load_error
        return FakeModel(self, path)


def _common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count
