"""The shapes that synthetic models come in, and the shape of each tensor of a model.

Read by engine.synth.address and engine.synth.source, on any thread; no torch. Sizes: ds4-architecture 1.1, 1.2, 7.2.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from engine.cache_shape import OVERLAP_RATIO, CacheShape
from engine.config import ModelConfig, YarnScaling
from engine.names import GLOBAL_ROWS, LAYER_ROWS

Shape = tuple[int, ...]
_V4_FLASH = CacheShape.v4_flash()
_HASH_LAYERS = 3
_SWIGLU_LIMIT = 10.0


def _v4_flash() -> ModelConfig:
    known = _V4_FLASH
    return ModelConfig(
        layers=len(known.ratios),
        hidden=known.hidden,
        vocab=known.vocab,
        context_length=1 << 20,
        heads=known.heads,
        head_dim=known.head_dim,
        rope_dim=64,
        q_rank=known.q_rank,
        out_groups=8,
        out_rank=1024,
        window=known.window,
        ratios=known.ratios,
        index_heads=known.index_heads,
        index_dim=known.index_dim,
        index_top_k=known.index_top_k,
        experts=256,
        experts_used=known.experts_used,
        expert_hidden=known.expert_hidden,
        expert_scale=1.5,
        hash_layers=_HASH_LAYERS,
        swiglu_limits=(_SWIGLU_LIMIT,) * len(known.ratios),
        streams=known.streams,
        sinkhorn_iterations=20,
        hc_eps=1e-6,
        rms_eps=1e-6,
        rope_base=10_000.0,
        compress_rope_base=160_000.0,
        yarn=YarnScaling(factor=16.0, original_context=65_536, beta_fast=32.0, beta_slow=1.0),
    )


def _small() -> ModelConfig:
    """The same layers at widths that a processor runs at once: the narrowest that every format and kernel takes."""
    return replace(
        _v4_flash(),
        hidden=512,
        vocab=2048,
        heads=16,
        head_dim=64,
        rope_dim=16,
        q_rank=256,
        out_groups=4,
        out_rank=64,
        index_heads=8,
        index_dim=32,
        index_top_k=128,
        experts=16,
        expert_hidden=256,
    )


SHAPES: Mapping[str, ModelConfig] = MappingProxyType({"v4-flash": _v4_flash(), "small": _small()})


def cut_shape(config: ModelConfig, ratios: tuple[int, ...], experts: int) -> ModelConfig:
    """The same model with one layer for each of `ratios`, and that many routed experts in each."""
    return replace(
        config,
        layers=len(ratios),
        ratios=ratios,
        experts=experts,
        hash_layers=min(_HASH_LAYERS, len(ratios)),
        swiglu_limits=(_SWIGLU_LIMIT,) * len(ratios),
    )


def tensor_shapes(config: ModelConfig) -> dict[str, Shape]:
    """The canonical name and shape, in torch order, of every tensor of a model, in the order of engine.names."""
    found = {row.gguf: _global_shapes(config)[row.gguf] for row in GLOBAL_ROWS}
    for layer in range(config.layers):
        shapes = _layer_shapes(config, layer)
        found |= {f"blk.{layer}.{row.gguf}": shapes[row.gguf] for row in LAYER_ROWS if row.gguf in shapes}
    return found


def _global_shapes(c: ModelConfig) -> dict[str, Shape]:
    return {
        "token_embd.weight": (c.vocab, c.hidden),
        "output.weight": (c.vocab, c.hidden),
        "output_norm.weight": (c.hidden,),
        "output_hc_fn.weight": (c.streams, c.streams * c.hidden),
        "output_hc_base.weight": (c.streams,),
        "output_hc_scale.weight": (1,),
    }


def _layer_shapes(c: ModelConfig, layer: int) -> dict[str, Shape]:
    ratio, query_width = c.ratios[layer], c.heads * c.head_dim
    shapes: dict[str, Shape] = {
        "attn_norm.weight": (c.hidden,),
        "ffn_norm.weight": (c.hidden,),
        "attn_q_a.weight": (c.q_rank, c.hidden),
        "attn_q_b.weight": (query_width, c.q_rank),
        "attn_kv.weight": (c.head_dim, c.hidden),
        "attn_q_a_norm.weight": (c.q_rank,),
        "attn_kv_a_norm.weight": (c.head_dim,),
        "attn_sinks.weight": (c.heads,),
        "attn_output_a.weight": (c.out_groups * c.out_rank, query_width // c.out_groups),
        "attn_output_b.weight": (c.hidden, c.out_groups * c.out_rank),
        **_mixer_shapes("hc_attn", c),
        **_mixer_shapes("hc_ffn", c),
        **_expert_shapes(c, is_hashed=layer < c.hash_layers),
    }
    if ratio:
        shapes |= _compressor_shapes("attn_compressor", c, ratio, c.head_dim)
    if ratio == OVERLAP_RATIO:
        shapes["indexer.attn_q_b.weight"] = (c.index_heads * c.index_dim, c.q_rank)
        shapes["indexer.proj.weight"] = (c.index_heads, c.hidden)
        shapes |= _compressor_shapes("indexer_compressor", c, ratio, c.index_dim)
    return shapes


def _mixer_shapes(prefix: str, c: ModelConfig) -> dict[str, Shape]:
    return {
        f"{prefix}_fn.weight": (c.mix_width, c.streams * c.hidden),
        f"{prefix}_base.weight": (c.mix_width,),
        f"{prefix}_scale.weight": (3,),
    }


def _compressor_shapes(prefix: str, c: ModelConfig, ratio: int, width: int) -> dict[str, Shape]:
    lanes = 2 * width if ratio == OVERLAP_RATIO else width
    return {
        f"{prefix}_kv.weight": (lanes, c.hidden),
        f"{prefix}_gate.weight": (lanes, c.hidden),
        f"{prefix}_ape.weight": (ratio, lanes),
        f"{prefix}_norm.weight": (width,),
    }


def _expert_shapes(c: ModelConfig, is_hashed: bool) -> dict[str, Shape]:
    choice: dict[str, Shape] = (
        {"ffn_gate_tid2eid.weight": (c.vocab, c.experts_used)} if is_hashed else {"exp_probs_b.bias": (c.experts,)}
    )
    return choice | {
        "ffn_gate_inp.weight": (c.experts, c.hidden),
        "ffn_gate_exps.weight": (c.experts, c.expert_hidden, c.hidden),
        "ffn_up_exps.weight": (c.experts, c.expert_hidden, c.hidden),
        "ffn_down_exps.weight": (c.experts, c.hidden, c.expert_hidden),
        "ffn_gate_shexp.weight": (c.expert_hidden, c.hidden),
        "ffn_up_shexp.weight": (c.expert_hidden, c.hidden),
        "ffn_down_shexp.weight": (c.hidden, c.expert_hidden),
    }
