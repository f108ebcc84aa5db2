"""The attention sublayer over whole sequences, with gradients, and the indexer's own loss.

Raw rows are read in blocks of one window, compressed rows all at once under a mask, so the cost grows with T·(256 +
T/ratio). The indexer learns from a KL term against the attention it should predict, with its inputs detached, while its
selection is in force. Source: ds4-architecture 3; tests hold it to engine.layers.attention.
"""

from typing import NamedTuple

import torch
from recipe.student_parts import linear, pool_windows, rotate
from torch import Tensor

from engine.layers.norm import rms_norm
from engine.plan import RAW_WINDOW


class AttentionWeights(NamedTuple):
    """As the GGUF tensors of the same meaning, master weights in float32: ds4-architecture 7.2."""

    q_a: Tensor
    q_a_norm: Tensor
    q_b: Tensor
    kv: Tensor
    kv_norm: Tensor
    sinks: Tensor
    out_a: Tensor
    out_b: Tensor


class PoolWeights(NamedTuple):
    """A compressor: kv and gate [c·d, D], ape [r, c·d], norm [d]."""

    kv: Tensor
    gate: Tensor
    ape: Tensor
    norm: Tensor


class IndexWeights(NamedTuple):
    """The indexer: queries [Hi·di, q_rank], head weights [Hi, D], and its compressor."""

    q_b: Tensor
    heads: Tensor
    pool: PoolWeights


class Sizes(NamedTuple):
    """The numbers that the sublayer needs besides its weights."""

    heads: int
    head_dim: int
    groups: int
    index_heads: int
    index_dim: int
    top_k: int
    eps: float
    selects: bool


class Rotation(NamedTuple):
    """cos and sin, float32 [T, pairs], of every position with the layer's frequencies."""

    cos: Tensor
    sin: Tensor

    def every(self, ratio: int) -> "Rotation":
        """Those of the first position of each whole window."""
        count = self.cos.shape[0] // ratio
        return Rotation(self.cos[::ratio][:count], self.sin[::ratio][:count])


def attention(
    x: Tensor,
    weights: AttentionWeights,
    pool: PoolWeights | None,
    index: IndexWeights | None,
    turn: Rotation,
    sizes: Sizes,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """The sublayer's output and the indexer's loss (0 without one); x and output float32 [B, T, D], T % 128 = 0."""
    qa = rms_norm(linear(x, weights.q_a, dtype), weights.q_a_norm, sizes.eps)
    q = linear(qa, weights.q_b, dtype).unflatten(-1, (sizes.heads, sizes.head_dim))
    q = rotate(rms_norm(q, None, sizes.eps), turn.cos[:, None], turn.sin[:, None]).to(dtype)
    rows = rotate(rms_norm(linear(x, weights.kv, dtype), weights.kv_norm, sizes.eps), turn.cos, turn.sin).to(dtype)
    logits = [_window_logits(q, rows, sizes)]
    compressed = visible = selected = index_scores = None
    if pool is not None:
        compressed = _pooled(x, pool, turn, sizes.eps).to(dtype)
        visible = visible_rows(x.shape[1], pool.ape.shape[0], x.device)
        dense = _scores(q, compressed, sizes).masked_fill(~visible[:, None], -torch.inf)
        if index is not None:
            index_scores = _index_scores(x.detach(), qa.detach(), index, turn, sizes, dtype)
            index_scores = index_scores.masked_fill(~visible, -torch.inf)
            selected = select(index_scores.detach(), sizes.top_k) if sizes.selects else None
        logits.append(dense if selected is None else dense.masked_fill(~selected[:, :, None], -torch.inf))
    total = torch.cat([*logits, weights.sinks.expand(*q.shape[:2], -1)[..., None]], dim=-1).logsumexp(-1, keepdim=True)
    out = _window_values((logits[0] - total).exp().to(dtype), rows)
    loss = x.new_zeros(())
    if compressed is not None and visible is not None:
        shares = (logits[1] - total).exp().to(dtype)
        out = out + torch.matmul(shares.flatten(1, 2), compressed).unflatten(1, shares.shape[1:3])
        if index_scores is not None:
            loss = _index_loss(index_scores, (dense.detach() - total.detach()), visible)
    out = rotate(out.float(), turn.cos[:, None], -turn.sin[:, None])
    return _project_out(out, weights, sizes, dtype), loss


def _project_out(out: Tensor, weights: AttentionWeights, sizes: Sizes, dtype: torch.dtype) -> Tensor:
    """Grouped low-rank output of out [B, T, H, d]."""
    grouped = out.flatten(2).unflatten(2, (sizes.groups, -1)).to(dtype)
    narrow = torch.einsum("btgc,grc->btgr", grouped, weights.out_a.to(dtype).unflatten(0, (sizes.groups, -1)))
    return linear(narrow.flatten(2), weights.out_b, dtype).float()


def _pooled(x: Tensor, pool: PoolWeights, turn: Rotation, eps: float) -> Tensor:
    """Compressed rows float32 [B, C, d]; in float32 throughout, as the engine computes them."""
    pooled = rms_norm(pool_windows(x @ pool.kv.T, x @ pool.gate.T, pool.ape), pool.norm, eps)
    return rotate(pooled, *turn.every(pool.ape.shape[0]))


def visible_rows(tokens: int, ratio: int, device: torch.device) -> Tensor:
    """bool [T, C]: row i is visible to position p when i < (p + 1) // ratio."""
    limits = (torch.arange(tokens, device=device) + 1) // ratio
    return torch.arange(tokens // ratio, device=device)[None, :] < limits[:, None]


def _window_logits(q: Tensor, rows: Tensor, sizes: Sizes) -> Tensor:
    """Scores float32 [B, T, H, 256] against the own block and the one before; -inf outside the window."""
    blocks = q.shape[1] // RAW_WINDOW
    queries = q.unflatten(1, (blocks, RAW_WINDOW)).flatten(2, 3)
    scores = torch.matmul(queries, _pairs_of_blocks(rows).transpose(-1, -2)).float() * sizes.head_dim**-0.5
    scores = scores.unflatten(2, (RAW_WINDOW, sizes.heads))
    at, key = torch.arange(RAW_WINDOW, device=q.device), torch.arange(2 * RAW_WINDOW, device=q.device)
    is_near = (key[None, :] > at[:, None]) & (key[None, :] <= at[:, None] + RAW_WINDOW)
    is_there = (torch.arange(blocks, device=q.device)[:, None] > 0) | (key[None, :] >= RAW_WINDOW)
    keep = is_near[None, :, None] & is_there[:, None, None]
    return scores.masked_fill(~keep, -torch.inf).flatten(1, 2)


def _pairs_of_blocks(rows: Tensor) -> Tensor:
    """[B, T, d] to [B, blocks, 256, d]: each block of 128 rows behind the one before (zeros before the first)."""
    blocks = rows.unflatten(1, (-1, RAW_WINDOW))
    before = torch.cat([torch.zeros_like(blocks[:, :1]), blocks[:, :-1]], dim=1)
    return torch.cat([before, blocks], dim=2)


def _window_values(shares: Tensor, rows: Tensor) -> Tensor:
    """The weighted sums [B, T, H, d] of shares [B, T, H, 256]."""
    heads = shares.shape[2]
    blocked = shares.unflatten(1, (-1, RAW_WINDOW)).flatten(2, 3)
    return torch.matmul(blocked, _pairs_of_blocks(rows)).unflatten(2, (RAW_WINDOW, heads)).flatten(1, 2)


def _scores(q: Tensor, compressed: Tensor, sizes: Sizes) -> Tensor:
    """Scores float32 [B, T, H, C]; the one key head serves all query heads, so they are rows of one product."""
    scores = torch.matmul(q.flatten(1, 2), compressed.transpose(1, 2)).float() * sizes.head_dim**-0.5
    return scores.unflatten(1, (q.shape[1], sizes.heads))


def _index_scores(
    x: Tensor, qa: Tensor, index: IndexWeights, turn: Rotation, sizes: Sizes, dtype: torch.dtype
) -> Tensor:
    """Scores float32 [B, T, C]: sum over heads of w · relu(q · k)."""
    queries = linear(qa, index.q_b, dtype).float().unflatten(-1, (sizes.index_heads, sizes.index_dim))
    queries = rotate(queries, turn.cos[:, None], turn.sin[:, None]).to(dtype)
    rows = _pooled(x, index.pool, turn, sizes.eps).to(dtype)
    heads = (x @ index.heads.T) * (sizes.index_dim * sizes.index_heads) ** -0.5
    each = torch.matmul(queries.flatten(1, 2), rows.transpose(1, 2)).unflatten(1, queries.shape[1:3])
    return (each.float().relu() * heads[..., None]).sum(dim=2)


def select(scores: Tensor, top_k: int) -> Tensor:
    """bool [B, T, C]: the `top_k` best of each row's scores; of equal ones the lower row (engine.layers.indexer)."""
    if scores.shape[-1] <= top_k:
        return torch.ones_like(scores, dtype=torch.bool)
    threshold = scores.topk(top_k, dim=-1).values[..., -1:]
    above, tied = scores > threshold, scores == threshold
    room = top_k - above.sum(dim=-1, keepdim=True)
    return above | (tied & (tied.cumsum(dim=-1) <= room))


def _index_loss(scores: Tensor, log_shares: Tensor, visible: Tensor) -> Tensor:
    """Mean KL(attention over the visible rows, summed over heads || softmax of the indexer's scores).

    Rows that were not selected take part as they would have been attended to (log_shares [B, T, H, C]).
    """
    target = log_shares.clamp(max=0).exp().sum(dim=2)
    target = target / target.sum(dim=-1, keepdim=True).clamp_min(1e-20)
    predicted = scores.log_softmax(dim=-1).masked_fill(~visible, 0.0)
    some = visible.any(dim=-1)
    predicted = torch.where(some[:, None], predicted, 0.0)
    terms = target * (target.clamp_min(1e-20).log() - predicted)
    return terms.sum() / (some.sum() * scores.shape[0]).clamp_min(1)
