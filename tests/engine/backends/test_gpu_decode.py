"""A token on the GPU that fails leaves the state as it was, wherever it fails: the next try answers as the first would.

On the kernels' CPU emulator, in one vendor's layout: what is tested is the host's part.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.backends.gpu_device import on_launcher
from engine.backends.gpu_token_layers import TokenLayers
from engine.config import ModelConfig
from engine.model import Network
from engine.model_source import open_model
from engine.stored_weights import StoredWeights
from engine.timeline import Timeline
from tests.engine.backends.conftest import network_on
from tests.engine.backends.test_gpu_answers import timeline_on
from tests.kernels.hip.emulated import emulated_launcher
from tests.support.running import feed

ADDRESS = "synth:small?ratios=0,4&recipe=q8"
PROMPT = list(range(5, 16))  # the next token closes a window of 4
PARTS = ("_embed", "_close_windows", "_experts", "_expand_mix")


@pytest.fixture(scope="module")
def network(emulator_folder: Path) -> Network:
    stored = StoredWeights(open_model(ADDRESS))
    config = ModelConfig.from_gguf(stored.source)
    return network_on(on_launcher(config, emulated_launcher(emulator_folder, "nvidia")), stored)


def failing_at_last_call(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part does its work for the last time in a token, and then there is no memory."""
    whole: Callable[..., None] = getattr(TokenLayers, part)
    calls: list[str] = []
    per_token = 2 if part in ("_attention", "_close_windows", "_experts") else 3 if part == "_expand_mix" else 1

    def fails(layers: TokenLayers, *arguments: object) -> None:
        whole(layers, *arguments)
        calls.append(part)
        if len(calls) == per_token:
            raise torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(TokenLayers, part, fails)


def volatile_bits(timeline: Timeline) -> list[torch.Tensor]:
    return [tensor.clone() for layer in timeline.state.layers for tensor in layer.volatile()]


@pytest.mark.parametrize("part", PARTS)
def test_a_first_token_that_fails_can_be_tried_again(network: Network, part: str) -> None:
    ours, theirs = timeline_on(network), timeline_on(network)
    feed(ours, PROMPT)
    feed(theirs, PROMPT)
    before = volatile_bits(ours)
    program, other = (network.backend.token_program(line.state, selects=True) for line in (ours, theirs))
    assert program is not None and other is not None
    with pytest.MonkeyPatch.context() as patch:
        failing_at_last_call(part, patch)
        with pytest.raises(torch.OutOfMemoryError):
            program.run(7, ours.position)
    assert all(torch.equal(a, b) for a, b in zip(volatile_bits(ours), before, strict=True))
    for token in (7, 9):
        assert torch.equal(program.run(token, ours.position), other.run(token, theirs.position))
        ours.accept(token)
        theirs.accept(token)


def test_no_memory_for_the_answer_is_found_before_the_state_moves(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a token that is replayed, which cannot be taken back."""
    timeline = timeline_on(network)
    feed(timeline, PROMPT)
    program = network.backend.token_program(timeline.state, selects=True)
    assert program is not None
    for token in (7, 9):
        program.run(token, timeline.position)
        timeline.accept(token)
    before = volatile_bits(timeline)

    def exhausted(*_: object, **__: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 MiB")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "empty_like", exhausted)
        patch.setattr(torch.Tensor, "clone", exhausted)
        with pytest.raises(torch.OutOfMemoryError):
            program.run(11, timeline.position)
    assert all(torch.equal(a, b) for a, b in zip(volatile_bits(timeline), before, strict=True))
