"""Canonical tensors to layer weights: what a model must hold, in which shape and type each tensor is placed.

Called once per load, on the loading thread. The backend's placement decides the form of matrices; norms, mixers and
sinks are float32, as the model was trained (ds4-architecture 2 and 7.1). Names: engine.names.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from engine.cache_shape import OVERLAP_RATIO
from engine.config import ModelConfig
from engine.errors import ModelFileError, Stopped
from engine.layers.attention_weights import Attention
from engine.layers.compressor import Compressor
from engine.layers.hyper_connection import Mixer
from engine.layers.indexer import Indexer
from engine.layers.matrix import Matrix
from engine.layers.moe import Experts, Router
from engine.layers.rope import inverse_frequencies
from engine.placement import Placement
from engine.stored_weights import StoredWeights

Progress = Callable[[int, int], None]
Part = tuple[str, tuple[int, ...]]  # a tensor's canonical name and the shape it must have


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
    """embedding [vocab, D] and output [vocab, D] as the backend keeps matrices, output_norm [D] float32, the layers."""

    embedding: Matrix
    layers: tuple[LayerWeights, ...]
    head_mixer: Mixer
    output_norm: torch.Tensor
    output: Matrix

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
    """Checks the shape of each named tensor, hands it to a placement, and reports progress in stored bytes."""

    def __init__(
        self, stored: StoredWeights, placement: Placement, progress: Progress | None, stop: threading.Event | None
    ) -> None:
        self.stored = stored
        self._placement, self._progress, self._stop = placement, progress, stop
        self._done = 0
        self._total = sum(tensor.nbytes for tensor in stored.source.tensors.values())

    def values(self, name: str, *shape: int) -> torch.Tensor:
        """The tensor as float32."""
        return self._placement.values(self._decoded(name, shape).float())

    def integers(self, name: str, *shape: int) -> torch.Tensor:
        """The tensor as int64, still on the CPU."""
        return self._decoded(name, shape).long()

    def place(self, decoded: torch.Tensor) -> torch.Tensor:
        return self._placement.values(decoded)

    def matrix(self, name: str, *shape: int) -> Matrix:
        """One matrix in the backend's own form."""
        return self.stack((name, shape))

    def stack(self, *parts: Part) -> Matrix:
        """Matrices one above the other."""
        return self._placement.stack(self.stored, self._checked(parts), self._advance)

    def gate_up(self, gate: Part, up: Part) -> Matrix:
        first, second = self._checked((gate, up))
        return self._placement.gate_up(self.stored, first, second, self._advance)

    def exact(self, *parts: Part) -> Matrix:
        """Matrices one above the other whose products keep float32's or F16's precision."""
        return self._placement.exact(self.stored, self._checked(parts), self._advance)

    def head(self, name: str, *shape: int) -> Matrix:
        """The output matrix, as precise as decoding reads it."""
        (checked,) = self._checked([(name, shape)])
        return self._placement.head(self.stored, checked, self._advance)

    def has(self, name: str) -> bool:
        return name in self.stored

    def finish(self) -> None:
        """Report the end, also where the model holds tensors that nothing asked for."""
        if self._progress is not None and self._done < self._total:
            self._progress(self._total, self._total)

    def _decoded(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        self._checked([(name, shape)])
        decoded = self.stored.decode(name)
        self._advance(self.stored.tensor(name).nbytes)
        return decoded

    def _checked(self, parts: Sequence[Part]) -> list[str]:
        self._look_at_stop()
        for name, shape in parts:
            tensor = self.stored.tensor(name)
            if tensor.shape != shape:
                raise ModelFileError(
                    f"{self.stored.source.name}: tensor {tensor.stored_as} has shape {list(tensor.shape)}, "
                    f"not {list(shape)}"
                )
        return [name for name, _ in parts]

    def _advance(self, stored_bytes: int) -> None:
        self._done += stored_bytes
        if self._progress is not None:
            self._progress(self._done, self._total)
        self._look_at_stop()

    def _look_at_stop(self) -> None:
        if self._stop is not None and self._stop.is_set():
            raise Stopped("loading was stopped")


def load_weights(
    stored: StoredWeights,
    config: ModelConfig,
    placement: Placement,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> ModelWeights:
    """Take in a whole model. Raises ModelFileError (missing or mis-shaped tensor) or Stopped."""
    read = TensorReader(stored, placement, progress, stop)
    streams = config.streams
    weights = ModelWeights(
        embedding=read.matrix("token_embd.weight", config.vocab, config.hidden),
        layers=tuple(_layer(read, config, layer) for layer in range(config.layers)),
        head_mixer=_mixer(read, "output_hc", config, streams, 1),
        output_norm=read.values("output_norm.weight", config.hidden),
        output=read.head("output.weight", config.vocab, config.hidden),
    )
    read.finish()
    return weights


def _layer(read: TensorReader, config: ModelConfig, layer: int) -> LayerWeights:
    prefix = f"blk.{layer}."
    return LayerWeights(
        attn_mixer=_mixer(read, prefix + "hc_attn", config, config.mix_width, 3),
        attn_norm=read.values(prefix + "attn_norm.weight", config.hidden),
        attention=_attention(read, prefix, config, config.ratios[layer]),
        ffn_mixer=_mixer(read, prefix + "hc_ffn", config, config.mix_width, 3),
        ffn_norm=read.values(prefix + "ffn_norm.weight", config.hidden),
        router=_router(read, prefix, config, hashed=layer < config.hash_layers),
        experts=_experts(read, prefix, config, config.swiglu_limits[layer]),
    )


def _mixer(read: TensorReader, prefix: str, config: ModelConfig, outputs: int, scales: int) -> Mixer:
    return Mixer(
        read.values(f"{prefix}_fn.weight", outputs, config.streams * config.hidden),
        read.values(f"{prefix}_scale.weight", scales),
        read.values(f"{prefix}_base.weight", outputs),
    )


def _attention(read: TensorReader, prefix: str, config: ModelConfig, ratio: int) -> Attention:
    c, query_width = config, config.heads * config.head_dim
    exact: list[Part] = []
    compressor = _compressor(read, prefix + "attn_compressor", c, ratio, c.head_dim, exact) if ratio else None
    indexer = _indexer(read, prefix, c, exact) if ratio == OVERLAP_RATIO else None
    return Attention(
        entry=read.stack(
            (prefix + "attn_q_a.weight", (c.q_rank, c.hidden)), (prefix + "attn_kv.weight", (c.head_dim, c.hidden))
        ),
        exact_entry=read.exact(*exact) if exact else None,
        q_a_norm=read.values(prefix + "attn_q_a_norm.weight", c.q_rank),
        q_b=read.matrix(prefix + "attn_q_b.weight", query_width, c.q_rank),
        kv_norm=read.values(prefix + "attn_kv_a_norm.weight", c.head_dim),
        sinks=read.values(prefix + "attn_sinks.weight", c.heads),
        out_a=read.matrix(prefix + "attn_output_a.weight", c.out_groups * c.out_rank, query_width // c.out_groups),
        out_b=read.matrix(prefix + "attn_output_b.weight", c.hidden, c.out_groups * c.out_rank),
        frequencies=read.place(inverse_frequencies(c, ratio)),
        compressor=compressor,
        indexer=indexer,
    )


def _compressor(
    read: TensorReader, prefix: str, config: ModelConfig, ratio: int, width: int, exact: list[Part]
) -> Compressor:
    """The pooling weights; the projections go to `exact`, in the order that Attention.exact_entry documents."""
    lanes = 2 * width if ratio == OVERLAP_RATIO else width
    exact.append((f"{prefix}_kv.weight", (lanes, config.hidden)))
    exact.append((f"{prefix}_gate.weight", (lanes, config.hidden)))
    return Compressor(
        ape=read.values(f"{prefix}_ape.weight", ratio, lanes),
        norm=read.values(f"{prefix}_norm.weight", width),
    )


def _indexer(read: TensorReader, prefix: str, config: ModelConfig, exact: list[Part]) -> Indexer:
    compressor = _compressor(read, prefix + "indexer_compressor", config, OVERLAP_RATIO, config.index_dim, exact)
    exact.append((prefix + "indexer.proj.weight", (config.index_heads, config.hidden)))
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
        table = read.place(table)
    elif read.has(prefix + "exp_probs_b.bias"):
        bias = read.values(prefix + "exp_probs_b.bias", config.experts)
    return Router(read.exact((prefix + "ffn_gate_inp.weight", (config.experts, config.hidden))), bias, table)


def _experts(read: TensorReader, prefix: str, config: ModelConfig, limit: float) -> Experts:
    experts, inner, hidden = config.experts, config.expert_hidden, config.hidden
    routed, shared = (experts, inner, hidden), (inner, hidden)
    return Experts(
        gate_up=read.gate_up((prefix + "ffn_gate_exps.weight", routed), (prefix + "ffn_up_exps.weight", routed)),
        down=read.matrix(prefix + "ffn_down_exps.weight", experts, hidden, inner),
        shared_gate_up=read.gate_up(
            (prefix + "ffn_gate_shexp.weight", shared), (prefix + "ffn_up_shexp.weight", shared)
        ),
        shared_down=read.matrix(prefix + "ffn_down_shexp.weight", hidden, inner),
        limit=limit,
    )
