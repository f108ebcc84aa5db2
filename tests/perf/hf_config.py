"""A model's configuration in the words of a Hugging Face config.json, as DeepSeek's own files have it.

Used by the comparisons with transformers; no torch, and nothing that is not installed with the engine.
"""

from engine.config import ModelConfig


def hf_config(c: ModelConfig) -> dict[str, object]:
    """The keys of config.json for a model of this shape, in float32 unless the caller says otherwise."""
    scaling = {
        "type": "yarn",
        "rope_type": "yarn",
        "factor": c.yarn.factor,
        "original_max_position_embeddings": c.yarn.original_context,
        "beta_fast": c.yarn.beta_fast,
        "beta_slow": c.yarn.beta_slow,
        "rope_theta": c.rope_base,
    }
    return {
        "architectures": ["DeepseekV4ForCausalLM"],
        "model_type": "deepseek_v4",
        "vocab_size": c.vocab,
        "hidden_size": c.hidden,
        "moe_intermediate_size": c.expert_hidden,
        "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads,
        "num_key_value_heads": 1,
        "head_dim": c.head_dim,
        "qk_rope_head_dim": c.rope_dim,
        "q_lora_rank": c.q_rank,
        "num_experts_per_tok": c.experts_used,
        "n_routed_experts": c.experts,
        "n_shared_experts": 1,
        "scoring_func": "sqrtsoftplus",
        "norm_topk_prob": True,
        "routed_scaling_factor": c.expert_scale,
        "max_position_embeddings": c.context_length,
        "rope_theta": c.rope_base,
        "compress_rope_theta": c.compress_rope_base,
        "compress_ratios": list(c.ratios),
        "num_hash_layers": c.hash_layers,
        "hc_mult": c.streams,
        "hc_sinkhorn_iters": c.sinkhorn_iterations,
        "hc_eps": c.hc_eps,
        "swiglu_limit": c.swiglu_limits[0],
        "sliding_window": c.window,
        "o_groups": c.out_groups,
        "o_lora_rank": c.out_rank,
        "index_n_heads": c.index_heads,
        "index_head_dim": c.index_dim,
        "index_topk": c.index_top_k,
        "num_nextn_predict_layers": 0,
        "rms_norm_eps": c.rms_eps,
        "rope_scaling": scaling,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "hidden_act": "silu",
        "attention_bias": False,
        "torch_dtype": "float32",
        "expert_dtype": "float32",
    }
