"""What a session keeps of its past: per layer a raw ring, compressed rows, index rows, and unfinished windows.

Owned by one session on one thread. Rows are appended and never rewritten, so going back to an earlier position needs
a copy of the rings and rolling states only: that copy is a Checkpoint. Sizes: banded-prefill 5.3.
"""

from dataclasses import dataclass

import torch

from engine.cache_shape import OVERLAP_RATIO, SPARE_ROWS
from engine.config import ModelConfig
from engine.layers.compressor import RollingState
from engine.layers.rounding import KvRounding

_CPU = torch.device("cpu")


@dataclass(slots=True)
class LayerState:
    """One layer's state. Row tensors have the stored row type; counts of valid rows follow from the position alone.

    ring [window, d] (slot = position mod window), compressed [capacity, d], index [capacity, di].
    """

    ratio: int
    ring: torch.Tensor
    compressed: torch.Tensor
    index: torch.Tensor
    rolling: RollingState | None
    index_rolling: RollingState | None

    @classmethod
    def empty(
        cls, config: ModelConfig, ratio: int, context: int, rounding: KvRounding, device: torch.device = _CPU
    ) -> "LayerState":
        capacity = context // ratio + SPARE_ROWS if ratio else 0
        indexed = capacity if ratio == OVERLAP_RATIO else 0

        def rows(count: int, width: int) -> torch.Tensor:
            return torch.zeros(count, width, dtype=rounding.row_dtype, device=device)

        return cls(
            ratio,
            rows(config.window, config.head_dim),
            rows(capacity, config.head_dim),
            rows(indexed, config.index_dim if indexed else 0),
            RollingState.empty(ratio, config.head_dim, device) if ratio else None,
            RollingState.empty(ratio, config.index_dim, device) if indexed else None,
        )

    def prior_rows(self, position: int) -> torch.Tensor:
        """The last min(position, window) raw rows before `position`, oldest first; a copy."""
        window = self.ring.shape[0]
        held = min(position, window)
        return self.ring[torch.arange(position - held, position, device=self.ring.device) % window]

    def keep_raw(self, rows: torch.Tensor, start: int) -> None:
        """Write the newest min(N, window) of `rows` (positions start ...) to their ring slots, each slot once."""
        window, stop = self.ring.shape[0], start + rows.shape[0]
        kept = min(rows.shape[0], window)
        self.ring[torch.arange(stop - kept, stop, device=self.ring.device) % window] = rows[rows.shape[0] - kept :]

    def compressed_rows(self, count: int) -> torch.Tensor:
        """The first `count` compressed rows; a view."""
        return self.compressed[:count]

    def index_rows(self, count: int) -> torch.Tensor:
        return self.index[:count]

    def volatile(self) -> list[torch.Tensor]:
        """The tensors that later tokens overwrite, in a fixed order."""
        found = [self.ring]
        for rolling in (self.rolling, self.index_rolling):
            if rolling is not None:
                found += [rolling.values, rolling.scores]
        return found


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A committed position that a session can return to: copies of every tensor that later tokens overwrite.

    `logits` are those after the last token, where they are known.
    """

    position: int
    tensors: tuple[torch.Tensor, ...]
    logits: torch.Tensor | None

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)


class SessionState:
    """All layers' state at one committed position. `position` counts tokens that every layer has consumed."""

    def __init__(self, config: ModelConfig, context: int, rounding: KvRounding, device: torch.device = _CPU) -> None:
        self.config, self.context, self.rounding, self.device = config, context, rounding, device
        self.position = 0
        self.layers = [LayerState.empty(config, ratio, context, rounding, device) for ratio in config.ratios]

    def checkpoint(self, logits: torch.Tensor | None = None) -> Checkpoint:
        copies = tuple(tensor.clone() for layer in self.layers for tensor in layer.volatile())
        return Checkpoint(self.position, copies, logits)

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Return to a checkpoint of this session. Rows beyond its position stay in memory but are never read."""
        if checkpoint.position > self.position:
            raise ValueError(f"cannot rewind from {self.position} forward to {checkpoint.position}")
        self.restore_volatile(checkpoint)

    def restore_volatile(self, checkpoint: Checkpoint) -> None:
        own = [tensor for layer in self.layers for tensor in layer.volatile()]
        for tensor, saved in zip(own, checkpoint.tensors, strict=True):
            tensor.copy_(saved)
        self.position = checkpoint.position

    def reset(self) -> None:
        """Back to an empty timeline; nothing of an earlier request remains readable."""
        for layer, ratio in zip(self.layers, self.config.ratios, strict=True):
            fresh = LayerState.empty(self.config, ratio, 0, self.rounding, self.device)
            for tensor, empty in zip(layer.volatile(), fresh.volatile(), strict=True):
                tensor.copy_(empty)
        self.position = 0
