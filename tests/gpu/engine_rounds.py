"""Our engine and transformers behind one face, timed in alternation in one process: prefill, then greedy decode.

Both hold their weights on one device, so they cannot be two processes of the size of the whole GPU; while one runs the
other launches nothing. A clock stops when the sampled id is on the host. Used by compare_transformers.py.
"""

import gc
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from engine.loading import Model
from tests.gpu.transformers_model import GROUPED
from tests.perf.peers import Sample

_WARM_UPS = 2  # rounds: ours compiles kernels and records a decode graph, the allocator grows


class Peer(Protocol):
    """An engine with a model loaded. Both calls start from an empty context."""

    def run(self, ids: list[int], tokens: int) -> Sample:
        """Prefill `ids`, decode `tokens` greedily."""

    def rows(self, ids: list[int], following: list[int]) -> torch.Tensor:
        """Logits float32 on the CPU after `ids` and after each token of `following`: [1 + following, vocab]."""


class Haloband:
    """This project: the prompt in one step."""

    def __init__(self, model: Model, context: int) -> None:
        self._session = model.session(context)

    def run(self, ids: list[int], tokens: int) -> Sample:
        self._session.reset()
        synchronise()
        began = time.perf_counter()
        token = int(self._session.prefill(ids).argmax())
        prefilled = time.perf_counter()
        for _ in range(tokens):
            token = int(self._session.decode(token).argmax())
        return Sample(prefilled - began, (time.perf_counter() - prefilled) / max(tokens, 1))

    def rows(self, ids: list[int], following: list[int]) -> torch.Tensor:
        self._session.reset()
        found = [self._session.prefill(ids).cpu()]
        found += [self._session.decode(token).cpu() for token in following]
        return torch.stack(found)


@dataclass(frozen=True, slots=True)
class Setting:
    """How transformers runs: attention, tokens of the prompt a call (None: all), experts of decoded tokens."""

    attention: str
    chunk: int | None
    decode_experts: str = GROUPED

    @property
    def name(self) -> str:
        chunk = "whole" if self.chunk is None else f"chunk {self.chunk:,}"
        return f"transformers {self.attention}, {chunk}, decode {self.decode_experts}"


class Transformers:
    """DeepseekV4ForCausalLM in one setting; several share a model. Experts of prompts are always grouped products."""

    def __init__(self, model: Any, setting: Setting) -> None:
        self._model, self._device, self.setting = model, model.device, setting

    @torch.inference_mode()
    def run(self, ids: list[int], tokens: int) -> Sample:
        self._prepare()
        synchronise()
        began = time.perf_counter()
        logits, cache = self._read(ids)
        token = int(logits.argmax())
        prefill_s = time.perf_counter() - began
        self._model.set_experts_implementation(self.setting.decode_experts)
        began = time.perf_counter()
        for _ in range(tokens):
            token = int(self._call([token], cache)[0].argmax())
        return Sample(prefill_s, (time.perf_counter() - began) / max(tokens, 1))

    @torch.inference_mode()
    def rows(self, ids: list[int], following: list[int]) -> torch.Tensor:
        self._prepare()
        logits, cache = self._read(ids)
        self._model.set_experts_implementation(self.setting.decode_experts)
        found = [logits.float().cpu()]
        found += [self._call([token], cache)[0].float().cpu() for token in following]
        return torch.stack(found)

    def _prepare(self) -> None:
        self._model.set_attn_implementation(self.setting.attention)
        self._model.set_experts_implementation(GROUPED)

    def _read(self, ids: list[int]) -> tuple[torch.Tensor, Any]:
        size, cache, logits = self.setting.chunk or len(ids), None, torch.empty(0)
        for first in range(0, len(ids), size):
            logits, cache = self._call(ids[first : first + size], cache)
        return logits, cache

    def _call(self, ids: list[int], cache: Any) -> tuple[torch.Tensor, Any]:
        tokens = torch.tensor([ids], device=self._device)
        output = self._model(tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return output.logits[0, -1], output.past_key_values


@dataclass(slots=True)
class Measured:
    """The counted samples of one peer; none where its first run had not enough memory.

    `retries` says how often, in those runs, an allocation had to give cached memory back first, which takes time.
    """

    name: str
    samples: list[Sample] = field(default_factory=list)
    retries: int = 0

    @property
    def prefill_s(self) -> float:
        return statistics.median(sample.prefill_s for sample in self.samples)

    @property
    def token_s(self) -> float:
        return statistics.median(sample.token_s for sample in self.samples)

    @property
    def prefill_spread(self) -> float:
        return _spread([sample.prefill_s for sample in self.samples])

    @property
    def token_spread(self) -> float:
        return _spread([sample.token_s for sample in self.samples])


def alternate(peers: Mapping[str, Peer], ids: list[int], tokens: int, rounds: int) -> list[Measured]:
    """Warm-ups, then `rounds` counted rounds over all peers: A B C A B C ... A peer without memory is left out."""
    measured = {name: Measured(name) for name in peers}
    running = dict(peers)
    for number in range(_WARM_UPS + rounds):
        for name, peer in list(running.items()):
            before, sample = _retries(), _run(peer, ids, tokens)
            if sample is None:
                del running[name]
                measured[name].samples.clear()
            elif number >= _WARM_UPS:
                measured[name].samples.append(sample)
                measured[name].retries += _retries() - before
    return list(measured.values())


def synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _retries() -> int:
    return int(torch.cuda.memory_stats().get("num_alloc_retries", 0)) if torch.cuda.is_available() else 0


def _run(peer: Peer, ids: list[int], tokens: int) -> Sample | None:
    """One run; None where the device has not enough memory, all of which is free again."""
    try:
        return peer.run(ids, tokens)
    except torch.OutOfMemoryError:
        pass
    gc.collect()
    torch.cuda.empty_cache()
    return None


def _spread(seconds: Sequence[float]) -> float:
    """The range over the median, as tests.gpu.workbench reports it."""
    return (max(seconds) - min(seconds)) / statistics.median(seconds)
