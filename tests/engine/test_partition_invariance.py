"""Steps and bands leave no trace: any split of a prompt gives the same attention output and state, bit for bit.

Given equal projections, as banded-prefill 3.2 states it. Every backend that runs here is held to it.
"""

from collections.abc import Iterator

import pytest
import torch

from engine.backends.base import Backend
from engine.config import ModelConfig
from engine.layers.attention import Projections, attend_step
from engine.layers.attention_weights import Attention
from engine.layers.rounding import KvRounding
from engine.plan import Step
from engine.state import LayerState
from tests.engine.shapes import context_of, part_of, random_attention, random_projections, small_config
from tests.support.backends import cpu_backends
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here

TOKENS = 700
SPLITS: dict[str, list[int]] = {
    "two steps": [350, 350],
    "five steps": [140] * 5,
    "ragged": [1, 2, 3, 4, 5, 7, 31, 127, 128, 129, 263],
    "token by token": [1] * TOKENS,
    "around the ring": [127, 1, 1, 128, 443],
}


def run_split(
    found: Projections,
    weights: Attention,
    config: ModelConfig,
    ratio: int,
    lengths: list[int],
    ops: Backend,
    rounding: KvRounding,
    band_tokens: int = 2048,
) -> tuple[torch.Tensor, LayerState]:
    state = LayerState.empty(config, ratio, 1024, rounding)
    outputs, start = [], 0
    for tokens in lengths:
        context = context_of(config, Step(start, tokens), rounding, band_tokens)
        outputs.append(attend_step(part_of(found, start, start + tokens), weights, state, context, ops))
        start += tokens
    return torch.cat(outputs), state


def every_tensor(state: LayerState) -> Iterator[torch.Tensor]:
    yield from (*state.volatile(), state.compressed, state.index)


@pytest.mark.parametrize("ops", cpu_backends(small_config()), ids=lambda ops: type(ops).__name__)
@pytest.mark.parametrize("rounding", list(KvRounding), ids=lambda kind: kind.value)
@pytest.mark.parametrize("ratio", (0, 4, 128))
def test_every_split_gives_the_same_bits(ratio: int, rounding: KvRounding, ops: Backend) -> None:
    generator = torch.Generator().manual_seed(ratio)
    config = small_config((ratio,))
    weights = random_attention(config, ratio, generator)
    found = random_projections(ratio, TOKENS, generator)
    whole, expected = run_split(found, weights, config, ratio, [TOKENS], ops, rounding)
    for name, lengths in SPLITS.items():
        output, state = run_split(found, weights, config, ratio, lengths, ops, rounding)
        assert torch.equal(output, whole), name
        for got, wanted in zip(every_tensor(state), every_tensor(expected), strict=True):
            assert torch.equal(got, wanted), name


@pytest.mark.parametrize("ops", cpu_backends(small_config()), ids=lambda ops: type(ops).__name__)
@pytest.mark.parametrize("ratio", (0, 4, 128))
@pytest.mark.parametrize("band_tokens", (1, 3, 140, 350))
def test_bands_of_any_size_give_the_same_bits(ratio: int, band_tokens: int, ops: Backend) -> None:
    generator = torch.Generator().manual_seed(ratio)
    config = small_config((ratio,))
    weights = random_attention(config, ratio, generator)
    found = random_projections(ratio, TOKENS, generator)
    whole, _ = run_split(found, weights, config, ratio, [TOKENS], ops, KvRounding.F16)
    banded, _ = run_split(found, weights, config, ratio, [TOKENS], ops, KvRounding.F16, band_tokens)
    assert torch.equal(banded, whole)
