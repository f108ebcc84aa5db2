"""Models as the decode program takes them, built from weights under the checkpoint's names, stored in any codec.

`DecodeCase.weights` holds the values that the stored forms stand for, so that a reference computes with exactly the
numbers that the kernels read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import gguf
import numpy as np
import torch

from engine.quant.codecs import decode, encode
from kernels.cpu.decode_weights import (
    AttentionWeights,
    Codec,
    CompressorWeights,
    DecodeLayer,
    DecodeModel,
    ExpertWeights,
    IndexerWeights,
    Matrix,
    MixerWeights,
)
from tests.kernels.cpu.decode_random import OVERLAP, Shape, Tensors, frequencies

_GGUF = {
    Codec.Q8_0: gguf.GGMLQuantizationType.Q8_0,
    Codec.MXFP4: gguf.GGMLQuantizationType.MXFP4,
}
_ROCMFP = (Codec.ROCMFP4, Codec.ROCMFP4_FAST)  # not known to the public library


def stored(values: torch.Tensor, codec: Codec) -> tuple[Matrix, torch.Tensor]:
    """A matrix [rows, cols] in a codec, and the float32 values that the stored form stands for."""
    rows, cols = values.shape
    if codec in (*_GGUF, *_ROCMFP) and cols % 32:
        codec = Codec.F16  # no whole blocks
    if codec in _ROCMFP:
        packed = encode(codec, values)
        return Matrix(packed.view(rows, -1), rows, cols, codec), decode(codec, packed, (rows, cols))
    if codec in _GGUF:
        blocks = gguf.quants.quantize(np.ascontiguousarray(values.numpy()), _GGUF[codec])
        back = gguf.quants.dequantize(blocks, _GGUF[codec])
        return Matrix(torch.from_numpy(blocks).contiguous(), rows, cols, codec), torch.from_numpy(back)
    dtype = {Codec.F32: torch.float32, Codec.F16: torch.float16, Codec.BF16: torch.bfloat16}[codec]
    kept = values.to(dtype).contiguous()
    return Matrix.dense(kept), kept.float()


def all_f32(name: str) -> Codec:
    """Every matrix as it is."""
    return Codec.F32


def as_published(name: str) -> Codec:
    """As in the released model: MXFP4 experts, F16 compressors and indexer, F32 mixers and router, the rest Q8_0."""
    if ".experts." in name:
        return Codec.MXFP4
    if "compressor" in name or "indexer" in name:
        return Codec.F16
    return Codec.F32 if "hc_" in name or "ffn.gate" in name else Codec.Q8_0


def every_codec(name: str) -> Codec:
    """Spreads the codecs over all matrices, so that each is met in many places."""
    codecs = tuple(Codec)
    return codecs[sum(name.encode()) % len(codecs)]


@dataclass(slots=True)
class DecodeCase:
    """A model for the program and, under `weights`, the values that a reference must use."""

    shape: Shape
    model: DecodeModel
    weights: Tensors = field(repr=False)


class _Builder:
    def __init__(self, shape: Shape, weights: Tensors, codec: Callable[[str], Codec]) -> None:
        self.shape, self.codec = shape, codec
        self.weights = {name: value.contiguous() for name, value in weights.items()}

    def matrix(self, name: str) -> Matrix:
        found, self.weights[name] = stored(self.weights[name], self.codec(name))
        return found

    def stack(self, names: list[str]) -> Matrix:
        """Experts on top of each other in one matrix."""
        codec = self.codec(names[0].split(".experts.")[0] + ".experts." + names[0].rsplit(".", 2)[1])
        height = self.weights[names[0]].shape[0]
        found, values = stored(torch.cat([self.weights[name] for name in names]), codec)
        for index, name in enumerate(names):
            self.weights[name] = values[index * height : (index + 1) * height]
        return found

    def mixer(self, name: str) -> MixerWeights:
        return MixerWeights(self.matrix(f"{name}_fn"), self.weights[f"{name}_scale"], self.weights[f"{name}_base"])

    def compressor(self, name: str) -> CompressorWeights:
        values, scores = self.matrix(f"{name}.wkv.weight"), self.matrix(f"{name}.wgate.weight")
        return CompressorWeights(values, scores, self.weights[f"{name}.ape"], self.weights[f"{name}.norm.weight"])

    def indexer(self, name: str) -> IndexerWeights:
        query, weight = self.matrix(f"{name}.wq_b.weight"), self.matrix(f"{name}.weights_proj.weight")
        return IndexerWeights(query, weight, self.compressor(f"{name}.compressor"))

    def attention(self, name: str, ratio: int) -> AttentionWeights:
        w = self.weights
        return AttentionWeights(
            ratio=ratio,
            q_a=self.matrix(f"{name}.wq_a.weight"),
            q_a_norm=w[f"{name}.q_norm.weight"],
            q_b=self.matrix(f"{name}.wq_b.weight"),
            kv=self.matrix(f"{name}.wkv.weight"),
            kv_norm=w[f"{name}.kv_norm.weight"],
            sinks=w[f"{name}.attn_sink"],
            out_a=self.matrix(f"{name}.wo_a.weight"),
            out_b=self.matrix(f"{name}.wo_b.weight"),
            compressor=self.compressor(f"{name}.compressor") if ratio else None,
            indexer=self.indexer(f"{name}.indexer") if ratio == OVERLAP else None,
        )

    def experts(self, name: str) -> ExpertWeights:
        def routed(part: str) -> Matrix:
            return self.stack([f"{name}.experts.{e}.{part}.weight" for e in range(self.shape.experts)])

        table = self.weights.get(f"{name}.gate.tid2eid")
        return ExpertWeights(
            router=self.matrix(f"{name}.gate.weight"),
            gate=routed("w1"),
            up=routed("w3"),
            down=routed("w2"),
            shared_gate=self.matrix(f"{name}.shared_experts.w1.weight"),
            shared_up=self.matrix(f"{name}.shared_experts.w3.weight"),
            shared_down=self.matrix(f"{name}.shared_experts.w2.weight"),
            limit=self.shape.limit,
            bias=self.weights.get(f"{name}.gate.bias"),
            table=None if table is None else table.int().contiguous(),
        )

    def layer(self, index: int, ratio: int) -> DecodeLayer:
        name = f"layers.{index}"
        return DecodeLayer(
            attention_mixer=self.mixer(f"{name}.hc_attn"),
            attention_norm=self.weights[f"{name}.attn_norm.weight"],
            attention=self.attention(f"{name}.attn", ratio),
            experts_mixer=self.mixer(f"{name}.hc_ffn"),
            experts_norm=self.weights[f"{name}.ffn_norm.weight"],
            experts=self.experts(f"{name}.ffn"),
        )


def build(shape: Shape, weights: Tensors, codec: Callable[[str], Codec] = all_f32) -> DecodeCase:
    """The program's view of `weights` (checkpoint names), each matrix stored in the codec that `codec` names."""
    b = _Builder(shape, weights, codec)
    model = DecodeModel(
        heads=shape.heads,
        rotary_width=shape.rope_dim,
        out_groups=shape.groups,
        window=shape.window,
        index_heads=shape.index_heads,
        top_k=shape.top_k,
        experts=shape.experts,
        experts_used=shape.used,
        expert_scale=shape.expert_scale,
        sinkhorn_iterations=shape.iterations,
        rms_eps=shape.eps,
        mixer_eps=shape.eps,
        plain_frequencies=frequencies(shape, 10000.0, yarn=False),
        compressed_frequencies=frequencies(shape, 160000.0, yarn=True),
        embedding=b.matrix("embed.weight"),
        layers=tuple(b.layer(index, ratio) for index, ratio in enumerate(shape.ratios)),
        output_mixer=b.mixer("hc_head"),
        output_norm=b.weights["norm.weight"],
        output=b.matrix("head.weight"),
    )
    return DecodeCase(shape, model, b.weights)
