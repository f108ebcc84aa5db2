"""Shape A attention on the emulator against float64: every plan, ring and step, sizes that fill no tile."""

from dataclasses import replace

import pytest
import torch

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops.attention import HeadShape, Plan, attend, scalar_form
from tests.kernels.hip.attention_reference import Case, random_case, reference
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

FLASH = HeadShape(heads=64, width=512, rotary=64)
SMALL = HeadShape(heads=16, width=64, rotary=16)


def run_case(
    launcher: Launcher, buffers: GuardedBuffers, case: Case, first: int = 0, last: int | None = None
) -> torch.Tensor:
    q = case.q[first:last]
    out = buffers.new(*q.shape)
    attend(launcher, scalar_form(case.shape), q, case.rows, case.form, out, case.start, case.position, first)
    return out


@pytest.mark.parametrize(
    ("position", "tokens", "ratio", "top_k"),
    [
        (0, 5, 0, None),
        (126, 4, 0, None),
        (1000, 3, 0, None),
        (0, 9, 4, None),
        (301, 5, 4, None),
        (500, 4, 128, None),
        (100, 9, 4, 24),
        (700, 3, 4, 24),
    ],
)
def test_small_heads_match_float64(
    launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = random_case(random, buffers, SMALL, position, tokens, ratio, top_k)
    assert nmse(replay(launcher, lambda: run_case(launcher, buffers, case)), reference(case)) <= 1e-10


@pytest.mark.parametrize(("position", "tokens", "ratio", "top_k"), [(3, 2, 4, None), (150, 1, 4, 7)])
def test_flash_heads_match_float64(
    launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    tokens: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = random_case(random, buffers, FLASH, position, tokens, ratio, top_k)
    assert nmse(run_case(launcher, buffers, case), reference(case)) <= 1e-10


def test_a_band_equals_the_same_tokens_of_the_whole_step(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """Neither the split of a step into bands nor the answer's place in memory changes a bit."""
    case = random_case(random, buffers, SMALL, 90, 13, 4, 24)
    whole = run_case(launcher, buffers, case)
    parts = [run_case(launcher, buffers, case, first, last) for first, last in ((0, 1), (1, 8), (8, 13))]
    assert torch.equal(torch.cat(parts), whole)


@pytest.mark.parametrize("position", [0, 5, 127, 128, 1000])
def test_a_ring_equals_the_linear_rows(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, position: int
) -> None:
    """One token on the ring (its own row already in its slot) gives the bits of the same rows laid out in order."""
    case = random_case(random, buffers, SMALL, position, 1, 4 if position > 8 else 0)
    ring = buffers.new(128, 64, dtype=torch.float16)
    held = case.rows.raw[-min(position + 1, 128) :]
    ring[torch.arange(position + 1 - held.shape[0], position + 1) % 128] = held
    on_ring = replace(case, rows=replace(case.rows, raw=ring, is_ring=True))
    linear = run_case(launcher, buffers, case)
    assert torch.equal(run_case(launcher, buffers, on_ring), linear)
    assert nmse(linear, reference(on_ring)) <= 1e-10


def test_the_answer_may_overwrite_the_queries(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = random_case(random, buffers, SMALL, 40, 3)
    wanted = run_case(launcher, buffers, case)
    q = case.q.clone()
    attend(launcher, scalar_form(SMALL), q, case.rows, case.form, q, case.start, case.position)
    assert torch.equal(q, wanted)


def test_extents_are_checked_before_the_launch(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = random_case(random, buffers, SMALL, 40, 3, 4)
    for wrong, words in (
        (replace(case.rows, raw=case.rows.raw[:-1]), "raw rows"),
        (replace(case.rows, compressed=case.rows.compressed[:-1]), "compressed rows"),
        (replace(case.rows, plan=Plan.INDEXED), "needs ids"),
        (replace(case.rows, plan=Plan.WINDOW), "window plan"),
        (replace(case.rows, ratio=0), "compression ratio"),
        (replace(case.rows, is_ring=True), "ring"),
    ):
        with pytest.raises(KernelArgumentError, match=words):
            run_case(launcher, buffers, replace(case, rows=wrong))
