"""The number formats a GGUF tensor may have: type id, name, and how many weights share how many bytes.

Integers only (no torch), so that a file can be measured without decoding it. Read by the GGUF reader for tensor sizes
and by engine.quant.codecs, whose codecs take their geometry from here. Ids from 100 on belong to the ROCmFP family;
from 105 on forks give the same id different layouts, so those ids carry candidates instead of one geometry.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockType:
    """`block` consecutive weights of a row are stored in `bytes` bytes."""

    name: str
    block: int
    bytes: int

    def row_bytes(self, width: int) -> int:
        """Bytes of a row of `width` weights; ValueError when the row is not made of whole blocks."""
        if width % self.block:
            raise ValueError(f"rows of {width} weights are not made of whole {self.name} blocks of {self.block}")
        return width // self.block * self.bytes


# Sizes of the public types are those of the ggml project; 100 to 104 are ds4-architecture section 7.5.
BLOCK_TYPES: dict[int, BlockType] = {
    0: BlockType("F32", 1, 4),
    1: BlockType("F16", 1, 2),
    2: BlockType("Q4_0", 32, 18),
    3: BlockType("Q4_1", 32, 20),
    6: BlockType("Q5_0", 32, 22),
    7: BlockType("Q5_1", 32, 24),
    8: BlockType("Q8_0", 32, 34),
    9: BlockType("Q8_1", 32, 36),
    10: BlockType("Q2_K", 256, 84),
    11: BlockType("Q3_K", 256, 110),
    12: BlockType("Q4_K", 256, 144),
    13: BlockType("Q5_K", 256, 176),
    14: BlockType("Q6_K", 256, 210),
    15: BlockType("Q8_K", 256, 292),
    16: BlockType("IQ2_XXS", 256, 66),
    17: BlockType("IQ2_XS", 256, 74),
    18: BlockType("IQ3_XXS", 256, 98),
    19: BlockType("IQ1_S", 256, 50),
    20: BlockType("IQ4_NL", 32, 18),
    21: BlockType("IQ3_S", 256, 110),
    22: BlockType("IQ2_S", 256, 82),
    23: BlockType("IQ4_XS", 256, 136),
    24: BlockType("I8", 1, 1),
    25: BlockType("I16", 1, 2),
    26: BlockType("I32", 1, 4),
    27: BlockType("I64", 1, 8),
    28: BlockType("F64", 1, 8),
    29: BlockType("IQ1_M", 256, 56),
    30: BlockType("BF16", 1, 2),
    34: BlockType("TQ1_0", 256, 54),
    35: BlockType("TQ2_0", 256, 66),
    39: BlockType("MXFP4", 32, 17),
    40: BlockType("NVFP4", 64, 36),
    100: BlockType("ROCmFP4", 32, 18),
    101: BlockType("ROCmFP4_FAST", 32, 17),
    102: BlockType("ROCmFP6", 32, 26),
    103: BlockType("ROCmFP8", 32, 33),
    104: BlockType("ROCmFP3", 32, 14),
}

# The types that engine.quant.codecs decodes, for those who ask without loading torch.
READABLE_TYPES = frozenset({0, 1, 8, 10, 12, 13, 14, 16, 26, 30, 39, 100, 101, 102, 103, 104})

# Three meanings of the same ten bytes, and one layout of another size that shares their id (section 7.5).
ROCMFP2_CODEBOOK = BlockType("ROCmFP2 code book", 32, 10)
ROCMFP2_S40 = BlockType("ROCmFP2 S40", 32, 10)
ROCMFP2_AFFINE = BlockType("ROCmFP2 affine", 32, 10)
ROCMFP7 = BlockType("ROCmFP 7-bit", 256, 240)
MIX3 = BlockType("ROCmFP3 MIX", 32, 14)
MIX2 = BlockType("ROCmFP2 MIX", 32, 10)

AMBIGUOUS_TYPES: dict[int, tuple[BlockType, ...]] = {
    105: (MIX3,),
    106: (MIX2,),
    107: (ROCMFP2_CODEBOOK, ROCMFP2_S40, ROCMFP2_AFFINE, ROCMFP7),
    108: (ROCMFP2_S40, ROCMFP2_AFFINE),
}


def type_name(type_id: int) -> str:
    """The format's name, or "type N (several meanings)" for an id that forks use differently."""
    known = BLOCK_TYPES.get(type_id)
    return known.name if known else f"type {type_id} (several meanings)"
