"""What a model's weights take on the CPU, from its table of tensors alone, before anything is allocated.

Integers in bytes, no torch: the models page and `haloband inspect` ask it too. Tests hold it to what loading allocates.
"""

from collections.abc import Iterable

from engine.host import has_bf16_products
from engine.names import Part, part_of
from engine.tensor_source import StoredTensor

# Types whose blocks the compiled decode program reads where the file has them (kernels.cpu.decode_weights.Codec).
READ_IN_PLACE = frozenset({0, 1, 8, 30, 39, 100, 101})
_FLOAT32, _TABLE, _TABLE_COPY = 4, 8, 4  # an int64 for a table's entry, and an int32 for the decode program's


def product_itemsize() -> int:
    """Bytes of a weight in the type that this processor multiplies fastest, which is the usual one."""
    return 2 if has_bf16_products() else 4


def placed_bytes(tensors: Iterable[StoredTensor], itemsize: int) -> int:
    """As engine.placement.DecodedPlacement holds them, with `itemsize` bytes for a weight of a layer's matrix.

    The head, mixers, routers, compressors and vectors are float32. Tensors that the model does not use are not loaded.
    """
    return sum(tensor.elements * _bytes_of(part_of(tensor.name), itemsize) for tensor in tensors)


def copied_bytes(tensors: Iterable[StoredTensor]) -> int:
    """What the compiled decode program holds besides: matrices that it cannot read in place, and tables."""
    found = 0
    for tensor in tensors:
        match part_of(tensor.name):
            case None | Part.VECTOR:
                pass
            case Part.TABLE:
                found += tensor.elements * _TABLE_COPY
            case _ if tensor.type_id not in READ_IN_PLACE:
                found += tensor.elements * _FLOAT32
    return found


def _bytes_of(part: Part | None, itemsize: int) -> int:
    match part:
        case None:
            return 0
        case Part.TABLE:
            return _TABLE
        case Part.HEAD | Part.EXACT | Part.VECTOR:
            return _FLOAT32
        case _:
            return itemsize
