"""Decoders of the public ggml block formats, each a vectorised torch function (ds4-architecture 7.4; Q5_K, Q6_K).

Called through the table in engine.quant.codecs. Each takes uint8 [n, block bytes] on any device and returns float32
[n, block], in the order of operations of the public reference so that results agree bit for bit.
"""

import torch
from torch import Tensor

from engine.quant.iq2_grid import iq2_xxs_grid

# e2m1 magnitudes times two, so that every entry is whole; the scale carries the half.
MXFP4_LEVELS = (0, 1, 2, 3, 4, 6, 8, 12)


def half(blocks: Tensor, start: int) -> Tensor:
    """The fp16 at byte `start` of every block as float32 [n, 1]."""
    return blocks[:, start : start + 2].contiguous().view(torch.float16).float()


def nibble_levels(codes: Tensor, levels: tuple[int, ...]) -> Tensor:
    """uint8 [n, k] to float32 [n, 2, k]: the signed level of each low nibble, then of each high nibble.

    Bit 3 of a nibble is the sign. One table of byte pairs makes it a single gather.
    """
    signed = torch.tensor([*levels, *(-level for level in levels)], dtype=torch.float32, device=codes.device)
    every = torch.arange(256, device=codes.device)
    pairs = torch.stack((signed[every & 15], signed[every >> 4]), dim=1)
    return pairs.index_select(0, codes.reshape(-1).int()).view(*codes.shape, 2).transpose(1, 2)


def e8m0_scales(device: torch.device) -> Tensor:
    """All 256 MXFP4 scales, 2^(x-128), float32."""
    return torch.tensor([2.0 ** (x - 128) for x in range(256)], dtype=torch.float32, device=device)


def decode_q8_0(blocks: Tensor) -> Tensor:
    return half(blocks, 0) * blocks[:, 2:].contiguous().view(torch.int8).float()


def decode_mxfp4(blocks: Tensor) -> Tensor:
    scale = e8m0_scales(blocks.device).index_select(0, blocks[:, 0].int())
    return (nibble_levels(blocks[:, 1:], MXFP4_LEVELS) * scale[:, None, None]).reshape(-1, 32)


def decode_q2_k(blocks: Tensor) -> Tensor:
    d, minimum = half(blocks, 80), half(blocks, 82)
    scales = blocks[:, :16]
    step = (d * (scales & 15).float())[:, :, None]
    base = (minimum * (scales >> 4).float())[:, :, None]
    shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8, device=blocks.device).view(1, 1, 4, 1)
    codes = (blocks[:, 16:80].reshape(-1, 2, 1, 32) >> shifts) & 3
    return (step * codes.reshape(-1, 16, 16).float() - base).reshape(-1, 256)


def decode_q4_k(blocks: Tensor) -> Tensor:
    step, base = _k_scales(blocks)
    return (step * _nibble_rows(blocks[:, 16:]).float() - base).reshape(-1, 256)


def decode_q5_k(blocks: Tensor) -> Tensor:
    """As Q4_K, with a fifth bit for each weight: bit j of byte e % 32 belongs to sub-block j."""
    step, base = _k_scales(blocks)
    shifts = torch.arange(8, dtype=torch.uint8, device=blocks.device).view(1, 8, 1)
    fifth = (blocks[:, None, 16:48] >> shifts) & 1
    return (step * (_nibble_rows(blocks[:, 48:]) | (fifth << 4)).float() - base).reshape(-1, 256)


def decode_q6_k(blocks: Tensor) -> Tensor:
    """u8 low[128]; u8 high[64]; int8 scale[16]; fp16 d. Value d * scale * (code - 32)."""
    shifts = torch.tensor([0, 4], dtype=torch.uint8, device=blocks.device).view(1, 1, 2, 1)
    low = ((blocks[:, :128].reshape(-1, 2, 1, 64) >> shifts) & 15).reshape(-1, 8, 32)
    high_shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8, device=blocks.device).view(1, 1, 4, 1)
    high = ((blocks[:, 128:192].reshape(-1, 2, 1, 32) >> high_shifts) & 3).reshape(-1, 8, 32)
    codes = (low | (high << 4)).to(torch.int8) - 32
    scales = half(blocks, 208) * blocks[:, 192:208].contiguous().view(torch.int8).float()
    return (scales[:, :, None] * codes.reshape(-1, 16, 16).float()).reshape(-1, 256)


def _k_scales(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Step and base float32 [n, 8, 1] of the eight sub-blocks of Q4_K and Q5_K, from 6-bit fields in 12 bytes."""
    low, high, mixed = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scale = torch.cat((low & 63, (mixed & 15) | ((low >> 6) << 4)), dim=1).float()
    offset = torch.cat((high & 63, (mixed >> 4) | ((high >> 6) << 4)), dim=1).float()
    return (half(blocks, 0) * scale)[:, :, None], (half(blocks, 2) * offset)[:, :, None]


def _nibble_rows(quants: Tensor) -> Tensor:
    """uint8 [n, 128] to [n, 8, 32]: of each 32 bytes first the low nibbles, then the high ones."""
    rows = quants.reshape(-1, 4, 1, 32)
    return torch.cat((rows & 15, rows >> 4), dim=2).reshape(-1, 8, 32)


def decode_iq2_xxs(blocks: Tensor) -> Tensor:
    words = blocks[:, 2:].reshape(-1, 8, 8)
    # 32-bit field b of each group, widened so that its top bit stays positive.
    fields = words[:, :, 4:].contiguous().view(torch.int32).long() & 0xFFFFFFFF
    scale = half(blocks, 0)[:, :, None] * (0.5 + (fields >> 28).float()) * 0.25
    grid = iq2_xxs_grid(blocks.device).float()
    magnitudes = grid.index_select(0, words[:, :, :4].reshape(-1).int()).view(-1, 8, 4, 8)
    shifts = torch.arange(0, 28, 7, device=blocks.device)
    signs = _even_parity_signs(blocks.device).index_select(0, ((fields >> shifts) & 127).view(-1)).view(-1, 8, 4, 8)
    return (scale[:, :, :, None] * magnitudes * signs).reshape(-1, 256)


def _even_parity_signs(device: torch.device) -> Tensor:
    """[128, 8] of +1 and -1: seven sign bits, and an eighth that makes the number of negatives even."""
    bits = (torch.arange(128, device=device)[:, None] >> torch.arange(7, device=device)) & 1
    bits = torch.cat((bits, bits.sum(dim=1, keepdim=True) & 1), dim=1)
    return 1.0 - 2.0 * bits.float()
