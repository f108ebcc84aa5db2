"""Which tensors a DS4 model of a given shape has, what they begin as, and which of them are trained.

Names and shapes are those of ds4-architecture 7.2. Pure functions of a shape and a seed.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from engine.cache_shape import OVERLAP_RATIO
from engine.config import ModelConfig

TABLE_LEAF = "ffn_gate_tid2eid.weight"
_BIAS_LEAF = "exp_probs_b.bias"
_STD = 0.02
_MIXER_SCALE = 0.1  # how much the streams themselves move their mixing at first
_SPREAD = 0.5  # the streams begin alike: without a difference in their mixing they would stay so
_DIAGONAL = 4.0  # logit of a stream keeping itself, against 0 for any other


def is_trained(name: str) -> bool:
    """Whether the optimiser moves the tensor: router biases follow the load, hash tables stay."""
    return not name.endswith((TABLE_LEAF, _BIAS_LEAF))


def is_matrix(name: str, tensor: Tensor) -> bool:
    """Whether the tensor is a hidden matrix, or a stack of them, that Muon may orthogonalise.

    Embedding and head are tables of words; mixers, routers and position biases feed softmaxes and sigmoids directly.
    """
    is_table = name in ("token_embd.weight", "output.weight")
    return (
        tensor.dim() >= 2
        and not is_table
        and not any(part in name for part in ("hc_", "_ape", "ffn_gate_inp", TABLE_LEAF))
    )


def initial_parameters(config: ModelConfig, seed: int) -> dict[str, Tensor]:
    """Every tensor by name: float32, the hash tables int32. The order is the order of the file."""
    generator = torch.Generator().manual_seed(seed)
    return {name: _initial(name, shape, config, generator) for name, shape in tensor_shapes(config)}


def tensor_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and torch shapes, in file order."""
    c, wide = config, config.streams * config.hidden
    yield "token_embd.weight", (c.vocab, c.hidden)
    yield "output.weight", (c.vocab, c.hidden)
    yield "output_norm.weight", (c.hidden,)
    yield from _mixer("output_hc", c.streams, 1, wide)
    for layer in range(c.layers):
        for leaf, shape in _layer_shapes(c, layer, wide):
            yield f"blk.{layer}.{leaf}", shape


def _mixer(prefix: str, outputs: int, scales: int, wide: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{prefix}_fn.weight", (outputs, wide)
    yield f"{prefix}_base.weight", (outputs,)
    yield f"{prefix}_scale.weight", (scales,)


def _layer_shapes(c: ModelConfig, layer: int, wide: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from _mixer("hc_attn", c.mix_width, 3, wide)
    yield from _mixer("hc_ffn", c.mix_width, 3, wide)
    yield "attn_norm.weight", (c.hidden,)
    yield "ffn_norm.weight", (c.hidden,)
    yield "attn_q_a.weight", (c.q_rank, c.hidden)
    yield "attn_q_b.weight", (c.heads * c.head_dim, c.q_rank)
    yield "attn_kv.weight", (c.head_dim, c.hidden)
    yield "attn_q_a_norm.weight", (c.q_rank,)
    yield "attn_kv_a_norm.weight", (c.head_dim,)
    yield "attn_sinks.weight", (c.heads,)
    yield "attn_output_a.weight", (c.out_groups * c.out_rank, c.heads * c.head_dim // c.out_groups)
    yield "attn_output_b.weight", (c.hidden, c.out_groups * c.out_rank)
    if ratio := c.ratios[layer]:
        yield from _compressor("attn_compressor", ratio, c.head_dim, c.hidden)
    if ratio == OVERLAP_RATIO:
        yield "indexer.attn_q_b.weight", (c.index_heads * c.index_dim, c.q_rank)
        yield "indexer.proj.weight", (c.index_heads, c.hidden)
        yield from _compressor("indexer_compressor", ratio, c.index_dim, c.hidden)
    yield "ffn_gate_inp.weight", (c.experts, c.hidden)
    yield (TABLE_LEAF, (c.vocab, c.experts_used)) if layer < c.hash_layers else (_BIAS_LEAF, (c.experts,))
    yield "ffn_gate_exps.weight", (c.experts, c.expert_hidden, c.hidden)
    yield "ffn_up_exps.weight", (c.experts, c.expert_hidden, c.hidden)
    yield "ffn_down_exps.weight", (c.experts, c.hidden, c.expert_hidden)
    yield "ffn_gate_shexp.weight", (c.expert_hidden, c.hidden)
    yield "ffn_up_shexp.weight", (c.expert_hidden, c.hidden)
    yield "ffn_down_shexp.weight", (c.hidden, c.expert_hidden)


def _compressor(prefix: str, ratio: int, width: int, hidden: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    lanes = 2 * width if ratio == OVERLAP_RATIO else width
    yield f"{prefix}_kv.weight", (lanes, hidden)
    yield f"{prefix}_gate.weight", (lanes, hidden)
    yield f"{prefix}_ape.weight", (ratio, lanes)
    yield f"{prefix}_norm.weight", (width,)


def _initial(name: str, shape: tuple[int, ...], config: ModelConfig, generator: torch.Generator) -> Tensor:
    if name.endswith(TABLE_LEAF):
        order = torch.rand(shape[0], config.experts, generator=generator).argsort(dim=1)
        return order[:, : shape[1]].int()
    if name.endswith("_base.weight"):
        return _mixer_base(shape[0], config.streams, generator)
    if name.endswith("_scale.weight"):
        return torch.full(shape, _MIXER_SCALE)
    if name.endswith("norm.weight"):
        return torch.ones(shape)
    if len(shape) == 1 or name.endswith("_ape.weight"):
        return torch.zeros(shape)
    # What writes into the streams begins smaller, so that depth does not add up.
    writes = name.endswith(("attn_output_b.weight", "ffn_down_exps.weight", "ffn_down_shexp.weight"))
    std = _STD / math.sqrt(2 * config.layers) if writes else _STD
    return torch.randn(shape, generator=generator) * std


def _mixer_base(outputs: int, streams: int, generator: torch.Generator) -> Tensor:
    """Read about a quarter of every stream, write about 1 to every stream, and keep each stream mostly to itself."""
    pre = torch.full((streams,), math.log(1 / (streams - 1))) + _SPREAD * torch.randn(streams, generator=generator)
    if outputs == streams:
        return pre
    post = _SPREAD * torch.randn(streams, generator=generator)
    return torch.cat([pre, post, (_DIAGONAL * torch.eye(streams)).flatten()])
