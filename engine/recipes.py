"""What `haloband convert` makes of each tensor: a recipe gives every part of the model a number format.

The choices of "mix" were measured by KL divergence on the embedded model; docs/convert.md has the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from engine.gguf.types import BLOCK_TYPES
from engine.names import Part, part_of
from engine.tensor_source import StoredTensor

F16, Q8_0, ROCMFP4 = 1, 8, 100
_MOSTLY_Q8_0 = 7  # general.file_type
_PLAIN_BITS = 16  # a format with as many bits a weight, or more, is not a quantised one


@dataclass(frozen=True, slots=True)
class Recipe:
    """`types` maps parts to GGUF type ids; parts that are missing stay as they are stored.

    With `keeps_smaller`, tensors that already take no more bits a weight than their new format stay as well: writing
    them again would lose precision and save nothing. Rows that are not made of whole blocks become F16.
    """

    name: str
    types: Mapping[Part, int]
    keeps_smaller: bool = False
    file_type: int | None = None  # what general.file_type calls the result, if it has a number

    def type_for(self, tensor: StoredTensor, stored_bits: float) -> int:
        """The type id to store `tensor` in, which now takes `stored_bits` bits a weight; its own id to copy it."""
        part = part_of(tensor.name)
        wanted = self.types.get(part) if part is not None else None
        if wanted is None or tensor.type_id == wanted:
            return tensor.type_id
        block = BLOCK_TYPES[wanted]
        if tensor.shape[-1] % block.block:
            return tensor.type_id if stored_bits >= _PLAIN_BITS else F16
        bits = block.bytes * 8 / block.block
        return tensor.type_id if self.keeps_smaller and stored_bits <= bits else wanted


def uniform(type_id: int) -> dict[Part, int]:
    """Every matrix in one format."""
    return {part: type_id for part in Part if part.is_matrix}


# Nearly all weights are routed experts; of the rest only the queries' matrix bears 4.5 bits without being noticed.
_MIX = uniform(Q8_0) | {Part.ROUTED: ROCMFP4, Part.QUERIES: ROCMFP4}


class Recipes(Enum):
    """The recipes of the command line."""

    Q8 = Recipe("q8", MappingProxyType(uniform(Q8_0)), file_type=_MOSTLY_Q8_0)
    MIX = Recipe("mix", MappingProxyType(_MIX), keeps_smaller=True)
