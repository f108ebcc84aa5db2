"""The pipelined form of attention in both matrix layouts: against float64, and against the plain form bit for bit."""

from dataclasses import replace

import pytest
import torch

from kernels.launch import Launcher
from kernels.ops.attention import HeadShape, MatrixTiling, attend, tiled_form
from tests.kernels.hip.attention_reference import Case, random_case, reference
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

FLASH = HeadShape(heads=64, width=512, rotary=64)
SMALL = HeadShape(heads=16, width=64, rotary=16)
PIPELINED = MatrixTiling(queries=1, group_heads=16, waves=4, rows=16, buffers=5, parts=4, stages=2)
SHARED = MatrixTiling(queries=2, group_heads=16, waves=4, rows=32, buffers=4, parts=2, stages=2)


def run_case(launcher: Launcher, buffers: GuardedBuffers, case: Case, tiling: MatrixTiling) -> torch.Tensor:
    out = buffers.new(*case.q.shape)
    form = tiled_form(case.shape, launcher.device.target, tiling)
    attend(launcher, form, case.q, case.rows, case.form, out, case.start, case.position)
    return out


@pytest.mark.parametrize(
    ("position", "tokens", "ratio", "top_k"),
    [(0, 3, 0, None), (126, 4, 0, None), (301, 5, 4, None), (500, 4, 128, None), (100, 9, 4, 24), (700, 3, 4, 24)],
)
def test_it_matches_float64_and_the_plain_form(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = random_case(random, buffers, SMALL, position, tokens, ratio, top_k)
    found = replay(matrix_launcher, lambda: run_case(matrix_launcher, buffers, case, PIPELINED))
    assert nmse(found, reference(case)) <= 1e-6
    plain = run_case(matrix_launcher, buffers, case, replace(PIPELINED, buffers=2, stages=1))
    assert torch.equal(found, plain)
    assert torch.equal(run_case(matrix_launcher, buffers, case, replace(PIPELINED, buffers=4)), plain)


@pytest.mark.parametrize(("position", "tokens", "ratio"), [(0, 6, 0), (126, 7, 4), (400, 6, 128)])
def test_groups_of_waves_with_pairs_of_their_own_match_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
) -> None:
    case = random_case(random, buffers, SMALL, position, tokens, ratio)
    found = replay(matrix_launcher, lambda: run_case(matrix_launcher, buffers, case, SHARED))
    assert nmse(found, reference(case)) <= 1e-6


@pytest.mark.parametrize(("position", "tokens", "ratio", "top_k"), [(3, 2, 4, None), (150, 1, 4, 7)])
@pytest.mark.parametrize("parts", [4, 8])
def test_flash_heads_match_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
    top_k: int | None,
    parts: int,
) -> None:
    case = random_case(random, buffers, FLASH, position, tokens, ratio, top_k)
    tiling = MatrixTiling(queries=1, group_heads=64, waves=8, rows=16, buffers=5, parts=parts, stages=2)
    assert nmse(run_case(matrix_launcher, buffers, case, tiling), reference(case)) <= 1e-6
