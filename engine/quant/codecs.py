"""The one table of number formats: GGUF type id -> how to decode its blocks, and for some how to encode them.

The weight loader decodes with it, converters encode, tests and kernels take it as the reference. Pure torch
functions without state: any thread, any device. Type ids above 104 mean different things in different forks; the
table holds an `Ambiguous` entry for them and the caller says which codec is meant (see engine.quant.infer).
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.errors import ModelFileError
from engine.gguf.types import (
    AMBIGUOUS_TYPES,
    BLOCK_TYPES,
    MIX2,
    MIX3,
    ROCMFP2_AFFINE,
    ROCMFP2_CODEBOOK,
    ROCMFP2_S40,
    ROCMFP7,
    BlockType,
)
from engine.quant import encode as encoders
from engine.quant import ggml, rocmfp

BlockFunction = Callable[[Tensor], Tensor]
# Blocks are decoded this many weights at a time, so that temporaries stay small beside the result.
_WEIGHTS_AT_ONCE = 1 << 21
_LARGEST_F16 = torch.finfo(torch.float16).max
_ENCODED_IN_CACHE = 1 << 16  # an encoder goes over its weights dozens of times, so on a CPU they should stay in cache


@dataclass(frozen=True, slots=True)
class Codec:
    """One format. `decode` maps uint8 [n, bytes] to float32 [n, block] (I32: int32), `encode` goes back.

    `encode` is None where we only read the format; `largest` is the magnitude up to which it keeps weights.
    """

    name: str
    block: int
    bytes: int
    decode: BlockFunction
    encode: BlockFunction | None = None
    largest: float = math.inf


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A type id that forks use for different formats. `unreadable` names those candidates we cannot decode."""

    type_id: int
    candidates: tuple[Codec, ...]
    unreadable: tuple[str, ...]


def _codec(
    block_type: BlockType, decode: BlockFunction, encode: BlockFunction | None = None, largest: float = math.inf
) -> Codec:
    return Codec(block_type.name, block_type.block, block_type.bytes, decode, encode, largest)


def _decode_bf16(blocks: Tensor) -> Tensor:
    return blocks.contiguous().view(torch.bfloat16).float()


def _decode_f16(blocks: Tensor) -> Tensor:
    return blocks.contiguous().view(torch.float16).float()


def _decode_f32(blocks: Tensor) -> Tensor:
    return blocks.clone(memory_format=torch.contiguous_format).view(torch.float32)


def _decode_i32(blocks: Tensor) -> Tensor:
    return blocks.clone(memory_format=torch.contiguous_format).view(torch.int32)


def _encode_as(dtype: torch.dtype) -> BlockFunction:
    return lambda weights: weights.to(dtype).contiguous().view(torch.uint8)


FP2_CODEBOOK = _codec(ROCMFP2_CODEBOOK, rocmfp.decode_fp2_codebook)
FP2_S40 = _codec(ROCMFP2_S40, rocmfp.decode_fp2_s40)
FP2_AFFINE = _codec(ROCMFP2_AFFINE, rocmfp.decode_fp2_affine)

CODECS: dict[int, Codec | Ambiguous] = {
    0: _codec(BLOCK_TYPES[0], _decode_f32, _encode_as(torch.float32)),
    1: _codec(BLOCK_TYPES[1], _decode_f16, _encode_as(torch.float16), _LARGEST_F16),
    8: _codec(BLOCK_TYPES[8], ggml.decode_q8_0, encoders.encode_q8_0, 127 * _LARGEST_F16),
    10: _codec(BLOCK_TYPES[10], ggml.decode_q2_k),
    12: _codec(BLOCK_TYPES[12], ggml.decode_q4_k),
    13: _codec(BLOCK_TYPES[13], ggml.decode_q5_k),
    14: _codec(BLOCK_TYPES[14], ggml.decode_q6_k),
    16: _codec(BLOCK_TYPES[16], ggml.decode_iq2_xxs),
    26: _codec(BLOCK_TYPES[26], _decode_i32, _encode_as(torch.int32)),
    30: _codec(BLOCK_TYPES[30], _decode_bf16, _encode_as(torch.bfloat16)),
    39: _codec(BLOCK_TYPES[39], ggml.decode_mxfp4, encoders.encode_mxfp4),
    100: _codec(BLOCK_TYPES[100], rocmfp.decode_fp4, encoders.encode_rocmfp4, rocmfp.LARGEST_FP4),
    101: _codec(BLOCK_TYPES[101], rocmfp.decode_fp4_fast, encoders.encode_rocmfp4_fast, rocmfp.LARGEST_FP4),
    102: _codec(BLOCK_TYPES[102], rocmfp.decode_fp6),
    103: _codec(BLOCK_TYPES[103], rocmfp.decode_fp8),
    104: _codec(BLOCK_TYPES[104], rocmfp.decode_fp3, encoders.encode_rocmfp3, rocmfp.LARGEST_FP3),
    105: Ambiguous(105, (), (MIX3.name, "TurboQuant-3")),
    106: Ambiguous(106, (), (MIX2.name, "TurboQuant-4")),
    107: Ambiguous(107, (FP2_CODEBOOK, FP2_S40, FP2_AFFINE), (ROCMFP7.name,)),
    108: Ambiguous(108, (FP2_S40, FP2_AFFINE), ("4-bit signed integer",)),
}

# The first read-only buffer makes torch warn once that writing to it is undefined. We never write to file data.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.frombuffer(bytes(1), dtype=torch.uint8)


def codec_for(type_id: int) -> Codec:
    """The codec of an unambiguous type id. Raises ModelFileError for any other, saying which of the two it is."""
    entry = CODECS.get(type_id)
    if isinstance(entry, Codec):
        return entry
    if entry is None and type_id in BLOCK_TYPES:
        raise ModelFileError(f"Weights of type {BLOCK_TYPES[type_id].name} cannot be read; convert the file first.")
    if entry is None and type_id not in AMBIGUOUS_TYPES:
        raise ModelFileError(f"Weights of type {type_id} are of no known number format.")
    raise ModelFileError(f"Type {type_id} means different formats in different files; the one meant must be chosen.")


def as_bytes(raw: Tensor | bytes | bytearray | memoryview) -> Tensor:
    """A flat uint8 tensor over `raw` without copying. Read-only buffers give tensors that must not be written."""
    if isinstance(raw, Tensor):
        return raw.reshape(-1)
    if len(raw) == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer(raw, dtype=torch.uint8)


def decode(codec: Codec | int, raw: Tensor | bytes | bytearray | memoryview, shape: Sequence[int]) -> Tensor:
    """Decode stored rows into a new float32 tensor of `shape` (int32 for I32), on the device of `raw`.

    `raw` is uint8 and exactly as long as the shape needs; ValueError otherwise. `codec` may be a type id, for which
    ModelFileError is raised as in `codec_for`.
    """
    codec = codec_for(codec) if isinstance(codec, int) else codec
    stored = as_bytes(raw)
    count = math.prod(shape)
    if not shape or shape[-1] % codec.block:
        raise ValueError(f"shape {tuple(shape)} is not made of whole {codec.name} blocks of {codec.block}")
    if stored.dtype != torch.uint8 or stored.numel() != count // codec.block * codec.bytes:
        raise ValueError(f"{stored.numel():,} bytes do not hold {codec.name} weights of shape {tuple(shape)}")
    blocks = stored.view(-1, codec.bytes)
    step = max(1, _WEIGHTS_AT_ONCE // codec.block)
    if len(blocks) <= step:
        return codec.decode(blocks).reshape(*shape)
    first = codec.decode(blocks[:step])
    weights = torch.empty(len(blocks), codec.block, dtype=first.dtype, device=first.device)
    weights[:step] = first
    for start in range(step, len(blocks), step):
        weights[start : start + step] = codec.decode(blocks[start : start + step])
    return weights.view(*shape)


def encode(codec: Codec | int, weights: Tensor) -> Tensor:
    """Encode weights [..., width] row by row into a flat uint8 tensor.

    Scales are searched for the smallest squared error; block formats clip what is beyond `Codec.largest`. ValueError
    when rows are not whole blocks, a weight is not finite, or there is no encoder here; ModelFileError as in
    `codec_for`.
    """
    codec = codec_for(codec) if isinstance(codec, int) else codec
    if codec.encode is None:
        raise ValueError(f"{codec.name} can be read but not written")
    if weights.dim() == 0 or weights.shape[-1] % codec.block:
        raise ValueError(f"shape {tuple(weights.shape)} is not made of whole {codec.name} blocks of {codec.block}")
    if not bool(torch.isfinite(weights).all()):
        raise ValueError(f"weights that are not finite cannot be written as {codec.name}")
    blocks = weights.reshape(-1, codec.block)
    step = (_ENCODED_IN_CACHE if weights.device.type == "cpu" else _WEIGHTS_AT_ONCE) // codec.block
    parts = [codec.encode(blocks[start : start + step]) for start in range(0, len(blocks), step)]
    return torch.cat(parts).view(-1) if parts else torch.empty(0, dtype=torch.uint8)
