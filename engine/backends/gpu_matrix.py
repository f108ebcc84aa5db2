"""Weight matrices on a GPU: the file's own blocks, with the shape that layers see.

Made by engine.backends.gpu_placement while loading, multiplied by gpu_products and gpu_decode.
"""

from dataclasses import dataclass

import torch

from engine.layers.matrix import Matrix
from kernels.ops.formats import WeightFormat
from kernels.ops.matvec import Matrix as StoredMatrix

_FORMATS = {
    "F16": WeightFormat.F16,
    "Q8_0": WeightFormat.Q8_0,
    "Q4_K": WeightFormat.Q4_K,
    "Q2_K": WeightFormat.Q2_K,
    "IQ2_XXS": WeightFormat.IQ2_XXS,
    "MXFP4": WeightFormat.MXFP4,
    "ROCmFP4": WeightFormat.ROCMFP4,
    "ROCmFP4_FAST": WeightFormat.ROCMFP4_FAST,
    "ROCmFP2 code book": WeightFormat.ROCMFP2,
    "ROCmFP2 S40": WeightFormat.ROCMFP2_S40,
    "ROCmFP2 affine": WeightFormat.ROCMFP2_AFFINE,
    "ROCmFP3": WeightFormat.ROCMFP3,
    "ROCmFP8": WeightFormat.ROCMFP8,
}


def device_format(codec_name: str, width: int) -> WeightFormat | None:
    """The device's decoder of a codec (engine.quant.codecs) for rows of `width` weights; None where it has none."""
    kind = _FORMATS.get(codec_name)
    fits = kind is not None and width % kind.value.block == 0 and kind.row_bytes(width) % 4 == 0
    return kind if fits else None


@dataclass(frozen=True, slots=True)
class BlockMatrix:
    """[out, in], or [experts, out, in], in blocks."""

    stored: StoredMatrix

    @property
    def shape(self) -> torch.Size:
        stored = self.stored
        return torch.Size((*((stored.experts,) if stored.experts > 1 else ()), stored.rows, stored.width))


def stored_of(matrix: Matrix) -> StoredMatrix:
    """The blocks of a matrix that this backend placed. Raises TypeError for another backend's form."""
    if not isinstance(matrix, BlockMatrix):
        raise TypeError(f"{type(matrix).__name__} is not held in blocks: it belongs to another backend")
    return matrix.stored


@dataclass(frozen=True, slots=True)
class GateUp:
    """Gate and up of an expert sublayer, each [.., ff, D]: their kernel reads both at once."""

    gate: StoredMatrix
    up: StoredMatrix

    @property
    def shape(self) -> torch.Size:
        experts = (self.gate.experts,) if self.gate.experts > 1 else ()
        return torch.Size((*experts, self.gate.rows + self.up.rows, self.gate.width))


def pair_of(matrix: Matrix) -> GateUp:
    """As `stored_of`, for gate and up."""
    if not isinstance(matrix, GateUp):
        raise TypeError(f"{type(matrix).__name__} is no pair of gate and up: it belongs to another backend")
    return matrix
