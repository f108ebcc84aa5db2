"""Window compressors: one batch equals token by token, and the first row pools only what exists."""

import pytest
import torch

from engine.layers.compressor import EMPTY_SCORE, RollingState, close_windows
from tests.engine.shapes import random_compressor

WIDTH = 8


def closed_by(
    values: torch.Tensor, gates: torch.Tensor, ratio: int, lengths: list[int], start: int = 0
) -> tuple[torch.Tensor, RollingState]:
    generator = torch.Generator().manual_seed(1)
    weights = random_compressor(ratio, WIDTH, generator)
    state = RollingState.empty(ratio, WIDTH, torch.device("cpu"))
    rows, position = [], start
    for tokens in lengths:
        first = position - start
        part = slice(first, first + tokens)
        rows.append(close_windows(values[part], gates[part], position, weights, state))
        position += tokens
    return torch.cat(rows), state


@pytest.mark.parametrize("ratio", (2, 4, 8, 128))
def test_a_step_equals_token_by_token_for_every_offset_and_length(ratio: int) -> None:
    lanes = 2 * WIDTH if ratio == 4 else WIDTH
    generator = torch.Generator().manual_seed(ratio)
    longest = 3 * ratio + 2
    values = torch.randn(2 * longest, lanes, generator=generator)
    gates = torch.randn(2 * longest, lanes, generator=generator)
    offsets = range(ratio) if ratio < 128 else (0, 1, 2, 63, 126, 127)
    lengths = range(1, 2 * ratio + 2) if ratio < 128 else (1, 2, 127, 128, 129, 255, 256, 257)
    for offset in offsets:
        for tokens in lengths:
            total = offset + tokens
            singly, single_state = closed_by(values, gates, ratio, [1] * total)
            stepped, step_state = closed_by(values, gates, ratio, ([offset] if offset else []) + [tokens])
            assert stepped.shape[0] == total // ratio
            assert torch.equal(stepped, singly), (offset, tokens)
            assert torch.equal(step_state.values, single_state.values), (offset, tokens)
            assert torch.equal(step_state.scores, single_state.scores), (offset, tokens)


@pytest.mark.parametrize("ratio", (4, 128))
def test_rows_are_the_softmax_weighted_means_of_the_specification(ratio: int) -> None:
    lanes = 2 * WIDTH if ratio == 4 else WIDTH
    generator = torch.Generator().manual_seed(5)
    values = torch.randn(3 * ratio, lanes, generator=generator)
    gates = torch.randn(3 * ratio, lanes, generator=generator)
    rows, _ = closed_by(values, gates, ratio, [3 * ratio])
    biased = gates + random_compressor(ratio, WIDTH, torch.Generator().manual_seed(1)).ape.repeat(3, 1)
    for row in range(3):
        for channel in range(WIDTH):
            entries = [
                (biased[t, lanes - WIDTH + channel], values[t, lanes - WIDTH + channel]) for t in window(row, ratio)
            ]
            if ratio == 4 and row:
                entries += [(biased[t, channel], values[t, channel]) for t in window(row - 1, ratio)]
            gate, value = (torch.stack(part).double() for part in zip(*entries, strict=True))
            expected = (gate.softmax(dim=0) * value).sum()
            assert abs(rows[row, channel] - expected) < 1e-5


def window(row: int, ratio: int) -> range:
    return range(row * ratio, (row + 1) * ratio)


def test_the_first_overlapping_row_is_not_diluted_by_its_missing_predecessor() -> None:
    values = torch.ones(4, 2 * WIDTH)
    rows, _ = closed_by(values, torch.zeros(4, 2 * WIDTH), 4, [4])
    torch.testing.assert_close(rows, torch.ones(1, WIDTH))


def test_an_empty_state_weighs_nothing() -> None:
    state = RollingState.empty(4, WIDTH, torch.device("cpu"))
    assert (state.scores == EMPTY_SCORE).all()
    assert not torch.tensor([EMPTY_SCORE, 0.0]).softmax(dim=0)[0]
