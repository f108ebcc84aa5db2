"""What the weight loader needs of a model's files, whatever their form: canonical tensors, and the bytes of each.

engine.gguf.source and engine.hf.source implement it, engine.stored_weights reads from it. No torch, so that a
model can be looked at without loading it; a source does not change once open, and any thread may read from it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from engine.gguf.types import type_name

if TYPE_CHECKING:
    import torch

Buffer = bytes | bytearray | memoryview
# A metadata key of ours: what the ambiguous type id of a family of tensors means (FAMILY as in engine.names.family).
FORMAT_KEY = "haloband.format."


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor. `name` is canonical (engine.names), `stored_as` what errors call it, `shape` in torch order.

    `data` of its source gives whole blocks of GGUF type `type_id`, whatever the file holds. For a type id with several
    meanings `nbytes` is the room in the file, padding included.
    """

    name: str
    stored_as: str
    shape: tuple[int, ...]
    type_id: int
    nbytes: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def type_name(self) -> str:
        return type_name(self.type_id)


class TensorSource(Protocol):
    """The tensors of one model. `name` is what errors call the file or folder; `tensors` are in file order."""

    @property
    def name(self) -> str: ...

    @property
    def tensors(self) -> Mapping[str, StoredTensor]: ...

    @property
    def declared_formats(self) -> Mapping[str, str]:
        """Family of tensors to the name of its format, where the file says (FORMAT_KEY)."""

    def called(self, name: str) -> str:
        """What files of this form call the tensor of a canonical name, for errors."""

    def data(self, tensor: StoredTensor) -> Buffer:
        """`nbytes` bytes of GGUF blocks: a view of the mapped file where it holds them as they are, else a copy."""

    def sample(self, tensor: StoredTensor, count: int) -> bytes:
        """Up to `count` bytes at the start and as many at the end of what the file stores, to tell files apart."""


@runtime_checkable
class GeneratesTensors(Protocol):
    """A TensorSource without a file, which can make a tensor in the memory where it is wanted (engine.synth)."""

    def fill(self, tensor: StoredTensor, out: "torch.Tensor") -> None:
        """Write the `tensor.nbytes` bytes that `data` would give into `out`, flat uint8 on any device."""
