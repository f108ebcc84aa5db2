"""Sizes and random weights of small DS4 models, under the tensor names of the published checkpoint."""

import math
from dataclasses import dataclass

import torch

Tensors = dict[str, torch.Tensor]
OVERLAP = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a model in the terms of the specification."""

    ratios: tuple[int, ...]
    hash_layers: int = 1
    vocab: int = 96
    hidden: int = 64
    heads: int = 4
    head_dim: int = 64
    rope_dim: int = 16
    q_rank: int = 32
    groups: int = 2
    out_rank: int = 16
    window: int = 128
    index_heads: int = 4
    index_dim: int = 32
    top_k: int = 8
    experts: int = 16
    used: int = 6
    inner: int = 32
    shared: int = 32
    limit: float = 2.0
    expert_scale: float = 1.5
    iterations: int = 20
    eps: float = 1e-6


def frequencies(shape: Shape, base: float, yarn: bool) -> torch.Tensor:
    """Angle per position of each rotary pair, float64 (specification 3.1)."""
    i = torch.arange(shape.rope_dim // 2, dtype=torch.float64)
    plain = base ** (-2 * i / shape.rope_dim)
    if not yarn:
        return plain

    def corr(beta: float) -> float:
        return shape.rope_dim * math.log(65536 / (2 * math.pi * beta)) / (2 * math.log(base))

    low, high = max(math.floor(corr(32)), 0), min(math.ceil(corr(1)), shape.rope_dim - 1)
    t = ((i - low) / (high - low)).clamp(0, 1)
    return plain * (1 - t) + plain / 16 * t


class _Draw:
    """Tensors from one generator, at the scales of the oracle's tiny model."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.generator = shape, torch.Generator().manual_seed(seed)

    def normal(self, *size: int) -> torch.Tensor:
        return torch.randn(*size, generator=self.generator)

    def matrix(self, rows: int, cols: int, scale: float = 1.3) -> torch.Tensor:
        return scale * self.normal(rows, cols) / math.sqrt(cols)

    def norm(self, width: int) -> torch.Tensor:
        return 1 + 0.2 * self.normal(width)

    def mixer(self, name: str, outputs: int, scales: int) -> Tensors:
        return {
            f"{name}_fn": self.matrix(outputs, 4 * self.shape.hidden, 1.5),
            f"{name}_base": 0.8 * self.normal(outputs),
            f"{name}_scale": 0.6 + 0.4 * torch.rand(scales, generator=self.generator),
        }

    def compressor(self, name: str, ratio: int, width: int) -> Tensors:
        lanes = 2 * width if ratio == OVERLAP else width
        return {
            f"{name}.wkv.weight": self.matrix(lanes, self.shape.hidden),
            f"{name}.wgate.weight": self.matrix(lanes, self.shape.hidden),
            f"{name}.ape": 0.7 * self.normal(ratio, lanes),
            f"{name}.norm.weight": self.norm(width),
        }

    def attention(self, name: str, ratio: int) -> Tensors:
        s = self.shape
        found = {
            f"{name}.wq_a.weight": self.matrix(s.q_rank, s.hidden),
            f"{name}.q_norm.weight": self.norm(s.q_rank),
            f"{name}.wq_b.weight": self.matrix(s.heads * s.head_dim, s.q_rank),
            f"{name}.wkv.weight": self.matrix(s.head_dim, s.hidden),
            f"{name}.kv_norm.weight": self.norm(s.head_dim),
            f"{name}.attn_sink": self.normal(s.heads),
            f"{name}.wo_a.weight": self.matrix(s.groups * s.out_rank, s.heads * s.head_dim // s.groups),
            f"{name}.wo_b.weight": self.matrix(s.hidden, s.groups * s.out_rank),
        }
        if ratio:
            found |= self.compressor(f"{name}.compressor", ratio, s.head_dim)
        if ratio == OVERLAP:
            found |= self.compressor(f"{name}.indexer.compressor", ratio, s.index_dim)
            found[f"{name}.indexer.wq_b.weight"] = self.matrix(s.index_heads * s.index_dim, s.q_rank)
            found[f"{name}.indexer.weights_proj.weight"] = self.matrix(s.index_heads, s.hidden)
        return found

    def experts(self, name: str, hashed: bool) -> Tensors:
        s, found = self.shape, {f"{name}.gate.weight": self.matrix(self.shape.experts, self.shape.hidden)}
        if hashed:
            picks = [torch.randperm(s.experts, generator=self.generator)[: s.used] for _ in range(s.vocab)]
            found[f"{name}.gate.tid2eid"] = torch.stack(picks)
        else:
            found[f"{name}.gate.bias"] = 0.15 * self.normal(s.experts)
        for part, width in [(f"experts.{e}", s.inner) for e in range(s.experts)] + [("shared_experts", s.shared)]:
            found[f"{name}.{part}.w1.weight"] = self.matrix(width, s.hidden)
            found[f"{name}.{part}.w3.weight"] = self.matrix(width, s.hidden)
            found[f"{name}.{part}.w2.weight"] = self.matrix(s.hidden, width)
        return found


def random_weights(shape: Shape, seed: int) -> Tensors:
    """Every tensor of a model of this shape, float32 but for the token-id table."""
    draw = _Draw(shape, seed)
    found = {
        "embed.weight": draw.normal(shape.vocab, shape.hidden),
        "norm.weight": draw.norm(shape.hidden),
        "head.weight": draw.matrix(shape.vocab, shape.hidden),
        **draw.mixer("hc_head", 4, 1),
    }
    for index, ratio in enumerate(shape.ratios):
        layer = f"layers.{index}"
        found |= draw.mixer(f"{layer}.hc_attn", 24, 3) | draw.mixer(f"{layer}.hc_ffn", 24, 3)
        found |= {f"{layer}.{name}_norm.weight": draw.norm(shape.hidden) for name in ("attn", "ffn")}
        found |= draw.attention(f"{layer}.attn", ratio) | draw.experts(f"{layer}.ffn", index < shape.hash_layers)
    return found
