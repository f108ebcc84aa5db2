"""Random 64-bit words by their number: any piece of the sequence at once, the same on every device.

Used by engine.synth.pieces. SplitMix64 (Steele, Lea and Flood 2014) needs whole-number operations alone, which a
processor and a GPU do alike; torch's own generators give other numbers on each kind of device and each size of GPU.
"""

import hashlib

import torch
from torch import Tensor

_STEP = 0x9E3779B97F4A7C15
# Shift right, exclusive or, multiply; after the last shift nothing is multiplied.
_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def key_of(seed: int, name: str) -> int:
    """The 64-bit key of one tensor's words."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:8], "little")


class WordSequence:
    """The words of one key: word i is SplitMix64's output i for that seed. Not to be shared between threads."""

    def __init__(self, key: int, most: int, device: torch.device) -> None:
        """`most` words at a time; holds three buffers of as many."""
        self._key = key
        self._steps = torch.arange(most, dtype=torch.int64, device=device).mul_(_signed(_STEP))
        self._words, self._shifted = torch.empty_like(self._steps), torch.empty_like(self._steps)

    def take(self, first: int, count: int) -> Tensor:
        """int64 [count]: words first, first + 1, ... The next call overwrites them."""
        words, shifted = self._words[:count], self._shifted[:count]
        torch.add(self._steps[:count], _signed(self._key + (first + 1) * _STEP), out=words)
        for shift, factor in _ROUNDS:
            # int64 shifts keep the sign; the mask makes of that the shift of an unsigned word.
            torch.bitwise_right_shift(words, shift, out=shifted)
            words.bitwise_xor_(shifted.bitwise_and_((1 << (64 - shift)) - 1))
            if factor != 1:
                words.mul_(_signed(factor))
        return words


def _signed(word: int) -> int:
    """The int64 with the bits of an unsigned 64-bit word; higher bits are dropped."""
    return ((word + (1 << 63)) % (1 << 64)) - (1 << 63)
