"""Attention over selected rows: shape A (device/attention_rows.hip), the scalar reference on the device."""

from dataclasses import dataclass
from enum import IntEnum

import torch

from kernels.launch import Launcher
from kernels.ops.checks import require, require_rows, require_shape
from kernels.source import KernelSource

HEADS_A_GROUP = 16


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

    def rows_source(self) -> KernelSource:
        """Shape A."""
        return KernelSource("attention_rows", "attention_rows", self.defines(), HEADS_A_GROUP * 32)


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
    shape: HeadShape,
    source: KernelSource,
    q: torch.Tensor,
    rows: AttentionRows,
    form: QueryRotation,
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
    _check(shape, q, rows, form, out, position, first_token)
    launcher.kernel(source)(
        (tokens, shape.heads // HEADS_A_GROUP, 1),
        q=q,
        raw=rows.raw,
        compressed=rows.compressed,
        ids=rows.ids,
        counts=rows.counts,
        sinks=form.sinks,
        cosines=form.cosines,
        sines=form.sines,
        out=out,
        start=start,
        first_token=first_token,
        ratio=rows.ratio,
        compressed_rows=rows.compressed.shape[0],
        plan=int(rows.plan),
        top_k=0 if rows.ids is None else rows.ids.shape[1],
        selected_from=rows.selected_from,
        is_ring=int(rows.is_ring),
        epsilon=form.epsilon,
    )


def _check(
    shape: HeadShape,
    q: torch.Tensor,
    rows: AttentionRows,
    form: QueryRotation,
    out: torch.Tensor,
    position: int,
    first_token: int,
) -> None:
    tokens = q.shape[0]
    last = first_token + tokens
    require_shape("q", q, None, shape.heads, shape.width)
    require_shape("out", out, tokens, shape.heads, shape.width)
    require_shape("sinks", form.sinks, shape.heads)
    require_rows("cos", form.cosines, last, shape.rotary // 2)
    require_rows("sin", form.sines, last, shape.rotary // 2)
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
    require_rows("ids", rows.ids, listed, rows.ids.shape[1])
    require_rows("counts", rows.counts, listed)
