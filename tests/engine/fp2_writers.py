"""Writers of the three ROCmFP2 meanings for tests of telling them apart: plain least-squares scale searches."""

import torch
from torch import Tensor

from engine.quant.rocmfp import scale_table

SCALES = scale_table(torch.device("cpu"))[:127]


def _pack(codes: Tensor, scale_bytes: Tensor) -> Tensor:
    shifts = torch.tensor([0, 2, 4, 6])
    packed = (codes.view(-1, 8, 4) << shifts).sum(dim=2)
    return torch.cat((packed, scale_bytes.view(-1, 2)), dim=1).to(torch.uint8).reshape(-1)


def write_levels(weights: Tensor, levels: tuple[int, ...]) -> Tensor:
    """[n, 32] as codes of four levels with one scale for each half (the code book and S40 meanings)."""
    halves, table = weights.reshape(-1, 16), torch.tensor(levels, dtype=torch.float32)
    least = torch.full((len(halves),), torch.inf)
    best, codes = torch.zeros(len(halves), dtype=torch.int64), torch.zeros(halves.shape, dtype=torch.int64)
    largest = torch.searchsorted(SCALES, halves.abs().amax(dim=1) / min(map(abs, (levels[0], levels[-1]))))
    for step in range(-16, 3):
        byte = (largest + step).clamp(1, 126)
        scale = SCALES[byte][:, None]
        nearest = (halves[..., None] / scale[..., None] - table).abs().argmin(dim=-1)
        error = (table[nearest] * scale - halves).square().sum(dim=1)
        better = error < least
        least = torch.where(better, error, least)
        best[better], codes[better] = byte[better], nearest[better]
    return _pack(codes, best)


def write_affine(weights: Tensor) -> Tensor:
    """[n, 32] as code times first scale minus second scale."""
    low, high = weights.amin(dim=1), weights.amax(dim=1)
    least = torch.full((len(weights),), torch.inf)
    best = torch.zeros(len(weights), 2, dtype=torch.int64)
    codes = torch.zeros(weights.shape, dtype=torch.int64)
    for fraction in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5):
        step = (SCALES - ((high - low) * fraction / 3)[:, None]).abs().argmin(dim=1)
        base = (SCALES - (1.5 * SCALES[step] - (low + high) / 2 * fraction)[:, None]).abs().argmin(dim=1)
        step_value, base_value = SCALES[step][:, None], SCALES[base][:, None]
        nearest = ((weights + base_value) / step_value.clamp(min=1e-9)).round().clamp(0, 3)
        error = (nearest * step_value - base_value - weights).square().sum(dim=1)
        better = error < least
        least = torch.where(better, error, least)
        best[better], codes[better] = torch.stack((step, base), dim=1)[better], nearest.long()[better]
    return _pack(codes, best)
