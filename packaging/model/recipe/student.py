"""The student: a DS4 model's parameters under their GGUF names, and its forward over whole sequences with gradients.

Training, evaluation and export use it; the same names make export and loading a copy. One process, one device.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from recipe import student_parts as parts
from recipe.student_attention import AttentionWeights, IndexWeights, PoolWeights, Rotation, Sizes, attention
from recipe.student_shape import TABLE_LEAF, initial_parameters, is_trained
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from engine.cache_shape import OVERLAP_RATIO
from engine.config import ModelConfig
from engine.layers.rope import inverse_frequencies, rotation
from engine.model_source import open_model
from engine.stored_weights import StoredWeights

_RECOMPUTED_FROM = 2048  # tokens; longer sequences' attention scores are made again instead of kept for the gradients


@dataclass(frozen=True, slots=True)
class Output:
    """`hidden` float32 [B, T, D] before the output matrix, the indexers' mean loss, and expert loads [layers, E].

    A load is the share of the (token, slot) pairs of a layer that went to an expert; zeros for hash-routed layers.
    """

    hidden: Tensor
    index_loss: Tensor
    loads: Tensor


class Student:
    """Parameters float32 by GGUF name (the hash tables int32), products in `dtype`. `compiled` compiles each part."""

    def __init__(
        self, config: ModelConfig, parameters: Mapping[str, Tensor], dtype: torch.dtype, compiled: bool
    ) -> None:
        self.config, self.dtype = config, dtype
        self.parameters = dict(parameters)
        self.tables = {name: tensor.long() for name, tensor in parameters.items() if name.endswith(TABLE_LEAF)}
        self.device = self.parameters["token_embd.weight"].device
        self.selects = True
        self._compiled = compiled

    @classmethod
    def new(
        cls, config: ModelConfig, seed: int, device: torch.device, dtype: torch.dtype, compiled: bool = False
    ) -> "Student":
        """Freshly initialised, every trained parameter asking for a gradient."""
        found = {name: tensor.to(device) for name, tensor in initial_parameters(config, seed).items()}
        return cls(config, found, dtype, compiled).trainable()

    @classmethod
    def load(cls, path: Path, device: torch.device, dtype: torch.dtype) -> "Student":
        """From any model file of the engine, dequantised. Raises ModelFileError as the engine does."""
        source = open_model(path)
        stored = StoredWeights(source)
        found = {name: stored.decode(name).to(device) for name in source.tensors}
        return cls(ModelConfig.from_gguf(source), found, dtype, compiled=False)

    def trainable(self) -> "Student":
        for name, tensor in self.parameters.items():
            if is_trained(name):
                tensor.requires_grad_(True)
        return self

    def forward(self, ids: Tensor) -> Output:
        """ids int64 [B, T], T a multiple of 128."""
        config, flat = self.config, ids.flatten()
        streams = self.parameters["token_embd.weight"][flat].float()[:, None].repeat(1, config.streams, 1)
        losses, loads = [], []
        for layer in range(config.layers):
            x, post, comb = self._mix(streams, layer, "attn")
            y, index_loss = self._attention(x.view(*ids.shape, -1), layer)
            streams = self._part(parts.expand)(streams, y.flatten(0, 1), post, comb)
            x, post, comb = self._mix(streams, layer, "ffn")
            y, load = self._experts(x, flat, layer)
            streams = self._part(parts.expand)(streams, y, post, comb)
            losses += [index_loss] if config.ratios[layer] == OVERLAP_RATIO else []
            loads.append(load)
        head = parts.MixerWeights(
            *(self.parameters[f"output_hc_{leaf}.weight"] for leaf in ("fn", "scale", "base")),
            self.parameters["output_norm.weight"],
        )
        hidden = self._part(parts.collapse)(streams, head, config.hc_eps, config.rms_eps)
        index_loss = torch.stack(losses).mean() if losses else hidden.new_zeros(())
        return Output(hidden.view(*ids.shape, -1), index_loss, torch.stack(loads))

    def logits(self, hidden: Tensor) -> Tensor:
        """float32 [..., vocab] of hidden [..., D]."""
        return parts.linear(hidden, self.parameters["output.weight"], self.dtype).float()

    def losses(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Nats of every token, float32 [B, T], of hidden [B, T, D] and the tokens int64 [B, T] that came next."""
        return self._part(parts.token_losses)(hidden, self.parameters["output.weight"], targets, self.dtype)

    def eager(self) -> "Student":
        """The same parameters, not compiled: for shapes that come once."""
        return Student(self.config, self.parameters, self.dtype, compiled=False)

    def _part(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _compiled(function) if self._compiled else function

    def _weight(self, layer: int, leaf: str) -> Tensor:
        return self.parameters[f"blk.{layer}.{leaf}.weight"]

    def _mix(self, streams: Tensor, layer: int, sublayer: str) -> tuple[Tensor, Tensor, Tensor]:
        leaves = [self._weight(layer, f"hc_{sublayer}_{leaf}") for leaf in ("fn", "scale", "base")]
        weights = parts.MixerWeights(*leaves, self._weight(layer, f"{sublayer}_norm"))
        c = self.config
        x, post, comb = self._part(parts.mix)(streams, weights, c.sinkhorn_iterations, c.hc_eps, c.rms_eps)
        return x, post, comb

    def _attention(self, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        config, ratio = self.config, self.config.ratios[layer]
        leaves = ("q_a", "q_a_norm", "q_b", "kv", "kv_a_norm", "sinks", "output_a", "output_b")
        weights = AttentionWeights(*(self._weight(layer, f"attn_{leaf}") for leaf in leaves))
        pool = self._pool(layer, "attn_compressor") if ratio else None
        index = None
        if ratio == OVERLAP_RATIO:
            queries, heads = self._weight(layer, "indexer.attn_q_b"), self._weight(layer, "indexer.proj")
            index = IndexWeights(queries, heads, self._pool(layer, "indexer_compressor"))
        sizes = Sizes(
            *(config.heads, config.head_dim, config.out_groups, config.index_heads, config.index_dim),
            *(config.index_top_k, config.rms_eps, self.selects),
        )
        turn = _rotations(config, ratio, x.shape[1], self.device)
        run, arguments = self._part(attention), (x, weights, pool, index, turn, sizes, self.dtype)
        if torch.is_grad_enabled() and x.shape[1] >= _RECOMPUTED_FROM:
            y, loss = checkpoint(run, *arguments, use_reentrant=False)
        else:
            y, loss = run(*arguments)
        return y, loss

    def _pool(self, layer: int, prefix: str) -> PoolWeights:
        return PoolWeights(*(self._weight(layer, f"{prefix}_{leaf}") for leaf in ("kv", "gate", "ape", "norm")))

    def _experts(self, x: Tensor, flat: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        config = self.config
        leaves = ("gate_exps", "up_exps", "down_exps", "gate_shexp", "up_shexp", "down_shexp", "gate_inp")
        weights = parts.ExpertWeights(*(self._weight(layer, f"ffn_{leaf}") for leaf in leaves))
        table = self.tables.get(f"blk.{layer}.{TABLE_LEAF}")
        bias = self.parameters.get(f"blk.{layer}.exp_probs_b.bias")
        bias = x.new_zeros(config.experts) if bias is None else bias
        rows = None if table is None else table[flat]
        routing = self._part(parts.route)(x, weights.router, bias, rows, config.experts_used, config.expert_scale)
        y = self._part(parts.experts)(x, routing, weights, config.swiglu_limits[layer], self.dtype)
        load = x.new_zeros(config.experts)
        if table is None:
            load = (routing.detach() > 0).float().sum(dim=0) / (len(x) * config.experts_used)
        return y, load


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """One compilation a function and shape, shared by all layers: compiling the whole model takes many minutes."""
    torch._dynamo.config.recompile_limit = 64  # attention has three kinds of layers at three lengths
    return torch.compile(function, dynamic=False)


@cache
def _rotations(config: ModelConfig, ratio: int, tokens: int, device: torch.device) -> Rotation:
    cos, sin = rotation(torch.arange(tokens), inverse_frequencies(config, ratio))
    return Rotation(cos.to(device), sin.to(device))
