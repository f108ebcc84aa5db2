"""What a decode program is told about a model: sizes, matrices as they are stored, and one layer's state.

Plain records that engine/backends fills once a model and once a session; kernels/cpu/decode.py checks and uses them.
Names follow the mathematics of the DS4 specification, sections 2 to 5.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import torch

Bytes = torch.Tensor | np.ndarray


class Codec(IntEnum):
    """Stored types that the kernels read; the numbers are those of files. Anything else is passed as a float32 copy."""

    F32 = 0
    F16 = 1
    Q8_0 = 8
    BF16 = 30
    MXFP4 = 39
    ROCMFP4 = 100
    ROCMFP4_FAST = 101


class RowRounding(IntEnum):
    """The form of cache rows: float32; float16; or E4M3 in float16 with Hadamard and E2M1 for the indexer."""

    NONE = 0
    F16 = 1
    E4M3 = 2

    @property
    def dtype(self) -> torch.dtype:
        return torch.float32 if self is RowRounding.NONE else torch.float16


_DENSE = {torch.float32: Codec.F32, torch.float16: Codec.F16, torch.bfloat16: Codec.BF16}


@dataclass(frozen=True, slots=True)
class Matrix:
    """`rows` rows of `cols` weights, y = W x. `data` is contiguous CPU memory and is not copied: a tensor or array of
    bytes holding whole GGUF blocks (a memory-mapped file is fine), or a float tensor. Experts are stacked along rows.
    """

    data: Bytes
    rows: int
    cols: int
    codec: Codec

    @classmethod
    def dense(cls, values: torch.Tensor) -> "Matrix":
        """A float32, float16 or bfloat16 tensor [..., rows, cols]; leading axes are stacked. Raises ValueError."""
        if values.dtype not in _DENSE or values.dim() < 2:
            raise ValueError(f"a matrix of {values.dtype} with {values.dim()} axes cannot be used as it is")
        return cls(values, values.numel() // max(values.shape[-1], 1), values.shape[-1], _DENSE[values.dtype])


@dataclass(frozen=True, slots=True)
class MixerWeights:
    """weight [24, 4·hidden] (the output's [4, 4·hidden]), scale float32 [3] ([1]), base float32 [24] ([4])."""

    weight: Matrix
    scale: torch.Tensor
    base: torch.Tensor


@dataclass(frozen=True, slots=True)
class CompressorWeights:
    """values and scores [c·d, hidden], position_bias float32 [ratio, c·d], norm float32 [d]; c = 2 for ratio 4, else 1.

    d is the head width, or the index width for the indexer's own compressor.
    """

    values: Matrix
    scores: Matrix
    position_bias: torch.Tensor
    norm: torch.Tensor


@dataclass(frozen=True, slots=True)
class IndexerWeights:
    """query [index_heads·index_width, q_rank], weight [index_heads, hidden] (unscaled); its own compressor."""

    query: Matrix
    weight: Matrix
    compressor: CompressorWeights


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """q_a [q_rank, D], q_b [H·d, q_rank], kv [d, D], out_a [groups·out_rank, H·d/groups], out_b [D, groups·out_rank];
    norms and sinks [H] float32. `compressor` where ratio > 0, `indexer` where ratio is 4.
    """

    ratio: int
    q_a: Matrix
    q_a_norm: torch.Tensor
    q_b: Matrix
    kv: Matrix
    kv_norm: torch.Tensor
    sinks: torch.Tensor
    out_a: Matrix
    out_b: Matrix
    compressor: CompressorWeights | None = None
    indexer: IndexerWeights | None = None


@dataclass(frozen=True, slots=True)
class ExpertWeights:
    """router [E, D]; gate and up [E·ff, D], down [E·D, ff], experts stacked; the shared expert's three alike.

    Either `table` int32 [vocab, used] names the experts of a token, or score plus `bias` float32 [E] chooses them.
    The gate is clamped above at `limit`, up on both sides, for shared and routed experts.
    """

    router: Matrix
    gate: Matrix
    up: Matrix
    down: Matrix
    shared_gate: Matrix
    shared_up: Matrix
    shared_down: Matrix
    limit: float
    bias: torch.Tensor | None = None
    table: torch.Tensor | None = None


@dataclass(frozen=True, slots=True)
class DecodeLayer:
    """One layer's two sublayers with their mixers and input norms, float32 [D]."""

    attention_mixer: MixerWeights
    attention_norm: torch.Tensor
    attention: AttentionWeights
    experts_mixer: MixerWeights
    experts_norm: torch.Tensor
    experts: ExpertWeights


@dataclass(frozen=True, slots=True)
class DecodeModel:
    """A whole model. Widths of vectors (hidden, head, index, rank, expert) are multiples of 16.

    Frequencies are float64 [rotary_width / 2], angle per position of each pair: `plain_frequencies` of layers with
    ratio 0, `compressed_frequencies` (YaRN included) of the others. The other sizes follow from the matrices.
    """

    heads: int
    rotary_width: int
    out_groups: int
    window: int
    index_heads: int
    top_k: int
    experts: int
    experts_used: int
    expert_scale: float
    sinkhorn_iterations: int
    rms_eps: float
    mixer_eps: float
    plain_frequencies: torch.Tensor
    compressed_frequencies: torch.Tensor
    embedding: Matrix
    layers: tuple[DecodeLayer, ...]
    output_mixer: MixerWeights
    output_norm: torch.Tensor
    output: Matrix


@dataclass(frozen=True, slots=True)
class LayerRows:
    """One layer's state, advanced in place; all contiguous, rows in the rounding's type.

    ring [window, d], slot = position mod window. Where ratio > 0: rows [capacity, d]; values and scores float32 [8, 2d]
    for ratio 4 (rows 0-3 the last complete window, 4-7 the current one) or [ratio, d], slot = position mod ratio;
    scores hold the position bias; a fresh state has values 0 and scores -1e30. Where ratio is 4, the same of the
    indexer: index_rows [capacity, di], index_values and index_scores [8, 2di].
    """

    ring: torch.Tensor
    rows: torch.Tensor | None = None
    values: torch.Tensor | None = None
    scores: torch.Tensor | None = None
    index_rows: torch.Tensor | None = None
    index_values: torch.Tensor | None = None
    index_scores: torch.Tensor | None = None
