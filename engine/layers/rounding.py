"""The stored form of cache rows: what a row becomes before anything may attend to it. Pure functions, any thread.

Rounding before attention is what makes band and step edges vanish: a row has one value, whoever looks at it.
`KvRounding.E4M3` is the low precision the V4-Flash weights were trained with (ds4-architecture 3.7).
"""

from enum import Enum

import torch

_E4M3_BLOCK, _E4M3_MAX, _E4M3_FLOOR = 64, 448.0, 1e-4
_E2M1_BLOCK, _E2M1_MAX, _E2M1_FLOOR = 32, 6.0, 6 * 2.0**-126
_E2M1_LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


class KvRounding(Enum):
    """How cache rows are stored: float32 for oracles, F16, or E4M3 carried in F16 with E2M1 indexer rows."""

    NONE = "none"
    F16 = "f16"
    E4M3 = "e4m3"

    @property
    def row_dtype(self) -> torch.dtype:
        return torch.float32 if self is KvRounding.NONE else torch.float16


def store_rows(rows: torch.Tensor, kind: KvRounding, rope_dim: int) -> torch.Tensor:
    """Rows [..., d] float32, rotated, to their stored form: E4M3 on all but the rotary channels, then the row dtype."""
    body = rows.shape[-1] - rope_dim
    if kind is KvRounding.E4M3 and body:
        rows = torch.cat([round_e4m3(rows[..., :body]), rows[..., body:]], dim=-1)
    return rows.to(kind.row_dtype)


def store_index_rows(rows: torch.Tensor, kind: KvRounding) -> torch.Tensor:
    """Indexer rows or queries [..., di] float32, rotated, to their stored form."""
    return prepare_index(rows, kind).to(kind.row_dtype)


def prepare_index(rows: torch.Tensor, kind: KvRounding) -> torch.Tensor:
    """Hadamard and E2M1 in the trained-in precision, nothing otherwise (the transform alone changes no score)."""
    return round_e2m1(hadamard(rows)) if kind is KvRounding.E4M3 else rows


def round_e4m3(x: torch.Tensor) -> torch.Tensor:
    """Through E4M3 with one power-of-two scale per 64 channels: scale 2^ceil(log2(max(amax, 1e-4)/448)), ties to even.

    The last block may be shorter. Source: banded-prefill 2.5.
    """
    blocks = []
    for block in torch.split(x, _E4M3_BLOCK, dim=-1):
        scale = _power_of_two_scale(block, _E4M3_FLOOR, _E4M3_MAX)
        inside = (block / scale).clamp(-_E4M3_MAX, _E4M3_MAX)
        blocks.append(inside.to(torch.float8_e4m3fn).float() * scale)
    return torch.cat(blocks, dim=-1)


def round_e2m1(x: torch.Tensor) -> torch.Tensor:
    """Through E2M1 with one power-of-two scale per 32 channels, ties to the even code. Source: banded-prefill 2.3."""
    blocks = []
    for block in torch.split(x, _E2M1_BLOCK, dim=-1):
        scale = _power_of_two_scale(block, _E2M1_FLOOR, _E2M1_MAX)
        blocks.append(_nearest_e2m1(block / scale) * scale)
    return torch.cat(blocks, dim=-1)


def _power_of_two_scale(block: torch.Tensor, floor: float, largest: float) -> torch.Tensor:
    """2^ceil(log2(max(amax, floor) / largest)), exactly: frexp gives the exponent without a rounded logarithm."""
    quotient = block.abs().amax(dim=-1, keepdim=True).clamp_min(floor) / largest
    mantissa, exponent = torch.frexp(quotient)
    exponent = torch.where(mantissa == 0.5, exponent - 1, exponent)
    return torch.ldexp(torch.ones_like(quotient), exponent)


def _nearest_e2m1(x: torch.Tensor) -> torch.Tensor:
    levels = torch.tensor(_E2M1_LEVELS, dtype=x.dtype, device=x.device)
    middles = (levels[1:] + levels[:-1]) / 2
    magnitude = x.abs().clamp_max(_E2M1_MAX)
    below = torch.bucketize(magnitude, middles)  # a tie stays with the lower code
    tied_up = (magnitude == middles[below.clamp_max(len(middles) - 1)]) & (below % 2 == 1)
    return torch.copysign(levels[below + tied_up.long()], x)


def hadamard(x: torch.Tensor) -> torch.Tensor:
    """Orthonormal Walsh-Hadamard transform of the last axis (2^k wide), Sylvester order (ds4-architecture 3.6)"""
    width = x.shape[-1]
    shape = x.shape
    span = 1
    while span < width:
        pairs = x.reshape(*shape[:-1], width // (2 * span), 2, span)
        a, b = pairs[..., 0, :], pairs[..., 1, :]
        x = torch.stack([a + b, a - b], dim=-2).reshape(shape)
        span *= 2
    return x.mul(width**-0.5)
