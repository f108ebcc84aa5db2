"""The native row selection: exact top-k with the lower row winning ties, against a stable sort in float64."""

from itertools import pairwise

import pytest
import torch

from kernels.cpu import NativeCpu
from tests.kernels.cpu import reference
from tests.kernels.cpu.reference import same_bits

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

# tokens, start, ratio, heads, width, top
SHAPES = [
    (1, 600, 4, 8, 32, 128), (40, 0, 4, 8, 32, 3), (37, 1000, 4, 8, 32, 128), (5, 2051, 4, 3, 16, 512),
    (33, 90, 2, 64, 128, 7), (17, 63, 4, 1, 16, 1), (9, 400, 4, 9, 48, 99), (70, 500, 4, 8, 32, 128),
]  # fmt: skip


def whole_numbers(shape: tuple[int, int, int, int, int, int], seed: int = 0, *, spread: int = 2) -> Inputs:
    """Small integers: every sum is exact in float32, so that ties are real and the expected choice is certain."""
    tokens, start, ratio, heads, width, _ = shape
    g = torch.Generator().manual_seed(seed)
    q = torch.randint(-spread, spread + 1, (tokens, heads, width), generator=g).float()
    weights = torch.randint(-spread, spread + 1, (tokens, heads), generator=g).float()
    rows = torch.randint(-1, 2, ((start + tokens) // ratio, width), generator=g).half()
    return q, weights, rows


def run(native: NativeCpu, inputs: Inputs, start: int, ratio: int, top: int) -> tuple[torch.Tensor, torch.Tensor]:
    return native.select(*inputs, start=start, ratio=ratio, top=top)


def check(ids: torch.Tensor, counts: torch.Tensor, scores: torch.Tensor, start: int, ratio: int, top: int) -> None:
    for t in range(ids.shape[0]):
        visible = min(scores.shape[1], (start + t + 1) // ratio)
        expected = reference.select_rows(scores[t, :visible], top)
        assert int(counts[t]) == len(expected) == min(visible, top)
        assert torch.equal(ids[t, : len(expected)], expected)
        assert bool((ids[t, len(expected) :] == -1).all())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("stored", [torch.float16, torch.float32])
@pytest.mark.parametrize("spread", [1, 2, 50])
def test_takes_the_best_and_the_lower_row_of_equals(
    native: NativeCpu, shape: tuple[int, int, int, int, int, int], stored: torch.dtype, spread: int
) -> None:
    q, weights, rows = whole_numbers(shape, spread=spread)
    _, start, ratio, _, _, top = shape
    ids, counts = run(native, (q, weights, rows.to(stored)), start, ratio, top)
    check(ids, counts, reference.select_scores(q, weights, rows), start, ratio, top)


@pytest.mark.parametrize("value", [0.0, -3.0, 2.0])
def test_all_scores_equal_takes_the_first_rows(native: NativeCpu, value: float) -> None:
    q, weights, rows = torch.ones(3, 2, 16), torch.full((3, 2), value), torch.ones(300, 16)
    ids, _ = run(native, (q, weights, rows), 1199, 4, 50)
    assert torch.equal(ids, torch.arange(50, dtype=torch.int32).expand(3, 50))


def test_random_reals_agree_with_float64_but_for_scores_within_rounding(native: NativeCpu) -> None:
    g = torch.Generator().manual_seed(5)
    q, weights = torch.randn(30, 8, 32, generator=g), torch.randn(30, 8, generator=g)
    rows = torch.randn(700, 32, generator=g)
    ids, _ = run(native, (q, weights, rows), 2770, 4, 128)
    scores = reference.select_scores(q, weights, rows)
    for t in range(30):
        chosen = torch.zeros(700, dtype=torch.bool)
        chosen[ids[t].long()] = True
        visible = min(700, (2770 + t + 1) // 4)
        assert scores[t, :visible][chosen[:visible]].min() >= scores[t, :visible][~chosen[:visible]].max() - 1e-4


def special_scores(values: list[float], rows: int, at: list[int]) -> Inputs:
    """One head, one channel in use: the score of a row is its own first channel where that is positive."""
    stored = torch.zeros(rows, 16)
    stored[:, 0] = torch.linspace(1.0, 2.0, rows)
    for value, row in zip(values, at, strict=True):
        stored[row, 0] = value
    q = torch.zeros(1, 1, 16)
    q[0, 0, 0] = 1.0
    return q, torch.ones(1, 1), stored


def test_infinite_scores_are_ordered_and_not_a_number_is_last(native: NativeCpu) -> None:
    inputs = special_scores([float("inf"), float("nan"), float("inf"), float("nan")], 100, [3, 50, 97, 99])
    ids, _ = run(native, inputs, 399, 4, 4)
    assert ids.tolist() == [[3, 96, 97, 98]]
    ids, _ = run(native, inputs, 399, 4, 99)
    assert 99 not in ids[0].tolist() and 50 in ids[0].tolist()
    ids, _ = run(native, inputs, 399, 4, 98)
    assert 99 not in ids[0].tolist() and 50 not in ids[0].tolist()


def test_scores_of_every_magnitude_are_told_apart(native: NativeCpu) -> None:
    q, weights, rows = special_scores([], 256, [])
    rows[:, 0] = 2.0 ** torch.arange(-126, 126.5, 252 / 255).round()
    for top in (1, 2, 17, 128, 255):
        ids, _ = run(native, (q, weights, rows), 1023, 4, top)
        assert torch.equal(ids[0], reference.select_rows(reference.select_scores(q, weights, rows)[0], top))


def test_neighbouring_floats_are_told_apart(native: NativeCpu) -> None:
    q, weights, rows = special_scores([], 200, [])
    order = torch.randperm(200, generator=torch.Generator().manual_seed(1)).int()
    rows[:, 0] = (torch.full((200,), 0x3F800000, dtype=torch.int32) + order).view(torch.float32)
    ids, _ = run(native, (q, weights, rows), 799, 4, 77)
    assert torch.equal(ids[0], (order >= 200 - 77).nonzero().flatten().int())


@pytest.mark.parametrize("cuts", [(1,), (16, 32, 48), (3, 30, 31), tuple(range(1, 60))], ids=len)
def test_any_split_and_any_number_of_threads_give_the_same_bits(
    native: NativeCpu, native_alone: NativeCpu, cuts: tuple[int, ...]
) -> None:
    g = torch.Generator().manual_seed(6)
    q, weights = torch.randn(60, 8, 32, generator=g), torch.randn(60, 8, generator=g)
    rows = torch.randn(400, 32, generator=g).half()
    whole = native.select(q, weights, rows, start=500, ratio=4, top=130)
    alone = native_alone.select(q, weights, rows, start=500, ratio=4, top=130)
    assert all(map(same_bits, whole, alone))
    edges = [0, *cuts, 60]
    pieces = [native.select(q[a:b], weights[a:b], rows, start=500 + a, ratio=4, top=130) for a, b in pairwise(edges)]
    assert same_bits(torch.cat([ids for ids, _ in pieces]), whole[0])
    assert same_bits(torch.cat([counts for _, counts in pieces]), whole[1])


def test_fifty_replays_give_the_same_bits(native: NativeCpu) -> None:
    inputs = whole_numbers(SHAPES[2])
    first = run(native, inputs, 1000, 4, 128)
    assert all(all(map(same_bits, run(native, inputs, 1000, 4, 128), first)) for _ in range(50))


def test_a_tensor_that_does_not_fit_is_refused_by_name(native: NativeCpu) -> None:
    q, weights, rows = torch.zeros(3, 2, 16), torch.zeros(3, 2), torch.zeros(9, 16)
    with pytest.raises(ValueError, match="q has type"):
        native.select(q.half(), weights, rows, start=0, ratio=4, top=2)
    with pytest.raises(ValueError, match="multiple of 16"):
        native.select(torch.zeros(3, 2, 20), weights, torch.zeros(9, 20), start=0, ratio=4, top=2)
    with pytest.raises(ValueError, match="weights has shape"):
        native.select(q, weights[:2], rows, start=0, ratio=4, top=2)
    with pytest.raises(ValueError, match="rows has shape"):
        native.select(q, weights, torch.zeros(9, 32), start=0, ratio=4, top=2)
    for start, ratio, top in ((-1, 4, 2), (0, 0, 2), (0, 4, 0)):
        with pytest.raises(ValueError, match="no selection of"):
            native.select(q, weights, rows, start=start, ratio=ratio, top=top)
