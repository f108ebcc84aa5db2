"""The lightning indexer: which compressed rows a token attends to once more are visible than it may use.

The reference in torch, by tiles of tokens; backends may answer faster. The selection is exact and a tie goes to the
lower row. Source: ds4-architecture 3.6, banded-prefill 2.3 and 4.2.
"""

from dataclasses import dataclass

import torch

from engine.layers.compressor import Compressor
from engine.layers.matrix import Matrix

_TILE_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Indexer:
    """Weights: q_b [Hi·di, q_rank] as the backend keeps matrices, and the compressor of its own rows."""

    q_b: Matrix
    compressor: Compressor


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows per token, from step token `first` on: ids int32 [T, K], ascending, valid up to counts int32 [T]."""

    first: int
    ids: torch.Tensor
    counts: torch.Tensor


def select_rows(
    queries: torch.Tensor, head_weights: torch.Tensor, rows: torch.Tensor, first_position: int, ratio: int, top_k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The `top_k` best visible rows of consecutive tokens, each of which sees more than `top_k`.

    queries [T, Hi, di] and head_weights [T, Hi] float32, rows [C, di] as stored; token t has position
    first_position + t and sees rows below (position + 1) // ratio. Returns ids int32 [T, top_k] ascending and
    counts int32 [T].
    """
    keys = rows.float().T
    ids = torch.empty(queries.shape[0], top_k, dtype=torch.int32)
    for start in range(0, queries.shape[0], _TILE_TOKENS):
        tile = slice(start, start + _TILE_TOKENS)
        scores = _tile_scores(queries[tile], head_weights[tile], keys)
        visible = (torch.arange(scores.shape[0]) + first_position + start + 1) // ratio
        hidden = torch.arange(scores.shape[1])[None, :] >= visible[:, None]
        hidden |= scores.isnan()  # last in the order, as in compiled code
        ids[tile] = top_rows(scores.masked_fill_(hidden, -torch.inf), top_k)
    return ids, torch.full((queries.shape[0],), top_k, dtype=torch.int32)


def _tile_scores(queries: torch.Tensor, head_weights: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Sum over heads of w·relu(q·k), one head at a time so that no tile x heads x rows tensor exists."""
    scores = torch.zeros(queries.shape[0], keys.shape[1])
    for head in range(queries.shape[1]):
        scores += head_weights[:, head, None] * (queries[:, head] @ keys).relu_()
    return scores


def top_rows(scores: torch.Tensor, top_k: int) -> torch.Tensor:
    """Column ids of the `top_k` largest of each row of scores [T, C], ascending; of equal scores the lower id wins.

    No score may be NaN.
    """
    threshold = scores.topk(top_k, dim=1).values[:, -1:]
    above = scores > threshold
    tied = scores == threshold
    room = top_k - above.sum(dim=1, keepdim=True)
    chosen = above | (tied & (tied.cumsum(dim=1) <= room))
    return chosen.nonzero()[:, 1].view(scores.shape[0], top_k).int()
