"""Manifold-constrained hyper-connections: four residual streams, mixed before and after every sublayer.

The reference in torch; backends may answer the same calls faster. Source: ds4-architecture section 2. Streams are
float32 [T, n, D]; the mixing matrix is not symmetric and is applied as S'[k] = post[k] y + sum_j A[j, k] S[j].
"""

from dataclasses import dataclass

import torch

from engine.config import ModelConfig
from engine.layers.norm import rms_norm


@dataclass(frozen=True, slots=True)
class Mixer:
    """Weights of one mixer, float32: fn [n(2+n), nD], scale [3], base [n(2+n)]."""

    fn: torch.Tensor
    scale: torch.Tensor
    base: torch.Tensor


@dataclass(frozen=True, slots=True)
class Mixed:
    """A sublayer's input x [T, D] (collapsed and normed) and what its output needs: post [T, n], comb [T, n, n]."""

    x: torch.Tensor
    post: torch.Tensor
    comb: torch.Tensor


def mix(streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor, config: ModelConfig) -> Mixed:
    """Collapse the streams to one normed input and derive the way back. All float32."""
    n = config.streams
    m = _mixing_logits(streams, mixer.fn, config.rms_eps)
    pre = torch.sigmoid(mixer.scale[0] * m[:, :n] + mixer.base[:n]) + config.hc_eps
    post = 2 * torch.sigmoid(mixer.scale[1] * m[:, n : 2 * n] + mixer.base[n : 2 * n])
    logits = (mixer.scale[2] * m[:, 2 * n :] + mixer.base[2 * n :]).view(-1, n, n)
    comb = sinkhorn(logits, config.sinkhorn_iterations, config.hc_eps)
    x = (pre[:, :, None] * streams).sum(dim=1)
    return Mixed(rms_norm(x, norm, config.rms_eps), post, comb)


def expand(streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> torch.Tensor:
    """The streams after a sublayer that returned y [T, D]; new tensor [T, n, D]."""
    carried = torch.einsum("tjk,tjd->tkd", mixed.comb, streams)
    return carried + mixed.post[:, :, None] * y.float()[:, None, :]


def collapse(streams: torch.Tensor, head: Mixer, config: ModelConfig) -> torch.Tensor:
    """The final collapse before the output norm: [T, n, D] to [T, D]. `head.fn` has n rows, `head.scale` one number."""
    m = _mixing_logits(streams, head.fn, config.rms_eps)
    weights = torch.sigmoid(head.scale * m + head.base) + config.hc_eps
    return (weights[:, :, None] * streams).sum(dim=1)


def sinkhorn(logits: torch.Tensor, iterations: int, eps: float) -> torch.Tensor:
    """Softmax over the last axis, one column pass, then iterations - 1 (row, column) pairs; [T, n, n]."""
    a = logits.softmax(dim=2) + eps
    a = a / (a.sum(dim=1, keepdim=True) + eps)
    for _ in range(iterations - 1):
        a = a / (a.sum(dim=2, keepdim=True) + eps)
        a = a / (a.sum(dim=1, keepdim=True) + eps)
    return a


def _mixing_logits(streams: torch.Tensor, fn: torch.Tensor, eps: float) -> torch.Tensor:
    """fn · v scaled by the weightless RMS of v, the whole stream-major vector [nD]."""
    v = streams.flatten(1)
    return (v @ fn.T) * torch.rsqrt(v.square().mean(dim=1, keepdim=True) + eps)
