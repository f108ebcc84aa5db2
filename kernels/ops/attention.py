"""Attention over selected rows: a band of tokens (shapes A, B and C), or one token with its rows cut into splits.

Called by the backends on the engine's worker thread. The forms themselves, which say kernel and workgroup, are those of
kernels.ops.attention_forms.
"""

from dataclasses import dataclass
from enum import IntEnum

import torch

from kernels.launch import Argument, Launcher
from kernels.ops.attention_forms import (
    COMBINE_THREADS,
    MOST_IDS,
    SPLIT_PARTIALS,
    AttentionForm,
    HeadShape,
    MatrixTiling,
    SplitForm,
    is_amd_layout,
    matrix_form,
    scalar_form,
    split_form,
    split_form_of,
    tiled_form,
)
from kernels.ops.checks import require, require_rows, require_shape

__all__ = [
    "AttentionForm",
    "AttentionRows",
    "HeadShape",
    "MatrixTiling",
    "Plan",
    "QueryRotation",
    "SplitForm",
    "attend",
    "attend_split",
    "is_amd_layout",
    "matrix_form",
    "scalar_form",
    "split_form",
    "split_form_of",
    "split_work_shape",
    "tiled_form",
]


class Plan(IntEnum):
    """How a launch finds compressed rows; the values are those of device/visibility.h."""

    WINDOW = 0  # raw rows only
    CONTIGUOUS = 1  # every visible compressed row
    INDEXED = 2  # an id list from token `selected_from` on, every visible row before it


@dataclass(frozen=True, slots=True)
class AttentionRows:
    """The rows of one layer in one step, as stored (F16).

    `raw` [P + N, width], or with `is_ring` the ring [window, width] that already holds the step's own token (N = 1);
    `compressed` [C, width] with exactly the rows that exist (for `attend_split`: with room for all that may). Under
    INDEXED, `ids` int32 [T', top_k] ascending and `counts` int32 [T'] belong to step tokens from `selected_from` on.
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
    if form.source.name != "attention_rows":
        arguments["tokens"] = tokens
    grid = (-(-tokens // form.queries), -(-form.shape.heads // form.group_heads), 1)
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


def split_work_shape(form: SplitForm, rows: AttentionRows) -> tuple[int, int, int]:
    """Shape of the float32 work buffer of `attend_split` for all rows with room: [splits, work heads, width + 4]."""
    return _most_splits(form, rows), form.work_heads, form.shape.width + SPLIT_PARTIALS


def attend_split(
    launcher: Launcher,
    form: SplitForm,
    q: torch.Tensor,
    rows: AttentionRows,
    rotation: QueryRotation,
    out: torch.Tensor,
    start: torch.Tensor,
    work: torch.Tensor,
) -> None:
    """Attention of the one token at position start[0], which only the device knows: the launch can be replayed.

    q float32 [1, heads, width] as projected, out float32 [1, heads, width] rotated back (it may be q). `rows` is a ring
    and has room for every row there may be; which of them exist follows from start[0], or from `counts` [1] for an id
    list. `work` float32 is of `split_work_shape`; its contents need not outlive the call.
    """
    _check_split(form, q, rows, rotation, out, work)
    common: dict[str, Argument] = {
        "counts": rows.counts,
        "cosines": rotation.cosines,
        "sines": rotation.sines,
        "work": work,
        "start": start,
        "ratio": rows.ratio,
        "compressed_rows": rows.compressed.shape[0],
        "plan": int(rows.plan),
        "top_k": 0 if rows.ids is None else rows.ids.shape[1],
    }
    splits, shape = _most_splits(form, rows), form.shape
    launcher.kernel(form.source)(
        (splits, form.work_heads // form.group_heads, 1),
        q=q,
        raw=rows.raw,
        compressed=rows.compressed,
        ids=rows.ids,
        epsilon=rotation.epsilon,
        **common,
    )
    grid = (shape.heads * shape.width // 2 // COMBINE_THREADS, 1, 1)
    launcher.kernel(form.combine)(grid, sinks=rotation.sinks, out=out, splits=splits, **common)


def _most_splits(form: SplitForm, rows: AttentionRows) -> int:
    """Splits of the full window and of all compressed rows that there is room for."""
    match rows.plan:
        case Plan.WINDOW:
            most = 0
        case Plan.CONTIGUOUS:
            most = rows.compressed.shape[0]
        case Plan.INDEXED:
            most = 0 if rows.ids is None else rows.ids.shape[1]
    return form.shape.window // form.rows + -(-most // form.rows)


def _check_split(
    form: SplitForm,
    q: torch.Tensor,
    rows: AttentionRows,
    rotation: QueryRotation,
    out: torch.Tensor,
    work: torch.Tensor,
) -> None:
    shape = form.shape
    require_shape("q", q, 1, shape.heads, shape.width)
    require_shape("out", out, 1, shape.heads, shape.width)
    require_shape("sinks", rotation.sinks, shape.heads)
    require_rows("cos", rotation.cosines, 1, shape.rotary // 2)
    require_rows("sin", rotation.sines, 1, shape.rotary // 2)
    require(rows.is_ring, "the split form reads raw rows from a ring")
    require_shape("ring", rows.raw, shape.window, shape.width)
    require_rows("compressed rows", rows.compressed, 0, shape.width)
    require((rows.plan is Plan.WINDOW) == (rows.ratio == 0), "compressed rows and a compression ratio go together")
    if rows.plan is Plan.INDEXED:
        require(rows.ids is not None and rows.selected_from == 0, "the token needs an id list of its own")
        _check_ids(rows, 1)
    splits, *row_shape = split_work_shape(form, rows)
    require_rows("work", work, splits, *row_shape)
