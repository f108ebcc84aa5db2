"""Shapes B and C of attention in both matrix layouts against float64, and against each other bit for bit."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops.attention import AttentionForm, HeadShape, MatrixTiling, attend, matrix_form, tiled_form
from tests.kernels.hip.attention_reference import Case, random_case, reference
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

FLASH = HeadShape(heads=64, width=512, rotary=64)
SMALL = HeadShape(heads=16, width=64, rotary=16)


def form_for(launcher: Launcher, shape: HeadShape, queries: int = 1) -> AttentionForm:
    return matrix_form(shape, launcher.device.target, queries)


def run_case(
    launcher: Launcher,
    buffers: GuardedBuffers,
    case: Case,
    queries: int = 1,
    first: int = 0,
    last: int | None = None,
) -> torch.Tensor:
    q = case.q[first:last]
    out = buffers.new(*q.shape)
    form = form_for(launcher, case.shape, queries)
    attend(launcher, form, q, case.rows, case.form, out, case.start, case.position, first)
    return out


@pytest.mark.parametrize(
    ("position", "tokens", "ratio", "top_k"),
    [
        (0, 5, 0, None),
        (126, 4, 0, None),
        (1001, 3, 0, None),
        (0, 9, 4, None),
        (301, 5, 4, None),
        (500, 4, 128, None),
        (100, 9, 4, 24),
        (700, 3, 4, 24),
    ],
)
def test_one_query_matches_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = random_case(random, buffers, SMALL, position, tokens, ratio, top_k)
    found = replay(matrix_launcher, lambda: run_case(matrix_launcher, buffers, case))
    assert nmse(found, reference(case)) <= 1e-6


@pytest.mark.parametrize(("position", "tokens", "ratio"), [(0, 6, 0), (126, 7, 4), (1001, 5, 4), (400, 6, 128)])
def test_several_queries_match_float64_and_give_the_bits_of_one(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
) -> None:
    case = random_case(random, buffers, SMALL, position, tokens, ratio)
    alone = run_case(matrix_launcher, buffers, case)
    for queries in (2, 4):
        together = replay(matrix_launcher, lambda queries=queries: run_case(matrix_launcher, buffers, case, queries))
        assert nmse(together, reference(case)) <= 1e-6
        assert torch.equal(together, alone), "how many queries share a walk must not show"


@pytest.mark.parametrize("heads", (4, 20))
@pytest.mark.parametrize("queries", (1, 2))
def test_heads_need_not_fill_the_last_tile(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, heads: int, queries: int
) -> None:
    """The heads beyond the last are computed again and never written: the guards of the output stay whole."""
    case = random_case(random, buffers, HeadShape(heads, 64, 16), 130, 5, 4)
    found = replay(matrix_launcher, lambda: run_case(matrix_launcher, buffers, case, queries))
    assert nmse(found, reference(case)) <= 1e-6


def test_the_split_of_a_step_changes_no_bit(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = random_case(random, buffers, SMALL, 90, 13, 4)
    whole = run_case(matrix_launcher, buffers, case, queries=4)
    for cuts in ([0, 1, 8, 13], [0, 3, 13]):
        parts = [run_case(matrix_launcher, buffers, case, 4, first, last) for first, last in pairwise(cuts)]
        assert torch.equal(torch.cat(parts), whole)


def test_a_later_step_gives_the_bits_of_a_longer_one(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """The same token as part of a step that began earlier, of one that begins with it, and alone on the ring."""
    whole = random_case(random, buffers, SMALL, 131, 12, 4)
    wanted = run_case(matrix_launcher, buffers, whole, queries=2)
    for first in (5, 11):
        position = 131 + first
        raw = whole.rows.raw[-(12 - first) - 128 :]
        form = replace(whole.form, cosines=whole.form.cosines[first:], sines=whole.form.sines[first:])
        later = Case(SMALL, position, whole.q[first:], replace(whole.rows, raw=raw), form)
        assert torch.equal(run_case(matrix_launcher, buffers, later, queries=2), wanted[first:])
    ring = buffers.new(128, 64, dtype=torch.float16)
    ring[torch.arange(142 - 127, 143) % 128] = whole.rows.raw[-128:]
    on_ring = replace(later, rows=replace(later.rows, raw=ring, is_ring=True))
    assert torch.equal(run_case(matrix_launcher, buffers, on_ring), wanted[11:])


@pytest.mark.parametrize(("position", "tokens", "ratio", "top_k"), [(3, 2, 4, None), (150, 1, 4, 7)])
def test_flash_heads_match_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = random_case(random, buffers, FLASH, position, tokens, ratio, top_k)
    assert nmse(run_case(matrix_launcher, buffers, case), reference(case)) <= 1e-6


def test_one_row_buffer_and_two_give_the_same_bits(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = random_case(random, buffers, SMALL, 200, 3, 4)
    results = []
    for count in (1, 2):
        tiling = MatrixTiling(queries=1, group_heads=16, waves=4, rows=16, buffers=count)
        form = tiled_form(SMALL, matrix_launcher.device.target, tiling)
        out = buffers.new(*case.q.shape)
        attend(matrix_launcher, form, case.q, case.rows, case.form, out, case.start, case.position)
        results.append(out)
    assert torch.equal(results[0], results[1])


def test_queries_with_their_own_lists_cannot_share_a_walk(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = random_case(random, buffers, SMALL, 700, 3, 4, 24)
    with pytest.raises(KernelArgumentError, match="share a walk"):
        run_case(launcher, buffers, case, queries=2)
