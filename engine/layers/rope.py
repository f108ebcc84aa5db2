"""Rotary position embedding of the last channels of a row, in adjacent pairs. Pure functions, any thread.

Uncompressed layers rotate with base 10,000; compressed layers with base 160,000 blended by YaRN, at every length and
without a magnitude factor (ds4-architecture 3.1).
"""

import math

import torch

from engine.config import ModelConfig


def inverse_frequencies(config: ModelConfig, ratio: int) -> torch.Tensor:
    """Angle per position of each pair: float64 [rope_dim / 2] for a layer of the given compression ratio."""
    exponents = torch.arange(0, config.rope_dim, 2, dtype=torch.float64) / config.rope_dim
    if not ratio:
        return config.rope_base**-exponents
    base, yarn = config.compress_rope_base, config.yarn
    plain = base**-exponents

    def corrected(beta: float) -> float:
        turns = yarn.original_context / (2 * math.pi * beta)
        return config.rope_dim * math.log(turns) / (2 * math.log(base))

    low = max(math.floor(corrected(yarn.beta_fast)), 0)
    high = min(math.ceil(corrected(yarn.beta_slow)), config.rope_dim - 1)
    span = max(high - low, 0.001)
    ramp = ((torch.arange(config.rope_dim // 2, dtype=torch.float64) - low) / span).clamp(0, 1)
    return plain * (1 - ramp) + plain / yarn.factor * ramp


def rotation(positions: torch.Tensor, frequencies: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin, float32 [T, rope_dim / 2], of int64 positions [T]; angles in float64 (positions reach 2^20)."""
    angles = positions.double()[:, None] * frequencies
    return angles.cos().float(), angles.sin().float()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, inverse: bool = False) -> torch.Tensor:
    """Rotate the last channels of x [T, ..., d] float32 by cos, sin [T, pairs]; returns a new tensor."""
    pairs = cos.shape[-1]
    shape = (cos.shape[0], *([1] * (x.dim() - 2)), pairs)
    cos, sin = cos.view(shape), sin.view(shape)
    sin = -sin if inverse else sin
    out = x.clone()
    tail = x[..., x.shape[-1] - 2 * pairs :]
    a, b = tail[..., 0::2], tail[..., 1::2]
    out_tail = out[..., x.shape[-1] - 2 * pairs :]
    out_tail[..., 0::2] = a * cos - b * sin
    out_tail[..., 1::2] = a * sin + b * cos
    return out
