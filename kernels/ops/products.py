"""Prefill products with quantised weights on matrix cores: dense, and grouped by expert (device/product*.hip).

Activations are F16, weights are decoded to F16 on the way, sums are float32. Expert products walk a compact list
of (expert, tile) that the device builds; every order of addition is fixed.
"""

from dataclasses import dataclass

import torch

from kernels.launch import Launcher
from kernels.ops.attention import is_amd_layout
from kernels.ops.checks import require, require_rows, require_shape
from kernels.ops.formats import UNIT, WeightFormat
from kernels.ops.matvec import Matrix
from kernels.source import KernelSource

TILE_ROWS, TILE_COLUMNS = 128, 256


def product_source(name: str, kind: WeightFormat, width: int, target: str) -> KernelSource:
    """`name` is product, product_gate_up or product_down."""
    defines = (("FORMAT", kind.value.device_name), ("WIDTH", width))
    pool = _decoded_bytes() if is_amd_layout(target) else _raw_bytes(kind)
    return KernelSource(name, name, defines, 256, pool)


def _decoded_bytes() -> int:
    """LDS of device/product_lds.h: two buffers of one unit in F16, rows padded from 32 to 40."""
    return 2 * (TILE_ROWS + TILE_COLUMNS) * 40 * 2


def _raw_bytes(kind: WeightFormat) -> int:
    """LDS of device/product_registers.h: two stages, each four units of activations and a block or more of weights."""
    geometry = kind.value
    units = max(4, geometry.block // UNIT)
    pieces = -(-(units * UNIT // geometry.block * geometry.bytes + 12) // 16) | 1
    return 2 * (4 * TILE_ROWS * UNIT * 2 + TILE_COLUMNS * pieces * 16)


def counts_source() -> KernelSource:
    return KernelSource("expert_counts", "expert_counts", (), 256)


def lists_source() -> KernelSource:
    return KernelSource("expert_lists", "expert_lists", (("TILE", TILE_ROWS),), 256)


def combine_source(used: int) -> KernelSource:
    return KernelSource("experts_combine", "experts_combine", (("USED", used),), 256)


@dataclass(frozen=True, slots=True)
class WorkList:
    """Where (token, slot) pairs go. All int32 on the device; pair p is slot p mod used of token p // used.

    counts [experts]; order [pairs] and place [pairs], inverse of each other; tiles [most_tiles, 4]; tile_count [1].
    """

    counts: torch.Tensor
    order: torch.Tensor
    place: torch.Tensor
    tiles: torch.Tensor
    tile_count: torch.Tensor

    @classmethod
    def empty(cls, tokens: int, used: int, experts: int, device: torch.device) -> "WorkList":
        pairs = tokens * used

        def new(*shape: int) -> torch.Tensor:
            return torch.empty(shape, dtype=torch.int32, device=device)

        return cls(new(experts), new(pairs), new(pairs), new(most_tiles(pairs, experts), 4), new(1))


def most_tiles(pairs: int, experts: int) -> int:
    """The largest number of tiles that any routing of `pairs` can give."""
    return min(pairs, experts) + pairs // TILE_ROWS


def build_lists(launcher: Launcher, experts: torch.Tensor, lists: WorkList) -> None:
    """experts int32 [tokens, used], each below the number of experts, to the work list."""
    pairs, all_experts = experts.numel(), lists.counts.shape[0]
    require_shape("order", lists.order, pairs)
    require_shape("place", lists.place, pairs)
    require_rows("tiles", lists.tiles, most_tiles(pairs, all_experts), 4)
    require_shape("tile_count", lists.tile_count, 1)
    grid = (all_experts, 1, 1)
    launcher.kernel(counts_source())(grid, experts=experts, counts=lists.counts, pairs=pairs)
    launcher.kernel(lists_source())(
        grid,
        experts=experts,
        counts=lists.counts,
        order=lists.order,
        place=lists.place,
        tiles=lists.tiles,
        tile_count=lists.tile_count,
        pairs=pairs,
        all_experts=all_experts,
    )


def multiply(
    launcher: Launcher,
    matrix: Matrix,
    x: torch.Tensor,
    y: torch.Tensor,
    first_input: int = 0,
    first_output: int = 0,
) -> None:
    """x F16 [tokens, >= width] from column `first_input` to y float32 [tokens, >= rows] from column `first_output` on.

    The offsets serve grouped projections: each group's matrix is a part of the rows of one tensor.
    """
    tokens = x.shape[0]
    require_shape("x", x, tokens, None)
    require_shape("y", y, tokens, None)
    require(first_input % 8 == 0 and x.shape[1] % 8 == 0, "activation rows must be made of 16-byte pieces")
    require(first_input + matrix.width <= x.shape[1], f"x has {x.shape[1]} columns")
    require(first_output + matrix.rows <= y.shape[1], f"y has {y.shape[1]} columns")
    require(matrix.experts == 1, "a dense product has one matrix")
    grid = (-(-matrix.rows // TILE_COLUMNS), -(-tokens // TILE_ROWS), 1)
    launcher.kernel(product_source("product", matrix.kind, matrix.width, launcher.device.target))(
        grid,
        x=x,
        matrix=matrix.blocks,
        y=y,
        tokens=tokens,
        rows=matrix.rows,
        input_stride=x.shape[1],
        first_input=first_input,
        output_stride=y.shape[1],
        first_output=first_output,
    )


def gate_up(
    launcher: Launcher,
    gate: Matrix,
    up: Matrix,
    x: torch.Tensor,
    lists: WorkList,
    inner: torch.Tensor,
    limit: float,
) -> None:
    """x F16 [tokens, width] to inner F16 [pairs, rows] in sorted order: silu(min(gate, limit)) * clamp(up)."""
    pairs, tokens = lists.order.shape[0], x.shape[0]
    require_shape("x", x, tokens, gate.width)
    require(pairs % tokens == 0, f"{pairs} pairs do not belong to {tokens} tokens")
    require_shape("inner", inner, pairs, gate.rows)
    same = (gate.kind, gate.rows, gate.width, gate.experts) == (up.kind, up.rows, up.width, up.experts)
    require(same, "gate and up must have one shape and format")
    require_shape("counts", lists.counts, gate.experts)
    grid = (-(-gate.rows // (TILE_COLUMNS // 2)), most_tiles(pairs, gate.experts), 1)
    launcher.kernel(product_source("product_gate_up", gate.kind, gate.width, launcher.device.target))(
        grid,
        x=x,
        gate=gate.blocks,
        up=up.blocks,
        order=lists.order,
        tiles=lists.tiles,
        tile_count=lists.tile_count,
        inner=inner,
        rows=gate.rows,
        all_experts=gate.experts,
        used=pairs // tokens,
        limit=limit,
    )


def down(launcher: Launcher, matrix: Matrix, inner: torch.Tensor, lists: WorkList, outputs: torch.Tensor) -> None:
    """inner F16 [pairs, width] sorted to outputs float32 [pairs, rows], sorted."""
    pairs = lists.order.shape[0]
    require_shape("inner", inner, pairs, matrix.width)
    require_shape("outputs", outputs, pairs, matrix.rows)
    require_shape("counts", lists.counts, matrix.experts)
    grid = (-(-matrix.rows // TILE_COLUMNS), most_tiles(pairs, matrix.experts), 1)
    launcher.kernel(product_source("product_down", matrix.kind, matrix.width, launcher.device.target))(
        grid,
        inner=inner,
        matrix=matrix.blocks,
        tiles=lists.tiles,
        tile_count=lists.tile_count,
        outputs=outputs,
        rows=matrix.rows,
        all_experts=matrix.experts,
    )


def combine(
    launcher: Launcher,
    outputs: torch.Tensor,
    lists: WorkList,
    weights: torch.Tensor,
    shared: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """out = shared + sum over slots of weight * output; weights [tokens, used], shared, out float32 [tokens, width]."""
    tokens, used = weights.shape
    width = shared.shape[1]
    require_shape("outputs", outputs, tokens * used, width)
    require_shape("place", lists.place, tokens * used)
    require_shape("shared", shared, tokens, width)
    require_shape("out", out, tokens, width)
    require(width % 4 == 0, "rows must be made of 16-byte pieces")
    launcher.kernel(combine_source(used))(
        (-(-width // 1024), tokens, 1),
        outputs=outputs,
        place=lists.place,
        weights=weights,
        shared=shared,
        out=out,
        width=width,
    )
