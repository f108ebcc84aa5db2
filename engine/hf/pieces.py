"""One stored tensor of a DeepSeek checkpoint with its scales, and the GGUF blocks it becomes (ds4-architecture 7.1).

engine.hf.source puts pieces together to whole tensors. NumPy only; reading may raise ModelFileError where
stored values have no meaning.
"""

from dataclasses import dataclass

import numpy as np

from engine.errors import ModelFileError
from engine.gguf.types import BLOCK_TYPES
from engine.hf.blocks import FP4_BLOCK, FP8_BLOCK, INVALID_SCALE, fp4_to_mxfp4, fp8_to_bf16
from engine.hf.safetensors_file import SafeTensor, SafetensorsFile
from engine.tensor_source import Buffer

F32, F16, I32, BF16, MXFP4 = 0, 1, 26, 30, 39
_PLAIN = {"F32": F32, "F16": F16, "BF16": BF16, "I32": I32}
_PACKED = ("I8", "U8")  # two FP4 codes a byte: the format has no name for them


@dataclass(frozen=True, slots=True)
class Located:
    """A tensor and the file it lies in."""

    file: SafetensorsFile
    tensor: SafeTensor

    def bytes(self) -> memoryview:
        return self.file.data(self.tensor)


@dataclass(frozen=True, slots=True)
class Piece:
    """A matrix or vector of `shape` (torch order, FP4 unpacked) that reads as GGUF type `type_id`."""

    weight: Located
    scale: Located | None
    shape: tuple[int, ...]
    type_id: int

    @property
    def nbytes(self) -> int:
        block, rows = BLOCK_TYPES[self.type_id], self.shape[:-1]
        return block.row_bytes(self.shape[-1]) * int(np.prod(rows, dtype=np.int64))

    @property
    def is_as_stored(self) -> bool:
        return self.scale is None and self.weight.tensor.dtype in _PLAIN


def make_piece(weight: Located, scale: Located | None) -> Piece:
    """Check type, shape and scales of a stored tensor. Raises ModelFileError naming file and tensor."""
    dtype, shape = weight.tensor.dtype, weight.tensor.shape
    if not shape or 0 in shape:
        raise _fault(weight, f"is empty: its shape is {list(shape)}")
    if dtype in _PLAIN and scale is None:
        return Piece(weight, None, shape, _PLAIN[dtype])
    if dtype == "I64" and scale is None:
        return Piece(weight, None, shape, I32)
    if dtype == "F8_E4M3" and len(shape) == 2:
        wanted = -(-shape[0] // FP8_BLOCK), -(-shape[1] // FP8_BLOCK)
        return Piece(weight, _checked_scale(weight, scale, wanted), shape, BF16)
    if dtype in _PACKED and len(shape) == 2:
        wide = shape[0], 2 * shape[1]
        if wide[1] % FP4_BLOCK:
            raise _fault(weight, f"has rows of {wide[1]} FP4 weights, which are no whole blocks of {FP4_BLOCK}")
        return Piece(weight, _checked_scale(weight, scale, (wide[0], wide[1] // FP4_BLOCK)), wide, MXFP4)
    with_scales = "" if scale is None else " with scales"
    raise _fault(weight, f"is {dtype} of shape {list(shape)}{with_scales}, a form that is not known")


def read_piece(piece: Piece) -> Buffer:
    """The piece as GGUF blocks: the mapped bytes themselves where they are so stored."""
    if piece.is_as_stored:
        return piece.weight.bytes()
    if piece.scale is None:
        return _narrow(piece)
    scales = np.frombuffer(piece.scale.bytes(), np.uint8).reshape(piece.scale.tensor.shape)
    if (scales == INVALID_SCALE).any():
        raise _fault(piece.scale, "has a scale that is not a number")
    codes = np.frombuffer(piece.weight.bytes(), np.uint8).reshape(piece.weight.tensor.shape)
    return fp8_to_bf16(codes, scales) if piece.type_id == BF16 else fp4_to_mxfp4(codes, scales)


def _narrow(piece: Piece) -> bytes:
    """64-bit whole numbers as 32-bit ones."""
    wide = np.frombuffer(piece.weight.bytes(), "<i8")
    narrow = wide.astype("<i4")
    if not np.array_equal(wide, narrow):
        raise _fault(piece.weight, "holds numbers that need more than 32 bits")
    return narrow.tobytes()


def _checked_scale(weight: Located, scale: Located | None, shape: tuple[int, int]) -> Located:
    if scale is None:
        raise _fault(weight, f"is {weight.tensor.dtype}, but its scales are missing")
    if scale.tensor.dtype != "F8_E8M0" or scale.tensor.shape != shape:
        found = f"{scale.tensor.dtype} of shape {list(scale.tensor.shape)}"
        raise _fault(scale, f"is {found}, not F8_E8M0 of shape {list(shape)}")
    return scale


def _fault(where: Located, problem: str) -> ModelFileError:
    return ModelFileError(f"{where.file.path}: tensor {where.tensor.name} {problem}.")
