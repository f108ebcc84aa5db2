"""Row finishing on the emulator against float64: norm, rotation, both low-precision formats, rings, odd row counts."""

import pytest
import torch

from engine.layers import rounding
from engine.layers.rope import rotate
from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops.rows import Rounding, RowForm, finish_rows
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

KINDS = {Rounding.NONE: rounding.KvRounding.F16, Rounding.E4M3: rounding.KvRounding.E4M3}


def angles(random: torch.Generator, positions: int, pairs: int) -> tuple[torch.Tensor, torch.Tensor]:
    turned = torch.rand(positions, pairs, generator=random) * 6.28
    return turned.cos(), turned.sin()


def reference(values: torch.Tensor, weight: torch.Tensor | None, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Float64 [rows, width]: norm, then rotation of the tail as adjacent pairs."""
    rows = values.double()
    if weight is not None:
        rows = rows * (rows.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt() * weight.double()
    return rotate(rows, cos.double(), sin.double())


@pytest.mark.parametrize(
    ("width", "rotary", "rows"),
    [(512, 64, 9), (512, 0, 1), (128, 64, 17), (1024, 0, 3), (192, 0, 8), (64, 16, 5), (32, 16, 2)],
)
def test_norm_and_rotation_match_float64(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, width: int, rotary: int, rows: int
) -> None:
    values, weight = torch.randn(rows, width, generator=random) * 3, torch.rand(width, generator=random) + 0.5
    cos, sin = angles(random, rows, rotary // 2)

    def run() -> torch.Tensor:
        out = buffers.new(rows, width)
        start = torch.zeros(1, dtype=torch.int32)
        finish_rows(launcher, RowForm(width, rotary), values, out, start, weight=weight, rotation=(cos, sin))
        return out

    assert nmse(replay(launcher, run), reference(values, weight, cos, sin)) <= 1e-10


@pytest.mark.parametrize(
    ("width", "rotary", "kind"), [(512, 64, Rounding.E4M3), (64, 16, Rounding.E4M3), (512, 64, Rounding.NONE)]
)
def test_stored_rows_are_the_engines_rows(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, width: int, rotary: int, kind: Rounding
) -> None:
    """Rows rounded by the kernel equal rows rounded by torch from the same unrounded values, bit for bit."""
    scale = torch.logspace(-4, 3, 13)[:, None]
    values, weight = torch.randn(13, width, generator=random) * scale, torch.rand(width, generator=random) + 0.5
    values[3] = 0
    values[4, : width // 2] = 0
    cos, sin = angles(random, 13, rotary // 2)
    start = torch.zeros(1, dtype=torch.int32)
    plain, stored = buffers.new(13, width), buffers.new(13, width, dtype=torch.float16)
    for form, out in ((RowForm(width, rotary), plain), (RowForm(width, rotary, rounding=kind, half=True), stored)):
        finish_rows(launcher, form, values, out, start, weight=weight, rotation=(cos, sin))
    assert torch.equal(stored, rounding.store_rows(plain, KINDS[kind], rotary))


@pytest.mark.parametrize(("width", "rotary"), [(128, 64), (32, 16)])
def test_indexer_rows_are_the_engines_rows(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, width: int, rotary: int
) -> None:
    """Hadamard and E2M1: equal codes wherever float32 rounding of the transform cannot move a value over an edge."""
    heads, positions = 3, 5
    values = torch.randn(heads * positions, width, generator=random)
    cos, sin = angles(random, positions, rotary // 2)
    start = torch.zeros(1, dtype=torch.int32)
    out = buffers.new(heads * positions, width, dtype=torch.float16)
    form = RowForm(width, rotary, weighted=False, rounding=Rounding.E2M1, half=True)
    finish_rows(launcher, form, values, out, start, rotation=(cos, sin), rows_per_position=heads)
    turned = rotate(values.double().view(positions, heads, width), cos.double(), sin.double()).view(-1, width)
    wanted = rounding.prepare_index(turned, rounding.KvRounding.E4M3)
    differing = (out.double() != wanted).float().mean()
    assert differing <= 0.002
    nudged = [rounding.prepare_index(turned * (1 + step), rounding.KvRounding.E4M3) for step in (-1e-5, 1e-5)]
    assert bool(((out == wanted) | (out == nudged[0]) | (out == nudged[1])).all())


def test_rows_go_to_their_ring_slots_and_nowhere_else(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    values, weight = torch.randn(5, 64, generator=random), torch.ones(64)
    ring = buffers.new(128, 64, dtype=torch.float16)
    start = torch.tensor([1149], dtype=torch.int32)  # slots 125, 126, 127, 0, 1
    finish_rows(launcher, RowForm(64, half=True), values, ring, start, weight=weight, ring=True)
    wanted = reference(values, weight, torch.ones(5, 0), torch.ones(5, 0))
    slots = [125, 126, 127, 0, 1]
    assert nmse(ring[slots], wanted) <= 1e-6
    untouched = [slot for slot in range(128) if slot not in slots]
    assert bool((ring[untouched].view(torch.int16) == -1).all())


def test_a_buffer_too_small_is_refused_before_the_launch(launcher: Launcher) -> None:
    start, values = torch.zeros(1, dtype=torch.int32), torch.zeros(9, 64)
    with pytest.raises(KernelArgumentError, match="out has shape"):
        finish_rows(launcher, RowForm(64), values, torch.zeros(8, 64), start, weight=torch.ones(64))
    with pytest.raises(KernelArgumentError, match="weight"):
        finish_rows(launcher, RowForm(64), values, torch.zeros(9, 64), start)
    with pytest.raises(KernelArgumentError, match="float"):
        finish_rows(launcher, RowForm(64), values, torch.zeros(9, 64).half(), start, weight=torch.ones(64))
    with pytest.raises(KernelArgumentError, match="ring"):
        half = torch.zeros(4, 64).half()
        finish_rows(launcher, RowForm(64, half=True), values, half, start, weight=torch.ones(64), ring=True)
