"""Decode products from quantised blocks: matrix times vector, and the two halves of the experts (device/matvec*.hip).

Activations go in as float32 and are rounded to 16-bit integers, normalised for each 32 of them (to F16 where the
weights are F16); sums within 32 are exact, those of the rest float32. A token's result does not depend on the other
tokens or on the machine's size.
"""

from dataclasses import dataclass
from functools import cache

import torch

from kernels.launch import Launcher
from kernels.ops.attention import is_amd_layout
from kernels.ops.checks import require, require_shape
from kernels.ops.formats import UNIT, WeightFormat
from kernels.source import KernelSource

WAVES = 8
_WIDE_UNIT_BYTES = 33  # bytes of 32 weights in formats of 8 bits and more
_PROLOGUE = 0.5  # what the start of a workgroup costs, in blocks of rows
_MOST_PASSES = 64
_ALONE = 1.5  # how much longer a workgroup takes that has its compute unit for itself: nothing hides its waits


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix [experts, rows, width] in blocks of `kind`: uint8 [experts * rows, row bytes], 16-byte aligned."""

    kind: WeightFormat
    blocks: torch.Tensor
    rows: int
    width: int
    experts: int = 1

    def __post_init__(self) -> None:
        require_shape("blocks", self.blocks, self.experts * self.rows, self.row_bytes)
        require(self.row_bytes % 4 == 0, f"rows of {self.row_bytes} bytes are not made of whole words")
        require(self.blocks.data_ptr() % 16 == 0, "weights must be aligned to 16 bytes")

    @property
    def row_bytes(self) -> int:
        return self.kind.row_bytes(self.width)


@dataclass(frozen=True, slots=True)
class Tiling:
    """Rows that a wave streams at a time, and how many chunks of 32 units ahead of their use they are brought.

    Neither changes a result. Without a copy engine a chunk travels in registers, so that `ahead` is 1.
    """

    rows: int
    ahead: int


def tiling_of(kind: WeightFormat, target: str) -> Tiling:
    """Enough bytes in flight, and few reads of the vector for each row."""
    is_wide = kind.value.bytes * UNIT / kind.value.block >= _WIDE_UNIT_BYTES
    return Tiling(2 if is_wide else 4, _chunks_ahead(kind, target))


def down_tiling_of(kind: WeightFormat, target: str) -> Tiling:
    """The same where a workgroup walks all experts of its rows: few rows, so that there are enough workgroups."""
    return Tiling(1 if kind is WeightFormat.F16 else 2, _chunks_ahead(kind, target))


def _chunks_ahead(kind: WeightFormat, target: str) -> int:
    return 1 if is_amd_layout(target) or kind is WeightFormat.F16 else 2


def matvec_source(kind: WeightFormat, width: int, target: str, tiling: Tiling | None = None) -> KernelSource:
    return _source("matvec", kind, width, target, tiling or tiling_of(kind, target))


def gate_up_source(kind: WeightFormat, width: int, target: str, tiling: Tiling | None = None) -> KernelSource:
    return _source("matvec_gate_up", kind, width, target, tiling or tiling_of(kind, target))


def down_source(kind: WeightFormat, width: int, used: int, target: str, tiling: Tiling | None = None) -> KernelSource:
    return _source("matvec_down", kind, width, target, tiling or down_tiling_of(kind, target), used)


def _source(
    name: str, kind: WeightFormat, width: int, target: str, tiling: Tiling, used: int | None = None
) -> KernelSource:
    is_aligned = kind.row_bytes(width) % 16 == 0
    slots = 1 if is_amd_layout(target) else tiling.ahead + 1
    pool = _vector_bytes(kind, (used or 1) * width) + WAVES * slots * tiling.rows * _chunk_bytes(kind, is_aligned)
    defines: tuple[tuple[str, int | str], ...] = (
        ("FORMAT", kind.value.device_name),
        ("ROWS", tiling.rows),
        ("WIDTH", width),
        ("ALIGNED", int(is_aligned)),
        ("AHEAD", tiling.ahead),
    )
    if used is not None:
        defines += (("USED", used),)
    return KernelSource(name, name, defines, WAVES * 32, pool)


def _vector_bytes(kind: WeightFormat, width: int) -> int:
    """LDS of an activation vector: 20 words and a scale for 32 of them, and two sums where they are integers."""
    words = width // UNIT * (21 if kind is WeightFormat.F16 else 23)
    return -(-words // 4) * 16


def _chunk_bytes(kind: WeightFormat, is_aligned: bool) -> int:
    """LDS of a row's chunk of 32 units (Chunk::ROW_STRIDE of device/stream.h)."""
    raw = 32 * UNIT // kind.value.block * kind.value.bytes
    pieces = (raw + (raw % 16 if is_aligned else 12) + 15) // 16
    return pieces * (20 if kind is WeightFormat.F16 else 16) + 16


def multiply(
    launcher: Launcher, matrix: Matrix, x: torch.Tensor, y: torch.Tensor, tiling: Tiling | None = None
) -> None:
    """x float32 [tokens, inputs, width] to y float32 [tokens, rows]; input i serves the i-th share of the rows."""
    tokens, inputs = x.shape[0], x.shape[1]
    require_shape("x", x, tokens, None, matrix.width)
    require_shape("y", y, tokens, matrix.rows)
    require(matrix.experts == 1, "a plain product has one matrix")
    target = launcher.device.target
    tiling = tiling or tiling_of(matrix.kind, target)
    group = WAVES * tiling.rows
    rows_an_input = matrix.rows // inputs
    aligned = inputs == 1 or (matrix.rows % inputs == 0 and rows_an_input % group == 0)
    require(aligned, f"{matrix.rows} rows of {inputs} inputs do not fill workgroups of {group}")
    passes = _passes(launcher, matrix.rows, group, tokens)
    while inputs > 1 and rows_an_input % (group * passes):
        passes -= 1
    launcher.kernel(matvec_source(matrix.kind, matrix.width, target, tiling))(
        (-(-matrix.rows // (group * passes)), tokens, 1),
        x=x,
        matrix=matrix.blocks,
        y=y,
        rows=matrix.rows,
        rows_an_input=rows_an_input,
        row_bytes=matrix.row_bytes,
        passes=passes,
    )


def gate_up(
    launcher: Launcher,
    gate: Matrix,
    up: Matrix,
    x: torch.Tensor,
    experts: torch.Tensor,
    inner: torch.Tensor,
    limit: float,
    tiling: Tiling | None = None,
) -> None:
    """x float32 [tokens, width] through the experts int32 [tokens, used] to inner float32 [tokens, used, rows]."""
    tokens, used = experts.shape
    require_shape("x", x, tokens, gate.width)
    require_shape("inner", inner, tokens, used, gate.rows)
    same = (gate.kind, gate.rows, gate.width, gate.experts) == (up.kind, up.rows, up.width, up.experts)
    require(same, "gate and up must have one shape and format")
    target = launcher.device.target
    tiling = tiling or tiling_of(gate.kind, target)
    group = WAVES * tiling.rows // 2
    passes = _passes(launcher, gate.rows, group, tokens * used)
    launcher.kernel(gate_up_source(gate.kind, gate.width, target, tiling))(
        (-(-gate.rows // (group * passes)), tokens * used, 1),
        x=x,
        gate=gate.blocks,
        up=up.blocks,
        experts=experts,
        inner=inner,
        rows=gate.rows,
        all_experts=gate.experts,
        used=used,
        row_bytes=gate.row_bytes,
        passes=passes,
        limit=limit,
    )


def down(
    launcher: Launcher,
    matrix: Matrix,
    inner: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
    shared: torch.Tensor,
    out: torch.Tensor,
    tiling: Tiling | None = None,
) -> None:
    """inner float32 [tokens, used, width] to out = shared + weighted sum over the experts in slot order.

    experts int32 and weights float32 [tokens, used]; shared and out float32 [tokens, rows] may be one tensor.
    """
    tokens, used = experts.shape
    require_shape("inner", inner, tokens, used, matrix.width)
    require_shape("weights", weights, tokens, used)
    require_shape("shared", shared, tokens, matrix.rows)
    require_shape("out", out, tokens, matrix.rows)
    target = launcher.device.target
    tiling = tiling or down_tiling_of(matrix.kind, target)
    group = WAVES * tiling.rows
    passes = _passes(launcher, matrix.rows, group, tokens)
    launcher.kernel(down_source(matrix.kind, matrix.width, used, target, tiling))(
        (-(-matrix.rows // (group * passes)), tokens, 1),
        inner=inner,
        matrix=matrix.blocks,
        experts=experts,
        weights=weights,
        shared=shared,
        out=out,
        rows=matrix.rows,
        all_experts=matrix.experts,
        row_bytes=matrix.row_bytes,
        passes=passes,
    )


def _passes(launcher: Launcher, rows: int, group_rows: int, columns: int) -> int:
    """How many blocks of rows each workgroup takes, so that all compute units end at about the same time."""
    return _best_passes(-(-rows // group_rows), columns, launcher.device.compute_units)


@cache
def _best_passes(blocks: int, columns: int, units: int) -> int:
    def cost(passes: int) -> float:
        rounds = -(-(-(-blocks // passes) * columns) // units)
        return rounds * (passes + _PROLOGUE) * (_ALONE if rounds == 1 else 1.0)

    return min(range(1, min(blocks, _MOST_PASSES) + 1), key=cost)
