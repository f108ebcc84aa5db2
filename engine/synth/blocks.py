"""Random blocks of every number format that recipes use: codes from random bits, scales that give the wanted size.

Used by engine.synth.pieces; pure torch functions on any device, which give the same bytes on each. Block layouts:
ds4-architecture 7.4 and 7.5; what a block decodes to is the matter of engine.quant.
"""

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from engine.quant.iq2_grid import iq2_xxs_grid
from engine.quant.rocmfp import FP3_LEVELS, FP4_LEVELS, LARGEST_SCALE_BYTE, scale_table
from engine.synth.values import Spread

_EVEN_BITS = 0x5555555555555555
# Eight sizes of scale over seven eighths of an octave, of RMS 1: kernels that read a neighbour's scale are found out.
_RAW_SIZES = [2 ** (step / 8) for step in range(8)]
_SIZES = [size / math.sqrt(sum(other**2 for other in _RAW_SIZES) / 8) for size in _RAW_SIZES]


@dataclass(frozen=True, slots=True)
class BlockMaker:
    """`make` turns random int64 [n, words] into uint8 [n, bytes], n blocks of `weights` weights each.

    Where weights are no blocks at all (F32, say), a block is any handful, and the last one of a tensor may be cut.
    """

    weights: int
    words: int
    bytes: int
    make: Callable[[Tensor], Tensor]


def block_maker(type_id: int, spread: Spread, device: torch.device) -> BlockMaker:
    """Blocks of a GGUF type with weights of this spread. Quantised formats take no centre but 0."""
    if type_id in _PLAIN_TYPES:
        return _plain(_PLAIN_TYPES[type_id], spread, device)
    if spread.centre != 0.0:
        raise ValueError(f"weights of type {type_id} are centred on 0, not on {spread.centre}")
    return _MAKERS[type_id](spread.rms, device)


def table_maker(experts: int, used: int) -> BlockMaker:
    """Rows of `used` different expert numbers below `experts`, int32, each as likely as any other."""
    share = experts // used

    def make(words: Tensor) -> Tensor:
        numbers = words & ((1 << 63) - 1)
        # Slots choose within shares of their own, and all start from a random expert.
        within = numbers[:, 1:] % share + torch.arange(used, device=words.device) * share
        return ((numbers[:, :1] + within) % experts).int().view(torch.uint8)

    return BlockMaker(used, used + 1, 4 * used, make)


def _plain(dtype: torch.dtype, spread: Spread, device: torch.device) -> BlockMaker:
    """Four weights a word, evenly spread over the 65,536 steps of 16 bits. A list of centres is one block."""
    factor = spread.rms * math.sqrt(3) / (1 << 15)
    centres = spread.centre if isinstance(spread.centre, tuple) else (spread.centre,) * 4
    centre = torch.tensor(centres, dtype=torch.float32, device=device)

    def make(words: Tensor) -> Tensor:
        noise = words.view(torch.int16)[:, : len(centres)].float().mul_(factor)
        return noise.add_(centre).to(dtype).view(torch.uint8)

    return BlockMaker(len(centres), -(-len(centres) // 4), len(centres) * dtype.itemsize, make)


def _q8_0(rms: float, device: torch.device) -> BlockMaker:
    """Codes -127 to 127, as the encoder writes them."""
    scales = _halves([rms / math.sqrt(127 * 128 / 3) * size for size in _SIZES], device)

    def make(words: Tensor) -> Tensor:
        codes = words.view(torch.int8).clamp(min=-127).view(torch.uint8)
        return torch.cat((scales[words[:, 0] & 7], codes), dim=1)

    return BlockMaker(32, 4, 34, make)


def _iq2_xxs(rms: float, device: torch.device) -> BlockMaker:
    """Any bits are codes; the four bits that scale a group are even over 0.5 to 15.5, a quarter each."""
    grid = iq2_xxs_grid(torch.device("cpu")).double()
    unit = 0.25 * _rms([group + 0.5 for group in range(16)]) * float(grid.square().mean().sqrt())
    scales = _halves([rms / unit * size for size in _SIZES], device)
    return BlockMaker(256, 8, 66, lambda words: torch.cat((scales[words[:, 0] & 7], words.view(torch.uint8)), dim=1))


def _q2_k(rms: float, device: torch.device) -> BlockMaker:
    """Codes 0 to 3 around 1.5: steps and minimums share their nibbles (8 to 15), and m is 1.5 d."""
    unit = _rms(range(8, 16)) * _rms([-1.5, -0.5, 0.5, 1.5])
    steps = [rms / unit * size for size in _SIZES]
    scales = torch.cat((_halves(steps, device), _halves([1.5 * step for step in steps], device)), dim=1)

    def make(words: Tensor) -> Tensor:
        stored = words.view(torch.uint8)
        nibbles = ((stored[:, :16] & 7) | 8) * 17
        return torch.cat((nibbles, stored[:, 16:], scales[words[:, 9] & 7]), dim=1)

    return BlockMaker(256, 10, 84, make)


def _rocmfp4_fast(rms: float, device: torch.device) -> BlockMaker:
    scales = _scale_bytes(rms / _rms(FP4_LEVELS), device)
    return BlockMaker(32, 2, 17, lambda words: torch.cat((words.view(torch.uint8), scales[words[:, 0] & 7]), dim=1))


def _rocmfp3(rms: float, device: torch.device) -> BlockMaker:
    """12 bytes of codes; what is left of the words chooses the two scales."""
    scales = _scale_bytes(rms / _rms(FP3_LEVELS), device)

    def make(words: Tensor) -> Tensor:
        first, second = scales[(words[:, 1] >> 32) & 7], scales[(words[:, 1] >> 35) & 7]
        return torch.cat((words.view(torch.uint8)[:, :12], first, second), dim=1)

    return BlockMaker(32, 2, 14, make)


def _rocmfp2_codebook(rms: float, device: torch.device) -> BlockMaker:
    """Levels -1, 0, 1, 2 at 4, 1, 2, 1 in eight: evenly they would be 0.5 on average, and every product with them."""
    scales = _scale_bytes(rms / _rms([-1] * 4 + [0] + [1] * 2 + [2]), device)

    def make(words: Tensor) -> Tensor:
        first, second = words[:, 0], words[:, 1]
        is_not_low = first & _EVEN_BITS
        is_odd = (first >> 1) & _EVEN_BITS
        high = is_not_low & (~is_odd | second)
        codes = (high << 1) | (is_not_low & is_odd)
        chosen = scales[(second >> 1) & 7], scales[(second >> 33) & 7]
        return torch.cat((codes.view(-1, 1).view(torch.uint8), *chosen), dim=1)

    return BlockMaker(32, 2, 10, make)


_PLAIN_TYPES = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}
_MAKERS: dict[int, Callable[[float, torch.device], BlockMaker]] = {
    8: _q8_0,
    10: _q2_k,
    16: _iq2_xxs,
    101: _rocmfp4_fast,
    104: _rocmfp3,
    107: _rocmfp2_codebook,
}


def _rms(levels: Sequence[float]) -> float:
    return math.sqrt(sum(level * level for level in levels) / len(levels))


def _halves(values: Sequence[float], device: torch.device) -> Tensor:
    """uint8 [k, 2]: the fp16 of each value."""
    stored = struct.pack(f"<{len(values)}e", *values)
    return torch.tensor(list(stored), dtype=torch.uint8, device=device).view(-1, 2)


def _scale_bytes(wanted: float, device: torch.device) -> Tensor:
    """uint8 [8, 1]: ROCmFP scale bytes whose RMS is near `wanted`."""
    return torch.tensor(_nearest_scales(wanted), dtype=torch.uint8, device=device).view(-1, 1)


@cache
def _nearest_scales(wanted: float) -> list[int]:
    """The sizes of _SIZES as far as scale bytes go. Small scales are far apart, so that the eight are shifted together
    by up to an eighth either way until their RMS is nearest."""
    table = scale_table(torch.device("cpu"))[: LARGEST_SCALE_BYTE + 1].tolist()

    def rounded(shift: float) -> list[int]:
        targets = [wanted * shift * size for size in _SIZES]
        return [min(range(1, len(table)), key=lambda byte: abs(table[byte] - target)) for target in targets]

    shifts = [2 ** (step / 128) for step in range(-22, 23)]
    return min(map(rounded, shifts), key=lambda found: abs(_rms([table[byte] for byte in found]) - wanted))
