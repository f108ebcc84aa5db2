"""Canonical tensors to layer weights: what a model must hold, in which shape and type each tensor is placed.

Called once per load, on the loading thread. Matrices are decoded to the compute type; norms, mixers, compressors,
routers and sinks stay float32, as the model was trained (ds4-architecture 2 and 7.1). Names: engine.names.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import torch

from engine.cache_shape import OVERLAP_RATIO
from engine.config import ModelConfig
from engine.errors import ModelFileError, Stopped
from engine.layers.attention_weights import Attention
from engine.layers.compressor import Compressor
from engine.layers.hyper_connection import Mixer
from engine.layers.indexer import Indexer
from engine.layers.moe import Experts, Router
from engine.layers.rope import inverse_frequencies
from engine.stored_weights import StoredWeights

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer: a mixer, a norm and a sublayer, twice."""

    attn_mixer: Mixer
    attn_norm: torch.Tensor
    attention: Attention
    ffn_mixer: Mixer
    ffn_norm: torch.Tensor
    router: Router
    experts: Experts


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """embedding [vocab, D] and output [vocab, D] in the compute type, output_norm [D] float32, and the layers."""

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    head_mixer: Mixer
    output_norm: torch.Tensor
    output: torch.Tensor

    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in tensors_of(self))


def tensors_of(part: object) -> list[torch.Tensor]:
    """Every tensor in a tree of weight dataclasses and tuples."""
    if isinstance(part, torch.Tensor):
        return [part]
    if isinstance(part, tuple):
        return [tensor for item in part for tensor in tensors_of(item)]
    fields = getattr(part, "__dataclass_fields__", {})
    return [tensor for name in fields for tensor in tensors_of(getattr(part, name))]


class TensorReader:
    """Decodes named tensors of one model, checks their shapes, and reports progress in stored bytes."""

    def __init__(
        self, stored: StoredWeights, dtype: torch.dtype, progress: Progress | None, stop: threading.Event | None
    ) -> None:
        self.stored, self.dtype = stored, dtype
        self._progress, self._stop = progress, stop
        self._done = 0
        self._total = sum(tensor.nbytes for tensor in stored.source.tensors.values())

    def exact(self, name: str, *shape: int) -> torch.Tensor:
        """The tensor as float32."""
        return self._read(name, shape).float()

    def matrix(self, name: str, *shape: int) -> torch.Tensor:
        """The tensor in the compute type."""
        return self._read(name, shape).to(self.dtype)

    def integers(self, name: str, *shape: int) -> torch.Tensor:
        return self._read(name, shape).long()

    def has(self, name: str) -> bool:
        return name in self.stored

    def finish(self) -> None:
        """Report the end, also where the model holds tensors that nothing asked for."""
        if self._progress is not None and self._done < self._total:
            self._progress(self._total, self._total)

    def _read(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        if self._stop is not None and self._stop.is_set():
            raise Stopped("loading was stopped")
        tensor = self.stored.tensor(name)
        if tensor.shape != shape:
            raise ModelFileError(
                f"{self.stored.source.name}: tensor {tensor.stored_as} has shape {list(tensor.shape)}, "
                f"not {list(shape)}"
            )
        decoded = self.stored.decode(name)
        self._done += tensor.nbytes
        if self._progress is not None:
            self._progress(self._done, self._total)
        return decoded


def load_weights(
    stored: StoredWeights,
    config: ModelConfig,
    dtype: torch.dtype,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> ModelWeights:
    """Decode a whole model. Raises ModelFileError (missing or mis-shaped tensor) or Stopped."""
    read = TensorReader(stored, dtype, progress, stop)
    streams = config.streams
    weights = ModelWeights(
        embedding=read.matrix("token_embd.weight", config.vocab, config.hidden),
        layers=tuple(_layer(read, config, layer) for layer in range(config.layers)),
        head_mixer=_mixer(read, "output_hc", config, streams, 1),
        output_norm=read.exact("output_norm.weight", config.hidden),
        output=read.matrix("output.weight", config.vocab, config.hidden),
    )
    read.finish()
    return weights


def _layer(read: TensorReader, config: ModelConfig, layer: int) -> LayerWeights:
    prefix = f"blk.{layer}."
    return LayerWeights(
        attn_mixer=_mixer(read, prefix + "hc_attn", config, config.mix_width, 3),
        attn_norm=read.exact(prefix + "attn_norm.weight", config.hidden),
        attention=_attention(read, prefix, config, config.ratios[layer]),
        ffn_mixer=_mixer(read, prefix + "hc_ffn", config, config.mix_width, 3),
        ffn_norm=read.exact(prefix + "ffn_norm.weight", config.hidden),
        router=_router(read, prefix, config, hashed=layer < config.hash_layers),
        experts=_experts(read, prefix, config, config.swiglu_limits[layer]),
    )


def _mixer(read: TensorReader, prefix: str, config: ModelConfig, outputs: int, scales: int) -> Mixer:
    return Mixer(
        read.exact(f"{prefix}_fn.weight", outputs, config.streams * config.hidden),
        read.exact(f"{prefix}_scale.weight", scales),
        read.exact(f"{prefix}_base.weight", outputs),
    )


def _attention(read: TensorReader, prefix: str, config: ModelConfig, ratio: int) -> Attention:
    c, query_width = config, config.heads * config.head_dim
    group_width = query_width // c.out_groups
    out_a = read.matrix(prefix + "attn_output_a.weight", c.out_groups * c.out_rank, group_width)
    entry = [
        read.matrix(prefix + "attn_q_a.weight", c.q_rank, c.hidden),
        read.matrix(prefix + "attn_kv.weight", c.head_dim, c.hidden),
    ]
    exact: list[torch.Tensor] = []
    compressor = _compressor(read, prefix + "attn_compressor", c, ratio, c.head_dim, exact) if ratio else None
    indexer = _indexer(read, prefix, c, exact) if ratio == OVERLAP_RATIO else None
    return Attention(
        entry=torch.cat(entry),
        exact_entry=torch.cat(exact) if exact else None,
        q_a_norm=read.exact(prefix + "attn_q_a_norm.weight", c.q_rank),
        q_b=read.matrix(prefix + "attn_q_b.weight", query_width, c.q_rank),
        kv_norm=read.exact(prefix + "attn_kv_a_norm.weight", c.head_dim),
        sinks=read.exact(prefix + "attn_sinks.weight", c.heads),
        out_a=out_a.view(c.out_groups, c.out_rank, group_width),
        out_b=read.matrix(prefix + "attn_output_b.weight", c.hidden, c.out_groups * c.out_rank),
        frequencies=inverse_frequencies(c, ratio),
        compressor=compressor,
        indexer=indexer,
    )


def _compressor(
    read: TensorReader, prefix: str, config: ModelConfig, ratio: int, width: int, exact: list[torch.Tensor]
) -> Compressor:
    """The pooling weights; the projections go to `exact`, in the order that Attention.exact_entry documents."""
    lanes = 2 * width if ratio == OVERLAP_RATIO else width
    exact.append(read.exact(f"{prefix}_kv.weight", lanes, config.hidden))
    exact.append(read.exact(f"{prefix}_gate.weight", lanes, config.hidden))
    return Compressor(
        ape=read.exact(f"{prefix}_ape.weight", ratio, lanes),
        norm=read.exact(f"{prefix}_norm.weight", width),
    )


def _indexer(read: TensorReader, prefix: str, config: ModelConfig, exact: list[torch.Tensor]) -> Indexer:
    compressor = _compressor(read, prefix + "indexer_compressor", config, OVERLAP_RATIO, config.index_dim, exact)
    exact.append(read.exact(prefix + "indexer.proj.weight", config.index_heads, config.hidden))
    q_b = read.matrix(prefix + "indexer.attn_q_b.weight", config.index_heads * config.index_dim, config.q_rank)
    return Indexer(q_b, compressor)


def _router(read: TensorReader, prefix: str, config: ModelConfig, hashed: bool) -> Router:
    table = bias = None
    if hashed:
        name = prefix + "ffn_gate_tid2eid.weight"
        table = read.integers(name, config.vocab, config.experts_used)
        if table.min() < 0 or table.max() >= config.experts:
            raise ModelFileError(
                f"{read.stored.source.name}: tensor {name} names an expert outside 0 to {config.experts - 1}"
            )
    elif read.has(prefix + "exp_probs_b.bias"):
        bias = read.exact(prefix + "exp_probs_b.bias", config.experts)
    return Router(read.exact(prefix + "ffn_gate_inp.weight", config.experts, config.hidden), bias, table)


def _experts(read: TensorReader, prefix: str, config: ModelConfig, limit: float) -> Experts:
    experts, inner, hidden = config.experts, config.expert_hidden, config.hidden
    gate = read.matrix(prefix + "ffn_gate_exps.weight", experts, inner, hidden)
    up = read.matrix(prefix + "ffn_up_exps.weight", experts, inner, hidden)
    shared_gate = read.matrix(prefix + "ffn_gate_shexp.weight", inner, hidden)
    shared_up = read.matrix(prefix + "ffn_up_shexp.weight", inner, hidden)
    return Experts(
        gate_up=torch.cat([gate, up], dim=1),
        down=read.matrix(prefix + "ffn_down_exps.weight", experts, hidden, inner),
        shared_gate_up=torch.cat([shared_gate, shared_up]),
        shared_down=read.matrix(prefix + "ffn_down_shexp.weight", hidden, inner),
        limit=limit,
    )
