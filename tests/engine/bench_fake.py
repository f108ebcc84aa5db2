"""A model of known speed for the benchmark's tests: time passes only when it computes, on a clock of its own."""

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import torch

from engine.bench.run import Surroundings
from engine.errors import Stopped
from engine.faces import StepProgress
from engine.ledger import LayerMemory, MemoryReport
from engine.model_info import ModelInfo
from engine.plan import Cut, cut_prompt

VOCAB, BOS, EOS = 32, 0, 1


class StubClock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class FakeRounding(Enum):
    F16 = "f16"


FAKE_INFO = ModelInfo(
    name="fake",
    path=Path("fake.gguf"),
    architecture="deepseek4",
    parameters=44_000_000,
    file_bytes=39_500_000,
    quantization="MXFP4",
    layers=4,
    context_length=65_536,
    backend="cpu",
    device="a stub clock",
    native=None,
)


class FakeTokenizer:
    bos, eos = BOS, EOS

    def encode(self, text: str) -> list[int]:
        return [2 + ord(letter) % (VOCAB - 2) for letter in text[::4]]


@dataclass
class FakeModel:
    """`prompt_s` and `token_s`: seconds a token; `save_s`: seconds a snapshot, restore or reset takes."""

    clock: StubClock
    info: ModelInfo = FAKE_INFO
    prompt_s: float = 0.001
    token_s: float = 0.02
    save_s: float = 7.0
    end_is_likely: bool = True
    stop_after_tokens: int | None = None  # sets `stop` once so many were computed or decoded
    stop: threading.Event = field(default_factory=threading.Event)
    fail_after_tokens: int | None = None
    failure: Exception = field(default_factory=lambda: RuntimeError("unset"))
    calls: list[str] = field(default_factory=list)
    spent_tokens: int = 0
    speeds: list[float] = field(default_factory=list)  # seconds a token of successive prompts, instead of prompt_s

    tokenizer = FakeTokenizer()
    rounding = FakeRounding.F16

    def session(self, context: int, mode: str, cap: int, cut: str) -> "FakeSession":
        self.calls.append(f"session {context} {mode} {cap} {cut}")
        return FakeSession(self, context, cap, Cut(cut))

    def spend(self, tokens: int, seconds: float) -> None:
        self.clock.now += seconds
        self.spent_tokens += tokens
        if self.stop_after_tokens is not None and self.spent_tokens >= self.stop_after_tokens:
            self.stop.set()
        if self.fail_after_tokens is not None and self.spent_tokens >= self.fail_after_tokens:
            raise self.failure


class FakeSession:
    def __init__(self, model: FakeModel, context: int, cap: int, cut: Cut) -> None:
        self.model, self.context, self.cap, self.cut = model, context, cap, cut
        self.ids: list[int] = []
        self.largest_step = 0

    @property
    def position(self) -> int:
        return len(self.ids)

    def reset(self) -> None:
        self._save("reset")
        self.ids.clear()
        self.largest_step = 0

    def prefill_steps(
        self, ids: Sequence[int], stop: threading.Event | None = None
    ) -> Generator[StepProgress, None, torch.Tensor]:
        model = self.model
        model.calls.append(f"prefill {len(ids)} at {self.position}")
        assert self.position + len(ids) <= self.context
        seconds = model.speeds.pop(0) if model.speeds else model.prompt_s
        steps, done, layers = cut_prompt(self.position, len(ids), self.cap, self.cut), 0, model.info.layers
        for number, step in enumerate(steps, 1):
            for layer in range(1, layers + 1):
                if stop is not None and stop.is_set():
                    raise Stopped("stopped")
                model.spend(step.tokens if layer == layers else 0, step.tokens * seconds / layers)
                yield StepProgress(number, len(steps), step.tokens, layer, done + step.tokens * layer // layers)
            self.ids += ids[done : done + step.tokens]
            self.largest_step = max(self.largest_step, step.tokens)
            done += step.tokens
        return self._logits()

    def decode(self, token_id: int) -> torch.Tensor:
        assert token_id != EOS
        assert self.position < self.context
        self.model.spend(1, self.model.token_s)
        self.ids.append(token_id)
        return self._logits()

    def memory(self) -> MemoryReport:
        layers = tuple(
            LayerMemory(index, ratio, 100, self.position, 0, 10, 1000, self.largest_step * (1 + index))
            for index, ratio in enumerate((0, 0, 4, 128))
        )
        return MemoryReport(self.position, layers, 1 << 20, 1 << 25, 1 << 28)

    def snapshot(self) -> bytes:
        self._save(f"snapshot {self.position}")
        return bytes(self.ids)

    def restore(self, blob: bytes) -> None:
        self._save(f"restore {len(blob)}")
        self.ids = list(blob)
        self.largest_step = 0

    def _save(self, call: str) -> None:
        self.model.calls.append(call)
        self.model.clock.now += self.model.save_s

    def _logits(self) -> torch.Tensor:
        logits = torch.zeros(VOCAB)
        logits[2 + self.position % (VOCAB - 2)] = 1.0
        if self.model.end_is_likely:
            logits[EOS] = 2.0
        return logits


def surroundings(clock: StubClock, root: Path) -> Surroundings:
    """A machine without any facts, where waiting takes no time."""
    return Surroundings(clock=clock, now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), sleep=_no_sleep, root=root)


def _no_sleep(seconds: float) -> None:
    del seconds


def with_info(model: FakeModel, **changes: object) -> FakeModel:
    """The model with some of its facts changed."""
    model.info = replace(model.info, **changes)  # type: ignore[arg-type]  # the caller names fields of ModelInfo
    return model
