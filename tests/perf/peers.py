"""One engine behind a common face for side-by-side timing: prefill some ids, then decode greedily.

Each peer lives in a process of its own (tests/perf/alternate.py), imports its library there, and reports seconds from
its own monotonic clock. Loading is never timed.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Sample:
    """Seconds to read the prompt, and seconds for one decoded token (mean over the tokens decoded)."""

    prefill_s: float
    token_s: float


class Peer(Protocol):
    """An engine with a model loaded. `run` starts from an empty context every time."""

    def run(self, ids: list[int], tokens: int) -> Sample:
        """Prefill `ids`, decode `tokens` greedily."""


class Haloband:
    """This project, as the app runs it."""

    def __init__(self, model: Path, dtype: str = "auto", cap: int = 10_240) -> None:
        import engine

        self.session = engine.load(model, dtype=dtype).session(cap=cap)

    def run(self, ids: list[int], tokens: int) -> Sample:
        self.session.reset()
        began = time.perf_counter()
        logits = self.session.prefill(ids)
        prefilled = time.perf_counter()
        for _ in range(tokens):
            logits = self.session.decode(int(logits.argmax()))
        ended = time.perf_counter()
        return Sample(prefilled - began, (ended - prefilled) / max(tokens, 1))


class Transformers:
    """DeepseekV4ForCausalLM of transformers, eager attention, the prompt in chunks through its cache."""

    def __init__(self, checkpoint: Path, dtype: str, chunk: int) -> None:
        import torch
        from transformers import DeepseekV4ForCausalLM

        self.chunk = chunk
        self.model = DeepseekV4ForCausalLM.from_pretrained(checkpoint, dtype=getattr(torch, dtype)).eval()

    def run(self, ids: list[int], tokens: int) -> Sample:
        import torch

        with torch.inference_mode():
            cache, began = None, time.perf_counter()
            for first in range(0, len(ids), self.chunk):
                part = torch.tensor([ids[first : first + self.chunk]])
                output = self.model(part, past_key_values=cache, use_cache=True, logits_to_keep=1)
                cache = output.past_key_values
            prefilled = time.perf_counter()
            for _ in range(tokens):
                token = output.logits[:, -1:].argmax(dim=-1)
                output = self.model(token, past_key_values=cache, use_cache=True, logits_to_keep=1)
            ended = time.perf_counter()
        return Sample(prefilled - began, (ended - prefilled) / max(tokens, 1))


class LlamaCpp:
    """llama.cpp through llama-cpp-python, on the file's own blocks."""

    def __init__(self, model: Path, micro_batch: int, threads: int) -> None:
        from llama_cpp import Llama

        self.llama = Llama(
            str(model), n_ctx=16384, n_batch=2048, n_ubatch=micro_batch, n_threads=threads, n_threads_batch=threads,
            logits_all=False, verbose=False, no_perf=True,
        )  # fmt: skip

    def run(self, ids: list[int], tokens: int) -> Sample:
        self.llama.reset()
        self.llama._ctx.kv_cache_clear()
        began = time.perf_counter()
        self.llama.eval(ids)
        prefilled = time.perf_counter()
        for _ in range(tokens):
            self.llama.eval([self.llama.sample(temp=0.0)])
        ended = time.perf_counter()
        return Sample(prefilled - began, (ended - prefilled) / max(tokens, 1))
