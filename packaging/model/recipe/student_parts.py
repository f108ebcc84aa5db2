"""Batched, differentiable forms of the model's parts: rotation, residual mixing, window pooling, experts.

Same mathematics as engine.layers, which serves one sequence without gradients; tests/packaging/model holds the two
together. Pure functions of tensors, so that each is compiled once for all layers. Source: ds4-architecture 2 to 4.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache_shape import OVERLAP_RATIO
from engine.layers.hyper_connection import sinkhorn
from engine.layers.norm import rms_norm

EMPTY_GATE = -1e30  # softmax turns it into weight 0


class MixerWeights(NamedTuple):
    """fn [n(2+n), nD], scale [3], base [n(2+n)], and the sublayer's norm [D]; float32."""

    fn: Tensor
    scale: Tensor
    base: Tensor
    norm: Tensor


class ExpertWeights(NamedTuple):
    """gate, up [E, ff, D], down [E, D, ff]; the shared expert's [ff, D], [ff, D], [D, ff]; the router's [E, D]."""

    gate: Tensor
    up: Tensor
    down: Tensor
    shared_gate: Tensor
    shared_up: Tensor
    shared_down: Tensor
    router: Tensor


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate adjacent pairs of the last channels of x [..., d] by cos, sin [..., pairs], which broadcast."""
    pairs = cos.shape[-1]
    body, tail = x.split([x.shape[-1] - 2 * pairs, 2 * pairs], dim=-1)
    a, b = tail[..., 0::2], tail[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([body, turned], dim=-1)


def linear(x: Tensor, weight: Tensor, dtype: torch.dtype) -> Tensor:
    """x · Wᵀ in the compute type; the master weight is cast on the way."""
    return x.to(dtype) @ weight.to(dtype).T


def mix(streams: Tensor, weights: MixerWeights, iterations: int, hc_eps: float, rms_eps: float) -> tuple[Tensor, ...]:
    """A sublayer's input [N, D], post [N, n] and comb [N, n, n] of streams [N, n, D]; all float32."""
    n = streams.shape[1]
    vector = streams.flatten(1)
    logits = (vector @ weights.fn.T) * torch.rsqrt(vector.square().mean(dim=1, keepdim=True) + rms_eps)
    pre, post, comb = (
        weights.scale[part] * logits[:, begin:stop] + weights.base[begin:stop]
        for part, (begin, stop) in enumerate(((0, n), (n, 2 * n), (2 * n, n * (2 + n))))
    )
    collapsed = ((torch.sigmoid(pre) + hc_eps)[:, :, None] * streams).sum(dim=1)
    combined = sinkhorn(comb.view(-1, n, n), iterations, hc_eps)
    return rms_norm(collapsed, weights.norm, rms_eps), 2 * torch.sigmoid(post), combined


def expand(streams: Tensor, y: Tensor, post: Tensor, comb: Tensor) -> Tensor:
    """The streams [N, n, D] after a sublayer that returned y [N, D]: S'[k] = post[k] y + sum_j A[j, k] S[j]."""
    carried = (comb[:, :, :, None] * streams[:, :, None, :]).sum(dim=1)
    return carried + post[:, :, None] * y.float()[:, None, :]


def collapse(streams: Tensor, weights: MixerWeights, hc_eps: float, rms_eps: float) -> Tensor:
    """The vector that the output matrix sees, [N, D]: the final collapse and the output norm."""
    vector = streams.flatten(1)
    logits = (vector @ weights.fn.T) * torch.rsqrt(vector.square().mean(dim=1, keepdim=True) + rms_eps)
    shares = torch.sigmoid(weights.scale * logits + weights.base) + hc_eps
    return rms_norm((shares[:, :, None] * streams).sum(dim=1), weights.norm, rms_eps)


def pool_windows(values: Tensor, gates: Tensor, ape: Tensor) -> Tensor:
    """Every whole window's pooled row: values, gates [B, T, c·d] and ape [r, c·d] to [B, T // r, d].

    Ratio 4 overlaps: the first half of the channels is pooled with the next window, the second half with its own.
    """
    ratio = ape.shape[0]
    count = values.shape[1] // ratio
    values = values[:, : count * ratio].unflatten(1, (count, ratio))
    gates = gates[:, : count * ratio].unflatten(1, (count, ratio)) + ape
    if ratio == OVERLAP_RATIO:
        values, gates = _with_previous(values, 0.0), _with_previous(gates, EMPTY_GATE)
    return (gates.softmax(dim=2) * values).sum(dim=2)


def _with_previous(windows: Tensor, empty: float) -> Tensor:
    """[B, C, r, 2d] to [B, C, 2r, d]: the first lane of the window before, then the second lane of its own."""
    first, second = windows.chunk(2, dim=-1)
    before = torch.cat([torch.full_like(first[:, :1], empty), first[:, :-1]], dim=1)
    return torch.cat([before, second], dim=2)


def route(x: Tensor, router: Tensor, bias: Tensor, table_rows: Tensor | None, used: int, scale: float) -> Tensor:
    """Each expert's weight for each token, float32 [N, E], zero where it is not chosen.

    Chosen by score plus `bias` [E], or by `table_rows` int64 [N, used], the token-id table's rows for these tokens.
    """
    scores = functional.softplus(x @ router.T).sqrt()
    chosen = (scores.detach() + bias).topk(used, dim=1).indices if table_rows is None else table_rows
    weights = scores.gather(1, chosen)
    weights = weights / weights.sum(dim=1, keepdim=True) * scale
    return torch.zeros_like(scores).scatter(1, chosen, weights)


def swiglu(gate: Tensor, up: Tensor, limit: float) -> Tensor:
    """silu(min(gate, limit)) * clamp(up, -limit, limit), in float32."""
    return functional.silu(gate.float().clamp(max=limit)) * up.float().clamp(-limit, limit)


def experts(x: Tensor, routing: Tensor, weights: ExpertWeights, limit: float, dtype: torch.dtype) -> Tensor:
    """Shared plus routed experts, float32 [N, D], of x [N, D] and routing [N, E].

    With few experts it is cheaper to run all of them on every token, as two wide products, than to gather.
    """
    count, inner, _ = weights.gate.shape
    hidden = swiglu(linear(x, weights.gate.flatten(0, 1), dtype), linear(x, weights.up.flatten(0, 1), dtype), limit)
    weighted = hidden.unflatten(1, (count, inner)) * routing[:, :, None]
    down = weights.down.permute(1, 0, 2).flatten(1)
    shared = swiglu(linear(x, weights.shared_gate, dtype), linear(x, weights.shared_up, dtype), limit)
    return linear(weighted.flatten(1), down, dtype).float() + linear(shared, weights.shared_down, dtype).float()


def token_losses(hidden: Tensor, head: Tensor, targets: Tensor, dtype: torch.dtype) -> Tensor:
    """Cross-entropy in nats of every token, float32 [B, T]; hidden [B, T, D], head [vocab, D], targets int64 [B, T]."""
    logits = linear(hidden, head, dtype).float().flatten(0, 1)
    return functional.cross_entropy(logits, targets.flatten(), reduction="none").view_as(targets)
