"""Attention of each token over the rows it may see, gathered without a mask of any size.

The reference in torch; backends may answer the same call faster. Tokens are grouped so that all of a group see
equally many rows; their rows are then a plain [T, R, d] tensor and softmax needs no masking. Rows come in ascending
order: raw window, then compressed rows. Source: ds4-architecture 3.3, banded-prefill 4.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from engine.layers.indexer import Selection
from engine.layers.norm import rms_norm
from engine.layers.rope import rotate
from engine.plan import AttentionPlan, Band, Visibility

_GROUP_TOKENS = 64


@dataclass(frozen=True, slots=True)
class RowSpace:
    """What a layer's queries may attend to: raw [P+N, d] (prior, then current) and compressed [C, d], as stored."""

    raw: torch.Tensor
    compressed: torch.Tensor
    view: Visibility
    plan: AttentionPlan
    selection: Selection | None


@dataclass(frozen=True, slots=True)
class QueryForm:
    """How raw projections become queries: sinks [H], cos and sin [N, pairs] of the whole step, the norm's epsilon."""

    sinks: torch.Tensor
    cos: torch.Tensor
    sin: torch.Tensor
    eps: float


def attend(q: torch.Tensor, band: Band, space: RowSpace, form: QueryForm) -> torch.Tensor:
    """Attention output of the band's tokens: q [T, H, d] as projected, result float32 [T, H, d], rotated back.

    Queries are normed per head without weight and rotated here; each head's sink joins the denominator only.
    """
    cos, sin = form.cos[band.start : band.stop], form.sin[band.start : band.stop]
    q = rotate(rms_norm(q, None, form.eps), cos, sin)
    out = torch.empty_like(q)
    raw, compressed = space.raw.float(), space.compressed.float()
    for first, last in _groups(band, space):
        rows = _group_rows(first, last, raw, compressed, space)
        local = slice(first - band.start, last - band.start)
        out[local] = _softmax_rows(q[local], rows, form.sinks)
    return rotate(out, cos, sin, inverse=True)


def _softmax_rows(q: torch.Tensor, rows: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
    """q [T, H, d], rows [T, R, d]: softmax over rows and sink, weighted sum of the rows."""
    scores = torch.bmm(q, rows.transpose(1, 2)).mul(q.shape[-1] ** -0.5)
    largest = torch.maximum(scores.amax(dim=2, keepdim=True), sinks[None, :, None])
    weights = (scores - largest).exp()
    total = weights.sum(dim=2, keepdim=True) + (sinks[None, :, None] - largest).exp()
    return torch.bmm(weights, rows) / total


def _groups(band: Band, space: RowSpace) -> Iterator[tuple[int, int]]:
    """Consecutive tokens [first, last) that see equally many raw rows and equally many compressed rows.

    Tokens that select are never grouped with those that see all: at the border both see `top_k` rows, but others.
    """
    first = band.start
    while first < band.stop:
        last = first + 1
        while (
            last < band.stop and last - first < _GROUP_TOKENS and _row_counts(last, space) == _row_counts(first, space)
        ):
            last += 1
        yield first, last
        first = last


def _row_counts(t: int, space: RowSpace) -> tuple[int, int, bool]:
    view = space.view
    return view.raw_last(t) - view.raw_first(t), _compressed_count(t, space), _selects(t, space)


def _selects(t: int, space: RowSpace) -> bool:
    return space.selection is not None and t >= space.selection.first


def _compressed_count(t: int, space: RowSpace) -> int:
    if space.selection is not None and t >= space.selection.first:
        return space.selection.ids.shape[1]
    return space.view.visible(t)


def _group_rows(first: int, last: int, raw: torch.Tensor, compressed: torch.Tensor, space: RowSpace) -> torch.Tensor:
    """The group's rows, ascending: [T, raw rows + compressed rows, d]."""
    view, selection = space.view, space.selection
    width = view.raw_last(first) - view.raw_first(first) + 1
    begin = view.raw_first(first)
    windows = raw[begin : view.raw_last(last - 1) + 1].unfold(0, width, 1).transpose(1, 2)
    count = _compressed_count(first, space)
    if not count:
        return windows
    if selection is not None and first >= selection.first:
        ids = selection.ids[first - selection.first : last - selection.first].long()
        return torch.cat([windows, compressed[ids]], dim=1)
    return torch.cat([windows, compressed[:count].expand(last - first, -1, -1)], dim=1)
