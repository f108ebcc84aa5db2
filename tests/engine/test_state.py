"""The raw ring holds exactly the last window, and going back to a checkpoint restores every bit."""

import pytest
import torch

from engine.layers.compressor import Windows, append_rows
from engine.layers.rope import inverse_frequencies
from engine.layers.rounding import KvRounding
from engine.state import LayerState, SessionState
from tests.engine.shapes import random_compressor, small_config

WIDTH = 64


def ring_after(lengths: list[int]) -> LayerState:
    """A layer whose row for position x is filled with x."""
    state = LayerState.empty(small_config((0,)), 0, 0, KvRounding.NONE)
    position = 0
    for tokens in lengths:
        rows = torch.arange(position, position + tokens, dtype=torch.float32)[:, None].expand(-1, WIDTH)
        state.keep_raw(rows, position)
        position += tokens
    return state


@pytest.mark.parametrize("lengths", ([1], [127], [128], [129], [5, 127, 128, 129, 1], [10_240], [3, 10_001], [1] * 300))
def test_every_slot_holds_its_position(lengths: list[int]) -> None:
    state, position = ring_after(lengths), sum(lengths)
    held = range(max(0, position - 128), position)
    assert [int(state.ring[x % 128, 0]) for x in held] == list(held)
    assert state.prior_rows(position)[:, 0].tolist() == list(held)


def test_prior_rows_are_a_copy() -> None:
    state = ring_after([130])
    before = state.prior_rows(130)
    state.keep_raw(torch.full((1, WIDTH), -1.0), 130)
    assert before[:, 0].tolist() == list(range(2, 130))


def test_rows_beyond_the_capacity_are_refused_and_nothing_is_written() -> None:
    config = small_config((4,))
    state = LayerState.empty(config, 4, 64, KvRounding.NONE)
    capacity = state.compressed.shape[0]
    assert capacity == 64 // 4 + 16
    weights = random_compressor(4, WIDTH, torch.Generator().manual_seed(0))
    rolling = state.rolling
    assert rolling is not None
    windows = Windows(weights, inverse_frequencies(config, 4), rolling, state.compressed, KvRounding.NONE, False)
    tokens = torch.ones(8, 2 * WIDTH)
    with pytest.raises(IndexError, match="capacity"):
        append_rows(tokens, tokens, 4 * (capacity - 1), windows, config)
    assert not state.compressed.any()
    assert not rolling.values.any()


def test_a_checkpoint_restores_everything_that_was_overwritten() -> None:
    state = SessionState(small_config(), 256, KvRounding.F16)
    for layer in state.layers:
        for tensor in layer.volatile():
            tensor.normal_()
    state.position = 7
    saved = [tensor.clone() for layer in state.layers for tensor in layer.volatile()]
    checkpoint = state.checkpoint()
    for layer in state.layers:
        for tensor in layer.volatile():
            tensor.zero_()
    state.position = 90
    state.rewind(checkpoint)
    assert state.position == 7
    now = [tensor for layer in state.layers for tensor in layer.volatile()]
    assert all(torch.equal(a, b) for a, b in zip(now, saved, strict=True))
    with pytest.raises(ValueError, match="forward"):
        SessionState(small_config(), 256, KvRounding.F16).rewind(checkpoint)


def test_reset_leaves_nothing_of_an_earlier_request() -> None:
    used, fresh = (SessionState(small_config(), 256, KvRounding.F16) for _ in range(2))
    for layer in used.layers:
        for tensor in layer.volatile():
            tensor.normal_()
    used.position = 50
    used.reset()
    assert used.position == 0
    for a, b in zip(used.layers, fresh.layers, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(a.volatile(), b.volatile(), strict=True))
