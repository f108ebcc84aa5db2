"""A model's shape as GGUF metadata: the inverse of engine.config.ModelConfig.from_gguf.

Used by whatever writes models (engine.synth, the embedded model's recipe); no torch. Keys: ds4-architecture 7.2.
"""

import numpy as np

from engine.config import ARCHITECTURE, ModelConfig
from engine.gguf.cursor import Value, ValueType

Keys = dict[str, tuple[ValueType, Value]]
_SQRT_SOFTPLUS = 4  # llama.cpp's number for DS4's gating function


def shape_keys(config: ModelConfig) -> Keys:
    """All keys below the architecture's prefix."""
    own = _integers(config) | _floats(config) | _others(config)
    return {f"{ARCHITECTURE}.{key}": entry for key, entry in own.items()}


def _integers(c: ModelConfig) -> Keys:
    values = {
        "block_count": c.layers,
        "context_length": c.context_length,
        "embedding_length": c.hidden,
        "vocab_size": c.vocab,
        "attention.head_count": c.heads,
        "attention.head_count_kv": 1,
        "attention.key_length": c.head_dim,
        "attention.value_length": c.head_dim,
        "attention.q_lora_rank": c.q_rank,
        "attention.output_lora_rank": c.out_rank,
        "attention.output_group_count": c.out_groups,
        "attention.sliding_window": c.window,
        "attention.indexer.head_count": c.index_heads,
        "attention.indexer.key_length": c.index_dim,
        "attention.indexer.top_k": c.index_top_k,
        "rope.dimension_count": c.rope_dim,
        "rope.scaling.original_context_length": c.yarn.original_context,
        "expert_count": c.experts,
        "expert_used_count": c.experts_used,
        "expert_shared_count": 1,
        "expert_feed_forward_length": c.expert_hidden,
        "expert_gating_func": _SQRT_SOFTPLUS,
        "hash_layer_count": c.hash_layers,
        "hyper_connection.count": c.streams,
        "hyper_connection.sinkhorn_iterations": c.sinkhorn_iterations,
        "nextn_predict_layers": 0,
    }
    return {key: (ValueType.UINT32, value) for key, value in values.items()}


def _floats(c: ModelConfig) -> Keys:
    """Rounded to what a file holds, so that a written model runs with the very same constants."""
    values = {
        "attention.compress_rope_freq_base": c.compress_rope_base,
        "attention.layer_norm_rms_epsilon": c.rms_eps,
        "rope.freq_base": c.rope_base,
        "rope.scaling.factor": c.yarn.factor,
        "rope.scaling.yarn_beta_fast": c.yarn.beta_fast,
        "rope.scaling.yarn_beta_slow": c.yarn.beta_slow,
        "expert_weights_scale": c.expert_scale,
        "hyper_connection.epsilon": c.hc_eps,
    }
    return {key: (ValueType.FLOAT32, float(np.float32(value))) for key, value in values.items()}


def _others(c: ModelConfig) -> Keys:
    return {
        "attention.compress_ratios": (ValueType.ARRAY, np.array(c.ratios, "<i4")),
        "swiglu_clamp_exp": (ValueType.ARRAY, np.array(c.swiglu_limits, "<f4")),
        "rope.scaling.type": (ValueType.STRING, "yarn"),
        "expert_weights_norm": (ValueType.BOOL, True),
    }
