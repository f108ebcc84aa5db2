"""Attention over selected rows: scalar (shape A), on matrix cores (B), and several queries a walk (C).

Shapes B and C are one source (device/attention_matrix.hip) and give the same bits for a query; A
(device/attention_rows.hip) is the reference form in F32.
"""

from dataclasses import dataclass
from enum import IntEnum

import torch

from kernels.launch import Argument, Launcher
from kernels.ops.checks import require, require_rows, require_shape
from kernels.source import KernelSource

HEADS_A_GROUP = 16
MOST_IDS = 512  # the longest id list a token may have


class Plan(IntEnum):
    """How a launch finds compressed rows; the values are those of device/visibility.h."""

    WINDOW = 0  # raw rows only
    CONTIGUOUS = 1  # every visible compressed row
    INDEXED = 2  # an id list from token `selected_from` on, every visible row before it


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Query heads of a layer and the rows they share as key and value."""

    heads: int
    width: int
    rotary: int
    window: int = 128

    def defines(self) -> tuple[tuple[str, int], ...]:
        return (("HEADS", self.heads), ("WIDTH", self.width), ("ROTARY", self.rotary), ("WINDOW", self.window))


@dataclass(frozen=True, slots=True)
class AttentionForm:
    """One way to attend: a kernel, and how many queries and heads a workgroup of it takes."""

    source: KernelSource
    shape: HeadShape
    queries: int
    group_heads: int


@dataclass(frozen=True, slots=True)
class MatrixTiling:
    """Shape of a workgroup of the matrix form: (query, head) pairs are the 16-row tiles of A."""

    queries: int
    group_heads: int
    waves: int
    rows: int  # cache rows at a time, 16 or 32
    buffers: int  # of those rows in LDS, 1 or 2


def scalar_form(shape: HeadShape) -> AttentionForm:
    """Shape A."""
    source = KernelSource("attention_rows", "attention_rows", shape.defines(), HEADS_A_GROUP * 32)
    return AttentionForm(source, shape, 1, HEADS_A_GROUP)


def matrix_form(shape: HeadShape, target: str, queries: int = 1) -> AttentionForm:
    """Shape B (one query) or C (several, with as many fewer heads) for a target: gfx..., sm_... or the emulator's."""
    return tiled_form(shape, target, tiling_for(shape, target, queries))


def tiling_for(shape: HeadShape, target: str, queries: int) -> MatrixTiling:
    """The tiling we use. gfx11 has 64 KiB of LDS a workgroup and gathers values; NVIDIA has more and a copy engine."""
    is_amd = is_amd_layout(target)
    wide = shape.width >= 512
    pairs = 16 if not wide else 32 if is_amd else 64
    group_heads = max(min(shape.heads, pairs // queries), 16)
    waves = 4 if not wide else 16 if is_amd else 8
    return MatrixTiling(queries, group_heads, waves, rows=16 if is_amd else 32, buffers=1 if is_amd and wide else 2)


def tiled_form(shape: HeadShape, target: str, tiling: MatrixTiling) -> AttentionForm:
    """The matrix form with a given tiling (for comparisons; matrix_form chooses)."""
    defines = (
        *shape.defines(),
        ("QUERIES", tiling.queries),
        ("GROUP_HEADS", tiling.group_heads),
        ("WAVES", tiling.waves),
        ("ROWS", tiling.rows),
        ("BUFFERS", tiling.buffers),
        ("MOST_IDS", MOST_IDS),
    )
    pool = _pool_bytes(shape, tiling, is_amd_layout(target))
    source = KernelSource("attention_matrix", "attention_matrix", defines, tiling.waves * 32, pool)
    return AttentionForm(source, shape, tiling.queries, tiling.group_heads)


def is_amd_layout(target: str) -> bool:
    """Whether a target has AMD's matrix layout."""
    return target.startswith("gfx") or target.endswith("-amd")


def _pool_bytes(shape: HeadShape, tiling: MatrixTiling, is_amd: bool) -> int:
    """LDS of the matrix form: rows, the waves' shares of the scores, weights, softmax state, an id list."""
    pairs = tiling.queries * tiling.group_heads
    share_stride = tiling.rows if is_amd else tiling.rows + 4
    rows = tiling.buffers * tiling.rows * (shape.width + 8) * 2
    shares = tiling.waves * pairs * share_stride * 4
    return rows + shares + pairs * (tiling.rows + 8) * 2 + 3 * pairs * 4 + MOST_IDS * 4


@dataclass(frozen=True, slots=True)
class AttentionRows:
    """The rows of one layer in one step, as stored (F16).

    `raw` [P + N, width], or with `is_ring` the ring [window, width] that already holds the step's own token (N = 1);
    `compressed` [C, width] with exactly the rows that exist. Under INDEXED, `ids` int32 [T', top_k] ascending and
    `counts` int32 [T'] belong to step tokens from `selected_from` on.
    """

    plan: Plan
    raw: torch.Tensor
    compressed: torch.Tensor
    ratio: int
    ids: torch.Tensor | None = None
    counts: torch.Tensor | None = None
    selected_from: int = 0
    is_ring: bool = False


@dataclass(frozen=True, slots=True)
class QueryRotation:
    """cos and sin [N, rotary / 2] of the whole step, sinks [heads], and the query norm's epsilon."""

    cosines: torch.Tensor
    sines: torch.Tensor
    sinks: torch.Tensor
    epsilon: float = 1e-6


def attend(
    launcher: Launcher,
    form: AttentionForm,
    q: torch.Tensor,
    rows: AttentionRows,
    rotation: QueryRotation,
    out: torch.Tensor,
    start: torch.Tensor,
    position: int,
    first_token: int = 0,
) -> None:
    """Attention of step tokens first_token ... of a step that begins at `position` (held on the device in `start`).

    q float32 [T, heads, width] as projected: the kernel norms and rotates it. out float32 [T, heads, width], rotated
    back; it may be q itself.
    """
    tokens = q.shape[0]
    _check(form, q, rows, rotation, out, position, first_token)
    arguments: dict[str, Argument] = {
        "q": q,
        "raw": rows.raw,
        "compressed": rows.compressed,
        "ids": rows.ids,
        "counts": rows.counts,
        "sinks": rotation.sinks,
        "cosines": rotation.cosines,
        "sines": rotation.sines,
        "out": out,
        "start": start,
        "first_token": first_token,
        "ratio": rows.ratio,
        "compressed_rows": rows.compressed.shape[0],
        "plan": int(rows.plan),
        "top_k": 0 if rows.ids is None else rows.ids.shape[1],
        "selected_from": rows.selected_from,
        "is_ring": int(rows.is_ring),
        "epsilon": rotation.epsilon,
    }
    if form.source.name == "attention_matrix":
        arguments["tokens"] = tokens
    grid = (-(-tokens // form.queries), form.shape.heads // form.group_heads, 1)
    launcher.kernel(form.source)(grid, **arguments)


def _check(
    form: AttentionForm,
    q: torch.Tensor,
    rows: AttentionRows,
    rotation: QueryRotation,
    out: torch.Tensor,
    position: int,
    first_token: int,
) -> None:
    shape, tokens = form.shape, q.shape[0]
    last = first_token + tokens
    several = form.queries > 1 and rows.plan is Plan.INDEXED and last > rows.selected_from
    require(not several, "queries with id lists of their own cannot share a walk")
    require_shape("q", q, None, shape.heads, shape.width)
    require_shape("out", out, tokens, shape.heads, shape.width)
    require_shape("sinks", rotation.sinks, shape.heads)
    require_rows("cos", rotation.cosines, last, shape.rotary // 2)
    require_rows("sin", rotation.sines, last, shape.rotary // 2)
    if rows.is_ring:
        require_shape("ring", rows.raw, shape.window, shape.width)
        require(tokens == 1 and first_token == 0, "a ring serves steps of one token")
    else:
        require_rows("raw rows", rows.raw, min(position, shape.window) + last, shape.width)
    require_rows("compressed rows", rows.compressed, 0, shape.width)
    match rows.plan:
        case Plan.WINDOW:
            require(rows.ratio == 0, "a window plan has no compressed rows")
        case Plan.CONTIGUOUS:
            require(rows.ratio > 0, "a contiguous plan needs a compression ratio")
        case Plan.INDEXED:
            require(rows.ratio > 0, "an indexed plan needs a compression ratio")
            _check_ids(rows, last)
    if rows.plan is not Plan.WINDOW:
        wanted = (position + last) // rows.ratio
        require(rows.compressed.shape[0] >= wanted, f"{rows.compressed.shape[0]} compressed rows, {wanted} are visible")


def _check_ids(rows: AttentionRows, last: int) -> None:
    listed = max(last - rows.selected_from, 0)
    if rows.ids is None or rows.counts is None:
        require(listed == 0, "an indexed plan needs ids and counts")
        return
    require(rows.ids.shape[1] <= MOST_IDS, f"lists of {rows.ids.shape[1]} rows are longer than {MOST_IDS}")
    require_rows("ids", rows.ids, listed, rows.ids.shape[1])
    require_rows("counts", rows.counts, listed)
