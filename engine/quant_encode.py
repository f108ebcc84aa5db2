"""Encoders with the scale of least squared error, for the formats that converted files use.

Called through the table in engine.quant. Each takes float weights [n, block] and returns uint8 [n, block bytes]. A
scale that only fits the largest weight wastes levels on the rest, so every representable scale around that one is
tried on each block, the plain one included: the result is never worse than plain scaling.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from engine.quant_ggml import MXFP4_LEVELS, e8m0_scales
from engine.quant_rocmfp import FP3_LEVELS, FP4_LEVELS, LARGEST_SCALE_BYTE, scale_table

# Maps weights divided by their scale to (codes, the levels those codes stand for).
Rounding = Callable[[Tensor], tuple[Tensor, Tensor]]


def encode_q8_0(weights: Tensor) -> Tensor:
    """fp16 scale, then 32 whole numbers from -127 to 127 (-128 is left out: some kernels negate them)."""
    weights = weights.float()
    plain = (weights.abs().amax(dim=1) / 127).to(torch.float16).view(torch.int16)
    # Neighbouring fp16 numbers have neighbouring bit patterns. Eight steps reach from 0.4 to 0.8 percent either way,
    # beyond which the largest weight is off by more than a whole level.
    steps = torch.arange(-8, 9, dtype=torch.int16, device=weights.device)
    patterns = (plain[:, None] + steps).clamp(0, 0x7BFF)
    scales = patterns.view(torch.float16).float()

    def whole_numbers(ratio: Tensor) -> tuple[Tensor, Tensor]:
        codes = ratio.round().clamp(-127, 127)
        return codes.to(torch.int8), codes

    best, codes = _search(weights, scales, whole_numbers)
    chosen = patterns.gather(1, best[:, None])
    return torch.cat((chosen.view(torch.uint8), codes.view(torch.uint8)), dim=1)


def encode_mxfp4(weights: Tensor) -> Tensor:
    """Power-of-two scale byte, then 32 e2m1 codes."""
    weights = weights.float()
    table = e8m0_scales(weights.device)
    # The smallest power of two with which the largest weight is not clipped by more than half a level, and its
    # neighbours: one finer (clips) and one coarser.
    plain = _first_at_least(table, weights.abs().amax(dim=1) / MXFP4_LEVELS[-1])
    indices = (plain[:, None] + torch.arange(-3, 2, device=weights.device)).clamp(0, 254)
    best, codes = _search(weights, table[indices], _signed_levels(MXFP4_LEVELS))
    chosen = indices.gather(1, best[:, None]).to(torch.uint8)
    return torch.cat((chosen, _pack_nibbles(codes)), dim=1)


def encode_rocmfp4(weights: Tensor) -> Tensor:
    """32 codes in nibbles, then one scale byte for each half of the block."""
    scale_bytes, codes = _encode_levels(weights.reshape(-1, 16), FP4_LEVELS)
    return torch.cat((_pack_nibbles(codes.reshape(-1, 32)), scale_bytes.reshape(-1, 2)), dim=1)


def encode_rocmfp4_fast(weights: Tensor) -> Tensor:
    """32 codes in nibbles, then one scale byte."""
    scale_bytes, codes = _encode_levels(weights, FP4_LEVELS)
    return torch.cat((_pack_nibbles(codes), scale_bytes), dim=1)


def encode_rocmfp3(weights: Tensor) -> Tensor:
    """32 codes of 3 bits, least significant bit first, then one scale byte for each half of the block."""
    scale_bytes, codes = _encode_levels(weights.reshape(-1, 16), FP3_LEVELS)
    shifts = torch.arange(0, 24, 3, dtype=torch.int32, device=weights.device)
    words = (codes.reshape(-1, 4, 8).int() << shifts).sum(dim=2, dtype=torch.int32)
    packed = torch.stack((words, words >> 8, words >> 16), dim=2).to(torch.uint8)
    return torch.cat((packed.reshape(-1, 12), scale_bytes.reshape(-1, 2)), dim=1)


def _encode_levels(weights: Tensor, levels: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """ROCmFP scale bytes uint8 [n, 1] and codes uint8 [n, k] for weights [n, k].

    The byte order of the scales is their numerical order, eight to an octave, so a window of bytes around the plain
    choice covers every scale from a third of the plain one to nearly twice it (for blocks that lack the top levels).
    """
    weights = weights.float()
    table = scale_table(weights.device)[: LARGEST_SCALE_BYTE + 1]
    plain = _first_at_least(table, weights.abs().amax(dim=1) / levels[-1])
    indices = (plain[:, None] + torch.arange(-14, 8, device=weights.device)).clamp(0, LARGEST_SCALE_BYTE)
    best, codes = _search(weights, table[indices], _signed_levels(levels))
    return indices.gather(1, best[:, None]).to(torch.uint8), codes


def _first_at_least(table: Tensor, wanted: Tensor) -> Tensor:
    """Index of the first entry of the ascending `table` that is at least `wanted`, or of the last entry."""
    return torch.searchsorted(table, wanted).clamp(max=len(table) - 1)


def _search(weights: Tensor, scales: Tensor, rounding: Rounding) -> tuple[Tensor, Tensor]:
    """Try scales [n, c] on weights [n, k]: index [n] of the scale with the least squared error, and its codes [n, k].

    Of equal errors the later candidate wins, so give scales in ascending order: a weight beyond the format's range
    then gets the largest scale.
    """
    # Squares of very small or large weights leave float32, so errors are taken in units near the largest weight.
    exponent = torch.frexp(weights.abs().amax(dim=1, keepdim=True)).exponent.clamp(-120, 120)
    weights, scales = torch.ldexp(weights, -exponent), torch.ldexp(scales, -exponent)
    least = torch.full((len(weights),), torch.inf, device=weights.device)
    best = torch.zeros(len(weights), dtype=torch.int64, device=weights.device)
    best_codes = rounding(torch.zeros_like(weights))[0]
    for candidate in range(scales.shape[1]):
        scale = scales[:, candidate, None]
        codes, levels = rounding(torch.where(scale > 0, weights / scale, 0))
        error = (levels * scale - weights).square().sum(dim=1)
        better = error <= least
        least = torch.where(better, error, least)
        best = torch.where(better, candidate, best)
        best_codes = torch.where(better[:, None], codes, best_codes)
    return best, best_codes


def _signed_levels(levels: tuple[int, ...]) -> Rounding:
    """Rounding to the nearest signed level; the sign is the bit above the magnitude's code."""
    middles = [(low + high) / 2 for low, high in pairwise(levels)]

    def nearest(ratio: Tensor) -> tuple[Tensor, Tensor]:
        boundaries = torch.tensor(middles, dtype=torch.float32, device=ratio.device)
        table = torch.tensor(levels, dtype=torch.float32, device=ratio.device)
        magnitude = torch.bucketize(ratio.abs(), boundaries, out_int32=True)
        signed = torch.copysign(table.index_select(0, magnitude.view(-1)).view(ratio.shape), ratio)
        codes = magnitude + torch.where(signed < 0, len(levels), 0)
        return codes.to(torch.uint8), signed

    return nearest


def _pack_nibbles(codes: Tensor) -> Tensor:
    """uint8 [n, 32] to [n, 16]: element i in the low nibble of byte i, element i + 16 in the high one."""
    return codes[:, :16] | (codes[:, 16:] << 4)
