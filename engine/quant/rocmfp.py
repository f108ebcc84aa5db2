"""Decoders of the ROCmFP block formats (ds4-architecture section 7.5): 32 weights a block, half-range E4M3 scales.

Called through the table in engine.quant.codecs. Each takes uint8 [n, block bytes] on any device and returns
float32 [n, 32].
"""

import torch
from torch import Tensor

from engine.quant.ggml import nibble_levels

FP4_LEVELS = (0, 1, 2, 3, 4, 6, 8, 10)
FP3_LEVELS = (0, 1, 2, 4)
LARGEST_SCALE_BYTE = 0x7E
_LARGEST_SCALE = 14 * 2.0**4  # what that byte stands for
LARGEST_FP4, LARGEST_FP3 = FP4_LEVELS[-1] * _LARGEST_SCALE, FP3_LEVELS[-1] * _LARGEST_SCALE


def scale_table(device: torch.device) -> Tensor:
    """float32 [256]: the value of every scale byte. Bytes above 0x7e are invalid and read as zero."""
    values = [m * 2.0**-10 if e == 0 else (8 + m) * 2.0 ** (e - 11) for e in range(16) for m in range(8)]
    values = values[: LARGEST_SCALE_BYTE + 1]
    return torch.tensor(values + [0.0] * (256 - len(values)), dtype=torch.float32, device=device)


def _scales(scale_bytes: Tensor) -> Tensor:
    """uint8 [n, k] to float32 [n, k, 1]."""
    table = scale_table(scale_bytes.device)
    return table.index_select(0, scale_bytes.reshape(-1).int()).view(*scale_bytes.shape, 1)


def _bit_stream(packed: Tensor, bits: int) -> Tensor:
    """uint8 [n, 4 * bits] to int32 [n, 32]: 32 codes of 3 or 6 bits, least significant bit first, 3 bytes a group."""
    groups = packed.reshape(len(packed), -1, 3).int()
    word = groups[:, :, 0] | (groups[:, :, 1] << 8) | (groups[:, :, 2] << 16)
    shifts = torch.arange(0, 24, bits, dtype=torch.int32, device=packed.device)
    return ((word[:, :, None] >> shifts) & ((1 << bits) - 1)).reshape(-1, 32)


def _levels(codes: Tensor, levels: list[int]) -> Tensor:
    table = torch.tensor(levels, dtype=torch.float32, device=codes.device)
    return table.index_select(0, codes.reshape(-1).int()).view(codes.shape)


def _half_scaled(values: Tensor, scale_bytes: Tensor) -> Tensor:
    """values [n, 32] times one scale for elements 0 to 15 and one for 16 to 31."""
    return (values.reshape(-1, 2, 16) * _scales(scale_bytes)).reshape(-1, 32)


def decode_fp4(blocks: Tensor) -> Tensor:
    return _half_scaled(nibble_levels(blocks[:, :16], FP4_LEVELS).reshape(-1, 32), blocks[:, 16:18])


def decode_fp4_fast(blocks: Tensor) -> Tensor:
    return (nibble_levels(blocks[:, :16], FP4_LEVELS) * _scales(blocks[:, 16:17])).reshape(-1, 32)


def decode_fp6(blocks: Tensor) -> Tensor:
    """Sign and magnitude; the code for minus zero means -32 (upstream's rule; one fork reads it as 0)."""
    levels = [*range(32), -32, *range(-1, -32, -1)]
    return _half_scaled(_levels(_bit_stream(blocks[:, :24], 6), levels), blocks[:, 24:26])


def decode_fp8(blocks: Tensor) -> Tensor:
    return blocks[:, :32].contiguous().view(torch.int8).float() * _scales(blocks[:, 32:33])[:, 0]


def decode_fp3(blocks: Tensor) -> Tensor:
    levels = [*FP3_LEVELS, *(-level for level in FP3_LEVELS)]
    return _half_scaled(_levels(_bit_stream(blocks[:, :12], 3), levels), blocks[:, 12:14])


def _fp2_codes(blocks: Tensor) -> Tensor:
    shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8, device=blocks.device)
    return ((blocks[:, :8, None] >> shifts) & 3).reshape(-1, 32)


def decode_fp2_codebook(blocks: Tensor) -> Tensor:
    """Meaning 1: levels -1, 0, 1, 2 with a scale for each half."""
    return _half_scaled(_levels(_fp2_codes(blocks), [-1, 0, 1, 2]), blocks[:, 8:10])


def decode_fp2_s40(blocks: Tensor) -> Tensor:
    """Meaning 2: levels -4, -1, 1, 4 with a scale for each half."""
    return _half_scaled(_levels(_fp2_codes(blocks), [-4, -1, 1, 4]), blocks[:, 8:10])


def decode_fp2_affine(blocks: Tensor) -> Tensor:
    """Meaning 3: code times the first scale minus the second, over the whole block."""
    scales = _scales(blocks[:, 8:10])
    return _fp2_codes(blocks).float() * scales[:, 0] - scales[:, 1]
