"""How a backend takes weights in: the calls that loading makes, and the form in which a CPU keeps them.

Used by engine.weights while loading, on the loading thread.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from engine.layers.matrix import Matrix
from engine.stored_weights import StoredWeights

Advance = Callable[[int], None]  # told of stored bytes as they are done; may raise Stopped


class Placement(Protocol):
    """Takes named tensors of a model in. Whatever raises, nothing that was placed stays reachable from here."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what is not held as it is stored and would not be expected."""

    def stack(self, stored: StoredWeights, names: Sequence[str], advance: Advance) -> Matrix:
        """Matrices of one width, one above the other: [rows of all, width], or [experts, rows, width] of one name."""

    def gate_up(self, stored: StoredWeights, gate: str, up: str, advance: Advance) -> Matrix:
        """Two matrices [.., ff, D] that share an input: [.., 2 ff, D], gate first."""

    def exact(self, stored: StoredWeights, names: Sequence[str], advance: Advance) -> Matrix:
        """As `stack`, for matrices whose products must keep float32's or F16's precision."""

    def head(self, stored: StoredWeights, name: str, advance: Advance) -> Matrix:
        """The output matrix. Its products keep float32's precision: a prompt's last logits are those of decoding."""

    def values(self, decoded: torch.Tensor) -> torch.Tensor:
        """A small decoded tensor (norms, biases, mixers, tables), where the backend computes."""


class DecodedPlacement:
    """Everything decoded into tensors on the CPU: the layers' matrices in `dtype`, the rest in float32."""

    notes = ()

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype

    def stack(self, stored: StoredWeights, names: Sequence[str], advance: Advance) -> torch.Tensor:
        return _above_one_another([_decode(stored, name, advance, self._dtype) for name in names], 0)

    def gate_up(self, stored: StoredWeights, gate: str, up: str, advance: Advance) -> torch.Tensor:
        return _above_one_another([_decode(stored, name, advance, self._dtype) for name in (gate, up)], -2)

    def exact(self, stored: StoredWeights, names: Sequence[str], advance: Advance) -> torch.Tensor:
        return _above_one_another([_decode(stored, name, advance, torch.float32) for name in names], 0)

    def head(self, stored: StoredWeights, name: str, advance: Advance) -> torch.Tensor:
        return _decode(stored, name, advance, torch.float32)

    def values(self, decoded: torch.Tensor) -> torch.Tensor:
        return decoded


def _decode(stored: StoredWeights, name: str, advance: Advance, dtype: torch.dtype) -> torch.Tensor:
    decoded = stored.decode(name).to(dtype)
    advance(stored.tensor(name).nbytes)
    return decoded


def _above_one_another(parts: Sequence[torch.Tensor], axis: int) -> torch.Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts), dim=axis)
