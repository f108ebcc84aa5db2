"""Prefill products on the emulator, in both matrix layouts, against float64: every format, tails in every dimension."""

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops import products
from kernels.ops.formats import WeightFormat
from kernels.ops.matvec import Matrix
from kernels.ops.products import WorkList
from tests.kernels.hip.emulated import GuardedBuffers, emulated_launcher, nmse, replay
from tests.kernels.hip.test_matvec_kernels import LIMIT, SOME_KINDS, matrix, width_scale

CPU = torch.device("cpu")


def guarded_lists(buffers: GuardedBuffers, tokens: int, used: int, experts: int) -> WorkList:
    shapes = WorkList.empty(tokens, used, experts, CPU)
    new = [buffers.new(*t.shape, dtype=torch.int32) for t in (shapes.counts, shapes.order, shapes.place, shapes.tiles)]
    return WorkList(*new, buffers.new(1, dtype=torch.int32))


@pytest.mark.parametrize(("tokens", "experts"), [(1, 8), (50, 8), (343, 5), (171, 16), (64, 1)])
def test_the_work_list_is_sorted_stable_and_complete(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, tokens: int, experts: int
) -> None:
    """Uneven loads, an expert without work, more pairs than one round of the kernel takes."""
    chosen = torch.randint(0, experts, (tokens, 6), generator=random, dtype=torch.int32)
    if experts > 4:
        chosen[chosen == 3] = 1

    def run() -> tuple[torch.Tensor, ...]:
        lists = guarded_lists(buffers, tokens, 6, experts)
        products.build_lists(launcher, chosen, lists)
        return lists.counts, lists.order, lists.place, lists.tiles, lists.tile_count

    counts, order, place, tiles, tile_count = replay(launcher, run)
    flat = chosen.flatten().long()
    assert torch.equal(counts.long(), torch.bincount(flat, minlength=experts))
    assert torch.equal(order.long(), flat.argsort(stable=True))
    assert torch.equal(order[place.long()].long(), torch.arange(tokens * 6))
    wanted, row = [], 0
    for expert, count in enumerate(counts.tolist()):
        wanted += [[expert, row + at, min(128, count - at), 0] for at in range(0, count, 128)]
        row += count
    assert int(tile_count) == len(wanted) <= products.most_tiles(tokens * 6, experts)
    assert tiles[: len(wanted)].tolist() == wanted


def test_the_most_tiles_are_enough_for_any_routing() -> None:
    for pairs in range(1, 700, 7):
        for experts in (1, 3, 16):
            spread = [pairs // experts + (1 if e < pairs % experts else 0) for e in range(experts)]
            lopsided = [max(pairs - (experts - 1), 1), *[1] * min(experts - 1, pairs - 1)]
            for loads in (spread, lopsided):
                tiles = sum(-(-load // 128) for load in loads)
                assert tiles <= products.most_tiles(pairs, experts)


def test_the_pool_of_every_format_fits_a_multiprocessor() -> None:
    """The device checks `pool_bytes` against its own constants; here: 227 KiB less the lookup table."""
    for kind in WeightFormat:
        source = products.product_source("product", kind, 4096, "sm_90")
        assert source.pool_bytes <= (227 << 10) - 4 * 512, kind.name
        assert products.product_source("product", kind, 4096, "gfx1151").pool_bytes <= 61440, kind.name


def short_width(kind: WeightFormat) -> int:
    """Weights in a row of few blocks that is made of whole words."""
    return 512 if kind.value.block == 256 else 96 if kind.row_bytes(96) % 4 == 0 else 128


@pytest.mark.parametrize("kind", list(WeightFormat), ids=lambda kind: kind.name)
def test_dense_products_of_every_format(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    check_dense(matrix_launcher, buffers, random, kind, tokens=19, rows=35, width=short_width(kind))


@pytest.mark.parametrize("kind", list(WeightFormat), ids=lambda kind: kind.name)
def test_both_layouts_decode_a_weight_to_the_same_bits(
    emulator_folder: Path, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    """A token with a single 1 reads one column of weights, each of which is exact in its sum."""
    width, tokens, rows = short_width(kind), 32, 35
    held, weights = matrix(random, kind, rows, width)
    columns = torch.randperm(width, generator=random)[:tokens]
    x = functional.one_hot(columns, width).half()
    found = [buffers.new(tokens, rows) for _ in range(2)]
    for layout, y in zip(("amd", "nvidia"), found, strict=True):
        products.multiply(emulated_launcher(emulator_folder, layout), held, x, y)
    assert torch.equal(*found)
    assert nmse(found[0], weights[0][:, columns].T) <= 1e-6


@pytest.mark.parametrize(
    ("kind", "width"),
    [(WeightFormat.F16, 288), (WeightFormat.MXFP4, 896), (WeightFormat.Q2_K, 768), (WeightFormat.IQ2_XXS, 1024)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_dense_products_of_several_stages(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat, width: int
) -> None:
    """Where a copy engine brings raw blocks ahead: more stages than there is room for, the last one not full."""
    check_dense(matrix_launcher, buffers, random, kind, tokens=130, rows=9, width=width)


@pytest.mark.parametrize(("tokens", "rows"), [(1, 300), (129, 17), (128, 256), (200, 260), (40, 9)])
def test_dense_products_with_tails(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, tokens: int, rows: int
) -> None:
    check_dense(matrix_launcher, buffers, random, WeightFormat.Q8_0, tokens, rows, 64)


def check_dense(
    launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    kind: WeightFormat,
    tokens: int,
    rows: int,
    width: int,
) -> None:
    held, weights = matrix(random, kind, rows, width)
    x = torch.randn(tokens, width, generator=random).half()

    def run() -> torch.Tensor:
        y = buffers.new(tokens, rows)
        products.multiply(launcher, held, x, y)
        return y

    assert nmse(replay(launcher, run), x.double() @ weights[0].T) <= 1e-6


def test_a_tokens_product_does_not_depend_on_the_batch(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    held, _ = matrix(random, WeightFormat.MXFP4, 40, 128)
    x = torch.randn(140, 128, generator=random).half()
    whole = buffers.new(140, 40)
    products.multiply(matrix_launcher, held, x, whole)
    for first, last in ((0, 1), (100, 140), (127, 129)):
        part = buffers.new(last - first, 40)
        products.multiply(matrix_launcher, held, x[first:last], part)
        assert torch.equal(part, whole[first:last])


def test_columns_of_a_wider_input_and_output(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    held, weights = matrix(random, WeightFormat.Q8_0, 24, 64)
    x = torch.randn(5, 192, generator=random).half()
    y = buffers.new(5, 80)
    products.multiply(launcher, held, x, y, first_input=64, first_output=8)
    assert nmse(y[:, 8:32], x[:, 64:128].double() @ weights[0].T) <= 1e-6
    assert bool(y[:, :8].isnan().all()) and bool(y[:, 32:].isnan().all())


def run_experts(
    launcher: Launcher,
    buffers: GuardedBuffers,
    gate: Matrix,
    up: Matrix,
    low: Matrix,
    x: torch.Tensor,
    chosen: torch.Tensor,
    share: torch.Tensor,
    shared: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """All kernels of the routed experts; returns the sorted inner activations and the combined output."""
    tokens, used = chosen.shape
    lists = guarded_lists(buffers, tokens, used, gate.experts)
    products.build_lists(launcher, chosen, lists)
    inner = buffers.new(tokens * used, gate.rows, dtype=torch.float16)
    products.gate_up(launcher, gate, up, x, lists, inner, LIMIT)
    outputs = buffers.new(tokens * used, low.rows)
    products.down(launcher, low, inner, lists, outputs)
    out = buffers.new(tokens, low.rows)
    products.combine(launcher, outputs, lists, share, shared, out)
    return inner[lists.place.long()].view(tokens, used, -1), out


@pytest.mark.parametrize("kind", SOME_KINDS, ids=lambda kind: kind.name)
def test_routed_experts_match_float64(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    """Loads from no token to more than a tile; the clamp bites; outputs that fill no tile."""
    tokens, experts = 27, 5
    width = 512 if kind.value.block == 256 else 128
    rows = {256: 512, 32: 128}[kind.value.block] if kind is not WeightFormat.Q8_0 else 192
    check_experts(launcher, buffers, random, kind, tokens, experts, width, rows)


def test_routed_experts_in_both_matrix_layouts(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    check_experts(matrix_launcher, buffers, random, WeightFormat.MXFP4, tokens=40, experts=3, width=128, rows=128)


def check_experts(
    launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    kind: WeightFormat,
    tokens: int,
    experts: int,
    width: int,
    rows: int,
) -> None:
    gate, gate_weights = matrix(random, kind, rows, width, experts)
    up, up_weights = matrix(random, kind, rows, width, experts)
    low, low_weights = matrix(random, kind, 68, rows, experts)
    x = (torch.randn(tokens, width, generator=random) * 8 / width_scale(gate_weights, width)).half()
    chosen = torch.randint(0, experts, (tokens, 6), generator=random, dtype=torch.int32)
    chosen[chosen == 1] = 0
    share, shared = torch.rand(tokens, 6, generator=random), torch.randn(tokens, 68, generator=random)

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        return run_experts(launcher, buffers, gate, up, low, x, chosen, share, shared)

    inner, out = replay(launcher, run)
    g, u = (torch.stack([x.double() @ w[e].T for e in range(experts)]) for w in (gate_weights, up_weights))
    at = (chosen.long(), torch.arange(tokens)[:, None])
    wanted = functional.silu(g[at].clamp(max=LIMIT)) * u[at].clamp(-LIMIT, LIMIT)
    assert bool((g[at] > LIMIT).any()) and bool((u[at].abs() > LIMIT).any()), "the clamp must bite"
    assert nmse(inner, wanted) <= 1e-6
    routed = torch.einsum("tsk,tsrk,ts->tr", inner.double(), low_weights[chosen.long()], share.double())
    assert nmse(out, shared.double() + routed) <= 1e-6


def test_wrong_extents_are_refused(launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator) -> None:
    held, _ = matrix(random, WeightFormat.Q8_0, 24, 64)
    with pytest.raises(KernelArgumentError, match="columns"):
        products.multiply(launcher, held, torch.zeros(5, 64).half(), torch.zeros(5, 23))
    with pytest.raises(KernelArgumentError, match="16-byte"):
        products.multiply(launcher, held, torch.zeros(5, 68).half(), torch.zeros(5, 24))
    lists = guarded_lists(buffers, 5, 6, 4)
    with pytest.raises(KernelArgumentError, match="order"):
        products.build_lists(launcher, torch.zeros(4, 6, dtype=torch.int32), lists)
    with pytest.raises(KernelArgumentError, match="counts"):
        products.down(launcher, held, torch.zeros(30, 64).half(), lists, torch.zeros(30, 24))
