"""Encoders with the scale of least squared error, for the formats that converted files use.

Called through the table in engine.quant.codecs. Each takes float weights [n, block] and returns uint8 [n, block bytes].
A scale that only fits the largest weight wastes levels on the rest, so every representable scale around that one is
tried on each block, the plain one included: the result is never worse than plain scaling.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from engine.quant.ggml import MXFP4_LEVELS, e8m0_scales
from engine.quant.rocmfp import FP3_LEVELS, FP4_LEVELS, LARGEST_SCALE_BYTE, scale_table

# Maps magnitudes divided by their scale, none negative, to the nearest level; a new tensor of the same shape.
Rounding = Callable[[Tensor], Tensor]


def encode_q8_0(weights: Tensor) -> Tensor:
    """fp16 scale, then 32 whole numbers from -127 to 127 (-128 is left out: some kernels negate them)."""
    weights = weights.float()
    plain = (weights.abs().amax(dim=1) / 127).to(torch.float16).view(torch.int16)
    # Neighbouring fp16 numbers have neighbouring bit patterns. Eight steps reach from 0.4 to 0.8 percent either way,
    # beyond which the largest weight is off by more than a whole level.
    steps = torch.arange(-8, 9, dtype=torch.int16, device=weights.device)
    patterns = (plain[:, None] + steps).clamp(0, 0x7BFF)
    scales = patterns.view(torch.float16).float()

    best, ratio = _search(weights, scales, lambda magnitude: magnitude.round().clamp_(max=127))
    codes = ratio.round().clamp(-127, 127).to(torch.int8)
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
    levels = _Levels(MXFP4_LEVELS, weights.device)
    best, ratio = _search(weights, table[indices], levels.nearest)
    chosen = indices.gather(1, best[:, None]).to(torch.uint8)
    return torch.cat((chosen, _pack_nibbles(levels.codes(ratio))), dim=1)


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
    rounding = _Levels(levels, weights.device)
    best, ratio = _search(weights, table[indices], rounding.nearest)
    return indices.gather(1, best[:, None]).to(torch.uint8), rounding.codes(ratio)


def _first_at_least(table: Tensor, wanted: Tensor) -> Tensor:
    """Index of the first entry of the ascending `table` that is at least `wanted`, or of the last entry."""
    return torch.searchsorted(table, wanted).clamp(max=len(table) - 1)


def _search(weights: Tensor, scales: Tensor, nearest: Rounding) -> tuple[Tensor, Tensor]:
    """Try scales [n, c] on weights [n, k]: index [n] of the scale with the least squared error, and weights over it.

    Of equal errors the later candidate wins, so give scales in ascending order: a weight beyond the format's range
    then gets the largest scale. Formats are symmetrical, so errors are those of magnitudes.
    """
    # Squares of very small or large weights leave float32, so errors are taken in units near the largest weight.
    exponent = torch.frexp(weights.abs().amax(dim=1, keepdim=True)).exponent.clamp(-120, 120)
    weights, scales = torch.ldexp(weights, -exponent), torch.ldexp(scales, -exponent)
    magnitudes = weights.abs()
    least = torch.full((len(weights),), torch.inf, device=weights.device)
    best = torch.zeros(len(weights), dtype=torch.int64, device=weights.device)
    for candidate in range(scales.shape[1]):
        scale = scales[:, candidate, None]
        error = nearest(_over(magnitudes, scale)).mul_(scale).sub_(magnitudes).square_().sum(dim=1)
        better = error <= least
        least = torch.where(better, error, least)
        best = torch.where(better, candidate, best)
    return best, _over(weights, scales.gather(1, best[:, None]))


def _over(weights: Tensor, scale: Tensor) -> Tensor:
    """weights / scale, and 0 where the scale is."""
    return torch.where(scale > 0, weights, 0) / torch.where(scale > 0, scale, 1)


class _Levels:
    """Rounding to the nearest of a few levels; of two as near the smaller. Levels are whole numbers."""

    def __init__(self, levels: tuple[int, ...], device: torch.device) -> None:
        middles = torch.tensor([(low + high) / 2 for low, high in pairwise(levels)])
        # The middles are whole halves, so halves tell on which side of each a ratio lies: a table instead of a search.
        halves = torch.arange(1, 2 * levels[-1] + 1) / 2
        self._code_of_half = torch.bucketize(halves, middles).to(torch.uint8).to(device)
        self._level_of_half = torch.tensor(levels, dtype=torch.float32)[self._code_of_half.cpu().long()].to(device)
        self._count = len(levels)

    def nearest(self, magnitude: Tensor) -> Tensor:
        return self._level_of_half.index_select(0, self._halves(magnitude).view(-1)).view(magnitude.shape)

    def codes(self, ratio: Tensor) -> Tensor:
        """uint8 codes of signed ratios; the sign is the bit above the magnitude's code, and zero has none."""
        magnitude = self._code_of_half.index_select(0, self._halves(ratio.abs()).view(-1)).view(ratio.shape)
        return magnitude + ((ratio < 0) & (magnitude > 0)).to(torch.uint8) * self._count

    def _halves(self, magnitude: Tensor) -> Tensor:
        return (magnitude * 2).ceil_().sub_(1).clamp_(0, len(self._code_of_half) - 1).int()


def _pack_nibbles(codes: Tensor) -> Tensor:
    """uint8 [n, 32] to [n, 16]: element i in the low nibble of byte i, element i + 16 in the high one."""
    return codes[:, :16] | (codes[:, 16:] << 4)
