"""DeepSeek's own number formats as GGUF blocks, without loss: FP8 with a scale per 128 x 128 as BF16, FP4 as MXFP4.

Called by engine.hf.source while weights are read. NumPy only; formulas: ds4-architecture sections 7.1, 7.4.
"""

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

FP8_BLOCK = 128  # rows and columns that share a scale
FP4_BLOCK = 32  # columns that share a scale
INVALID_SCALE = 255  # E8M0's not-a-number


def _e4m3_values() -> npt.NDArray[np.float32]:
    """Each E4M3 byte's value: sign, 4 bits of exponent (bias 7), 3 of mantissa; 0x7f and 0xff are not numbers."""
    codes = np.arange(256)
    exponent, mantissa = (codes >> 3) & 15, codes & 7
    magnitude = np.where(exponent == 0, np.ldexp(mantissa, -9), np.ldexp(8.0 + mantissa, exponent - 10))
    magnitude = np.where((codes & 127) == 127, np.nan, magnitude)
    return np.where(codes & 128, -magnitude, magnitude).astype(np.float32)


_E4M3 = _e4m3_values()


def fp8_to_bf16(codes: Bytes, scales: Bytes) -> bytes:
    """E4M3 [rows, columns] times 2^(scale - 127), one scale byte for each 128 x 128, as BF16 rows.

    Exact as long as the products are not below BF16's smallest normal number: E4M3 has 4 significant bits, BF16 8.
    """
    rows, columns = codes.shape
    factors = np.ldexp(np.float32(1), scales.astype(np.int32) - 127)
    result = np.empty((rows, columns), np.uint16)
    for block, first in enumerate(range(0, rows, FP8_BLOCK)):
        part = slice(first, first + FP8_BLOCK)
        wide = np.repeat(factors[block], FP8_BLOCK)[:columns]
        result[part] = ((_E4M3[codes[part]] * wide).view(np.uint32) >> 16).astype(np.uint16)
    return result.tobytes()


def fp4_to_mxfp4(packed: Bytes, scales: Bytes) -> bytes:
    """E2M1 codes, two columns a byte with the even one low, and a scale byte per 32 columns, as MXFP4 blocks.

    packed [rows, columns / 2], scales [rows, columns / 32]. Codes and scale bytes mean the same in both; only the order
    of nibbles differs: a block's byte i holds columns i and i + 16.
    """
    rows, blocks = scales.shape
    pairs = packed.reshape(rows, blocks, FP4_BLOCK // 2)
    codes = np.stack((pairs & 15, pairs >> 4), axis=-1).reshape(rows, blocks, FP4_BLOCK)
    half = FP4_BLOCK // 2
    nibbles = codes[..., :half] | (codes[..., half:] << 4)
    return np.concatenate((scales[..., None], nibbles), axis=-1).tobytes()
