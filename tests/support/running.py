"""Small drivers that engine tests share: run a step to its end, continue greedily."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TypeVar

import torch

from engine.backends import cpu_backend
from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig
from engine.layers.rounding import KvRounding
from engine.model import Network
from engine.model_source import open_model
from engine.plan import Step
from engine.state import SessionState
from engine.stored_weights import StoredWeights
from engine.timeline import Timeline
from engine.weights import load_weights

Result = TypeVar("Result")


def drain(running: Generator[object, None, Result]) -> Result:
    """Run a generator to its end; what it returns."""
    while True:
        try:
            next(running)
        except StopIteration as finished:
            return finished.value  # type: ignore[no-any-return]  # typeshed cannot know a generator's return type


def network_of(path: Path, native: bool = False) -> Network:
    """A network in float32 without tokenizer, on plain torch or on the best backend that loads here."""
    source = open_model(path)
    config = ModelConfig.from_gguf(source)
    backend = cpu_backend(config, torch.float32) if native else CpuBackend(config, torch.float32)
    return Network(config, load_weights(StoredWeights(source), config, backend.placement()), backend)


def timeline_of(network: Network, context: int = 16384, rounding: KvRounding = KvRounding.NONE) -> Timeline:
    return Timeline(network, SessionState(network.config, context, rounding), selects=True)


def feed(timeline: Timeline, ids: Sequence[int], chunk: int | None = None) -> torch.Tensor:
    """Bring `ids` into the timeline in steps of `chunk` tokens; the last token's logits [vocab]."""
    chunk = chunk or len(ids)
    streams = torch.empty(0)
    for first in range(0, len(ids), chunk):
        part = list(ids[first : first + chunk])
        streams = drain(timeline.run(part, Step(timeline.position, len(part))))
    return timeline.network.logits(streams)[0]


def greedy(timeline: Timeline, logits: torch.Tensor, tokens: int) -> tuple[list[int], list[torch.Tensor]]:
    """`tokens` greedy ids and the logits each was picked from."""
    ids, seen = [], []
    for _ in range(tokens):
        ids.append(int(logits.argmax()))
        seen.append(logits)
        logits = feed(timeline, ids[-1:])
    return ids, seen
