"""Window compressors: every r tokens become one cache row, pooled channel by channel with learned gates.

Ratio 128 pools its own window; ratio 4 overlaps, so a row also pools the first half of the channels of the window
before it. The rolling state is what an unfinished window needs; its layout makes one step and token-by-token equal.
Source: ds4-architecture 3.5, banded-prefill 2.2 and 3.5.
"""

from dataclasses import dataclass

import torch

from engine.cache_shape import OVERLAP_RATIO
from engine.config import ModelConfig
from engine.layers.norm import rms_norm
from engine.layers.rope import rotate, rotation
from engine.layers.rounding import KvRounding, store_index_rows, store_rows

EMPTY_SCORE = -1e30  # a gate that softmax turns into weight exactly 0, without the NaN of two infinities


@dataclass(frozen=True, slots=True)
class Compressor:
    """What pools projected tokens: ape [r, c·d] and norm [d], float32; c = 2 for ratio 4, else 1.

    The projections themselves (kv and gate, each [c·d, D]) are part of Attention.exact_entry.
    """

    ape: torch.Tensor
    norm: torch.Tensor

    @property
    def kv_lanes(self) -> int:
        """c·d, the width of one token's values and of its gates."""
        return self.ape.shape[1]

    @property
    def ratio(self) -> int:
        return self.ape.shape[0]

    @property
    def width(self) -> int:
        return self.norm.shape[0]


@dataclass(slots=True)
class RollingState:
    """Values and gates of the tokens that later rows still need, float32.

    Ratio 4: [8, 2d], rows 0-3 the last complete window, rows 4-7 the current one. Otherwise [r, d], slot p mod r.
    A completed window stays in the current half until newer tokens overwrite it, slot by slot.
    """

    values: torch.Tensor
    scores: torch.Tensor

    @classmethod
    def empty(cls, ratio: int, width: int, device: torch.device) -> "RollingState":
        shape = (2 * ratio, 2 * width) if ratio == OVERLAP_RATIO else (ratio, width)
        return cls(torch.zeros(shape, device=device), torch.full(shape, EMPTY_SCORE, device=device))

    def copy_from(self, other: "RollingState") -> None:
        self.values.copy_(other.values)
        self.scores.copy_(other.scores)

    def clone(self) -> "RollingState":
        return RollingState(self.values.clone(), self.scores.clone())

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.scores.nbytes


@dataclass(frozen=True, slots=True)
class Windows:
    """What closing windows works on: weights, the layer's frequencies, and where state and rows are kept.

    store [capacity, d] receives row w of window w, as stored; `is_index` tells the indexer's rows from attention's.
    """

    weights: Compressor
    frequencies: torch.Tensor
    rolling: RollingState
    store: torch.Tensor
    rounding: KvRounding
    is_index: bool


def append_rows(values: torch.Tensor, gates: torch.Tensor, start: int, windows: Windows, config: ModelConfig) -> None:
    """Close the windows of a step that begins at `start`: its rows join the store, the rolling state advances.

    values, gates as in `close_windows`. Raises IndexError where the store has no room.
    """
    first, stop = start // windows.weights.ratio, (start + len(values)) // windows.weights.ratio
    if stop > len(windows.store):
        raise IndexError(f"rows {first} to {stop} exceed the capacity of {len(windows.store)}")
    pooled = close_windows(values, gates, start, windows.weights, windows.rolling)
    rows = finish_rows(pooled, first, windows.weights, windows.frequencies, config)
    kind = windows.rounding
    stored = store_index_rows(rows, kind) if windows.is_index else store_rows(rows, kind, config.rope_dim)
    windows.store[first:stop] = stored


def close_windows(
    values: torch.Tensor, gates: torch.Tensor, start: int, weights: Compressor, state: RollingState
) -> torch.Tensor:
    """Pool every window that ends inside the step and advance the rolling state in place.

    `values`, `gates` [N, c·d] float32 are the step's projections (gates without position bias) of tokens start ...
    start+N-1. Returns pooled rows [m, d], m = (start+N)//r - start//r, not yet normed or rotated.
    """
    ratio, tokens = weights.ratio, values.shape[0]
    slots = torch.arange(start, start + tokens, device=values.device) % ratio
    gates = gates + weights.ape[slots]
    carried = start % ratio
    current = ratio if ratio == OVERLAP_RATIO else 0
    values = torch.cat([state.values[current : current + carried], values])
    gates = torch.cat([state.scores[current : current + carried], gates])
    closed = values.shape[0] // ratio
    pooled = _pool(_windows(values, closed, ratio, state.values), _windows(gates, closed, ratio, state.scores))
    _roll(state.values, values, closed, ratio)
    _roll(state.scores, gates, closed, ratio)
    return pooled


def _windows(sequence: torch.Tensor, closed: int, ratio: int, state: torch.Tensor) -> torch.Tensor:
    """The entries each closed window pools: [closed, r, d], or [closed, 2r, d] with the lane of the one before."""
    own = sequence[: closed * ratio].view(closed, ratio, sequence.shape[1])
    if ratio != OVERLAP_RATIO:
        return own
    width = own.shape[2] // 2
    previous = torch.cat([state[None, :ratio, :width], own[:-1, :, :width]]) if closed else own[:, :, :width]
    return torch.cat([previous, own[:, :, width:]], dim=1)


def _pool(values: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
    """Softmax-weighted mean over axis 1, separately for every channel."""
    if not values.shape[0]:
        return values.new_empty(0, values.shape[2])
    return (gates.softmax(dim=1) * values).sum(dim=1)


def _roll(state: torch.Tensor, sequence: torch.Tensor, closed: int, ratio: int) -> None:
    current = state[ratio:] if ratio == OVERLAP_RATIO else state
    if closed:
        current.copy_(sequence[(closed - 1) * ratio : closed * ratio])
        if ratio == OVERLAP_RATIO:
            state[:ratio].copy_(current)
    rest = sequence[closed * ratio :]
    current[: rest.shape[0]].copy_(rest)


def finish_rows(
    pooled: torch.Tensor, first_row: int, weights: Compressor, frequencies: torch.Tensor, config: ModelConfig
) -> torch.Tensor:
    """Norm and rotate pooled rows [m, d]; row i rotates at position r·i, its window's first token."""
    positions = torch.arange(first_row, first_row + pooled.shape[0], device=pooled.device) * weights.ratio
    cos, sin = rotation(positions, frequencies)
    return rotate(rms_norm(pooled, weights.norm, config.rms_eps), cos, sin)
