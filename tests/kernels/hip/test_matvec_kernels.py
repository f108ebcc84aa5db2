"""Decode products from every block format on the emulator, in both vendors' arithmetic, against float64."""

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops import matvec
from kernels.ops.formats import WeightFormat
from kernels.ops.matvec import Matrix, Tiling
from tests.kernels.hip.emulated import GuardedBuffers, emulated_launcher, nmse, replay
from tests.kernels.hip.weight_blocks import random_weights

KINDS = list(WeightFormat)
# For the kernels that share the plain product's streaming: two rows at a time, four, blocks of 256, offsets, tables.
SOME_KINDS = [
    WeightFormat.Q8_0,
    WeightFormat.MXFP4,
    WeightFormat.Q2_K,
    WeightFormat.ROCMFP2_AFFINE,
    WeightFormat.IQ2_XXS,
]
LIMIT = 10.0


def aligned(blocks: torch.Tensor) -> torch.Tensor:
    """The same bytes between guard bytes, on a 16-byte boundary, as the last thing before memory that is poison."""
    store = torch.full((blocks.numel() + 64,), 0xFF, dtype=torch.uint8)
    shift = -store.data_ptr() % 16
    view = store[shift : shift + blocks.numel()]
    view.copy_(blocks.flatten())
    return view.view(blocks.shape)


def matrix(
    random: torch.Generator, kind: WeightFormat, rows: int, width: int, experts: int = 1
) -> tuple[Matrix, torch.Tensor]:
    blocks, weights = random_weights(random, kind, rows, width, experts)
    return Matrix(kind, aligned(blocks), rows, width, experts), weights


def width_of(kind: WeightFormat, blocks: int = 3) -> int:
    return kind.value.block * blocks if kind.value.block == 256 else 128 * blocks


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_format_matches_float64(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    """Rows that fill no workgroup, a width that fills no chunk, activations of very different sizes."""
    rows, width = 37, width_of(kind)
    if kind is WeightFormat.IQ2_XXS:
        width = 1024  # rows of whole words
    held, weights = matrix(random, kind, rows, width)
    x = torch.randn(2, 1, width, generator=random) * torch.logspace(-3, 3, width)

    def run() -> torch.Tensor:
        y = buffers.new(2, rows)
        matvec.multiply(matrix_launcher, held, x, y)
        return y

    assert nmse(replay(matrix_launcher, run), x[:, 0].double() @ weights[0].T) <= 1e-6


@pytest.mark.parametrize("width", [64, 1024, 1152, 4096, 12_544])
def test_rows_of_one_or_many_chunks(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, width: int
) -> None:
    """Whole chunks of 32 units, a few units more, more than threads take at once, rows that begin inside a piece."""
    held, weights = matrix(random, WeightFormat.ROCMFP4, 19, width)
    x = torch.randn(1, 1, width, generator=random)
    y = buffers.new(1, 19)
    matvec.multiply(matrix_launcher, held, x, y)
    assert nmse(y, x[:, 0].double() @ weights[0].T) <= 1e-6


def test_the_split_into_workgroups_changes_no_bit(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, _ = matrix(random, WeightFormat.Q8_0, 200, 256)
    x = torch.randn(3, 1, 256, generator=random)
    results = []
    for units in (1, 2, 1000):
        monkeypatch.setattr(matrix_launcher.device, "compute_units", units, raising=False)
        y = buffers.new(3, 200)
        matvec.multiply(matrix_launcher, held, x, y)
        alone = buffers.new(1, 200)
        matvec.multiply(matrix_launcher, held, x[1:2], alone)
        assert torch.equal(alone[0], y[1])
        results.append(y)
    assert torch.equal(results[0], results[1]) and torch.equal(results[1], results[2])


@pytest.mark.parametrize("tiling", [Tiling(1, 3), Tiling(8, 1), Tiling(4, 4)], ids=str)
def test_tilings_change_no_bit(
    emulator_folder: Path, buffers: GuardedBuffers, random: torch.Generator, tiling: Tiling
) -> None:
    """More chunks ahead than there are, and rows a wave that leave the last waves without work."""
    launcher = emulated_launcher(emulator_folder, "nvidia")
    held, _ = matrix(random, WeightFormat.ROCMFP4, 70, 2048)
    x = torch.randn(1, 1, 2048, generator=random)
    usual, other = buffers.new(1, 70), buffers.new(1, 70)
    matvec.multiply(launcher, held, x, usual)
    matvec.multiply(launcher, held, x, other, tiling)
    assert torch.equal(usual, other)


def test_grouped_inputs_serve_their_own_rows(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """The output projection: eight groups of rows, each with its own vector."""
    held, weights = matrix(random, WeightFormat.Q8_0, 8 * 32, 256)
    x = torch.randn(2, 8, 256, generator=random)
    y = buffers.new(2, 8 * 32)
    matvec.multiply(matrix_launcher, held, x, y)
    wanted = torch.einsum("tgk,grk->tgr", x.double(), weights[0].view(8, 32, 256)).flatten(1)
    assert nmse(y, wanted) <= 1e-6


@pytest.mark.parametrize("value", [0.0, 1e-20, 1e30])
def test_activations_of_extreme_size(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, value: float
) -> None:
    """Zero stays zero; neither tiny nor huge vectors lose their shape or overflow F16."""
    held, weights = matrix(random, WeightFormat.Q8_0, 16, 128)
    x = torch.randn(1, 1, 128, generator=random) * value
    y = buffers.new(1, 16)
    matvec.multiply(matrix_launcher, held, x, y)
    if value:
        assert nmse(y, x[:, 0].double() @ weights[0].T) <= 1e-6
    else:
        assert not y.any()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_outliers_and_empty_units(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    """One huge activation in each 32, the others far below it; every fourth 32 are zeros."""
    rows, width = 9, 1024
    held, weights = matrix(random, kind, rows, width)
    x = torch.randn(2, width // 32, 32, generator=random)
    x[:, :, int(torch.randint(32, (1,), generator=random))] *= 3e3
    x[:, ::4] = 0
    x = x.view(2, 1, width)
    y = buffers.new(2, rows)
    matvec.multiply(matrix_launcher, held, x, y)
    assert nmse(y, x[:, 0].double() @ weights[0].T) <= 1e-6


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not WeightFormat.F16], ids=lambda kind: kind.name)
def test_activations_that_are_integers_lose_nothing(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    """Both planes in full: integers up to the largest there is leave only the rounding of float32 sums."""
    held, weights = matrix(random, kind, 9, 1024)
    x = torch.randint(-32639, 32640, (1, 1, 1024), generator=random).float()
    x[0, 0, ::32], x[0, 0, 16::32] = 32639, -32639
    y = buffers.new(1, 9)
    matvec.multiply(matrix_launcher, held, x, y)
    assert nmse(y, x[:, 0].double() @ weights[0].T) <= 1e-12


@pytest.mark.parametrize("kind", [WeightFormat.F16, WeightFormat.Q8_0], ids=lambda kind: kind.name)
def test_activations_that_are_no_numbers_show(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    """NaN and infinity reach every row; what is far too small for float32 arithmetic counts as zero."""
    held, _ = matrix(random, kind, 9, 128)
    for value, is_fine in ((float("nan"), False), (float("inf"), False), (1e-40, True)):
        x = torch.randn(1, 1, 128, generator=random)
        x[0, 0, 32:64] = 0
        x[0, 0, 45] = value
        y = buffers.new(1, 9)
        matvec.multiply(matrix_launcher, held, x, y)
        assert bool(y.isfinite().all()) is is_fine and bool(y.isfinite().any()) is is_fine


@pytest.mark.parametrize("kind", SOME_KINDS, ids=lambda kind: kind.name)
def test_gate_and_up_of_the_chosen_experts(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    rows, width, tokens = 21, 1024 if kind is WeightFormat.IQ2_XXS else width_of(kind, 1), 2
    gate, gate_weights = matrix(random, kind, rows, width, experts=5)
    up, up_weights = matrix(random, kind, rows, width, experts=5)
    x = torch.randn(tokens, width, generator=random) * 8 / width_scale(gate_weights, width)
    experts = torch.tensor([[4, 0, 2, 2, 1, 3], [0, 4, 4, 3, 1, 2]], dtype=torch.int32)

    def run() -> torch.Tensor:
        inner = buffers.new(tokens, 6, rows)
        matvec.gate_up(matrix_launcher, gate, up, x, experts, inner, LIMIT)
        return inner

    g = torch.einsum("tk,tsrk->tsr", x.double(), gate_weights[experts.long()])
    u = torch.einsum("tk,tsrk->tsr", x.double(), up_weights[experts.long()])
    assert bool((g > LIMIT).any()) and bool((u.abs() > LIMIT).any()), "the clamp must bite"
    wanted = functional.silu(g.clamp(max=LIMIT)) * u.clamp(-LIMIT, LIMIT)
    assert nmse(replay(matrix_launcher, run), wanted) <= 1e-6


def width_scale(weights: torch.Tensor, width: int) -> float:
    """The size of a product of unit activations."""
    return float(weights.square().mean().sqrt()) * width**0.5


@pytest.mark.parametrize("kind", SOME_KINDS, ids=lambda kind: kind.name)
def test_down_adds_the_experts_in_slot_order_to_the_shared_one(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    rows, width, tokens = 35, 512 if kind is WeightFormat.IQ2_XXS else width_of(kind, 1), 2
    held, weights = matrix(random, kind, rows, width, experts=4)
    inner = torch.randn(tokens, 6, width, generator=random)
    experts = torch.tensor([[3, 0, 2, 2, 1, 3], [0, 1, 3, 3, 1, 2]], dtype=torch.int32)
    share, shared = torch.rand(tokens, 6, generator=random), torch.randn(tokens, rows, generator=random)

    def run() -> torch.Tensor:
        out = buffers.new(tokens, rows)
        matvec.down(matrix_launcher, held, inner, experts, share, shared, out)
        return out

    found = replay(matrix_launcher, run)
    routed = torch.einsum("tsk,tsrk,ts->tr", inner.double(), weights[experts.long()], share.double())
    assert nmse(found, shared.double() + routed) <= 1e-6
    in_place = shared.clone()
    matvec.down(matrix_launcher, held, inner, experts, share, in_place, in_place)
    assert torch.equal(in_place, found)


def test_wrong_matrices_are_refused(launcher: Launcher, random: torch.Generator) -> None:
    blocks, _ = random_weights(random, WeightFormat.Q8_0, 32, 128)
    with pytest.raises(KernelArgumentError, match="blocks has shape"):
        Matrix(WeightFormat.Q8_0, blocks, 31, 128)
    with pytest.raises(KernelArgumentError, match="whole words"):
        Matrix(WeightFormat.MXFP4, torch.zeros(4, 17, dtype=torch.uint8), 4, 32)
    store = torch.zeros(32 * 136 + 16, dtype=torch.uint8)
    shift = (-store.data_ptr() % 16) + 4
    with pytest.raises(KernelArgumentError, match="aligned to 16"):
        Matrix(WeightFormat.Q8_0, store[shift : shift + 32 * 136].view(32, 136), 32, 128)
    held, _ = matrix(random, WeightFormat.Q8_0, 48, 128)
    with pytest.raises(KernelArgumentError, match="do not fill"):
        matvec.multiply(launcher, held, torch.zeros(1, 2, 128), torch.zeros(1, 48))
