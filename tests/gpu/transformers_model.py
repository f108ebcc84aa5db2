"""DeepseekV4ForCausalLM of transformers with the weights and settings of a model of ours, nothing going over a file.

Names are those of its state dict. Every parameter has one type: with float32 norms beside bfloat16 matrices, which its
loader makes of mixed files, version 5.17 cannot multiply. Used by compare_transformers.py; needs transformers.
"""

import re
from typing import Any

import torch

from engine.config import ModelConfig
from engine.layers.rope import inverse_frequencies
from tests.gpu.shared_weights import SharedWeights
from tests.perf.hf_config import hf_config

GROUPED = "grouped_mm"  # the library's grouped product over all experts, its default
_ATTENTION = "self_attn."
_COMPRESSOR, _INDEXER = _ATTENTION + "compressor.", _ATTENTION + "compressor.indexer."
_GLOBALS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output.weight": "lm_head.weight",
    "output_norm.weight": "model.norm.weight",
    "output_hc_fn.weight": "model.hc_head.hc_fn",
    "output_hc_base.weight": "model.hc_head.hc_base",
    "output_hc_scale.weight": "model.hc_head.hc_scale",
}
_LAYERS = {
    **{f"hc_{part}_{leaf}.weight": f"{part}_hc.{leaf}" for part in ("attn", "ffn") for leaf in ("fn", "base", "scale")},
    "attn_norm.weight": "input_layernorm.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
    "attn_q_a.weight": _ATTENTION + "q_a_proj.weight",
    "attn_q_b.weight": _ATTENTION + "q_b_proj.weight",
    "attn_kv.weight": _ATTENTION + "kv_proj.weight",
    "attn_q_a_norm.weight": _ATTENTION + "q_a_norm.weight",
    "attn_kv_a_norm.weight": _ATTENTION + "kv_norm.weight",
    "attn_sinks.weight": _ATTENTION + "sinks",
    "attn_output_a.weight": _ATTENTION + "o_a_proj.weight",
    "attn_output_b.weight": _ATTENTION + "o_b_proj.weight",
    "attn_compressor_kv.weight": _COMPRESSOR + "kv_proj.weight",
    "attn_compressor_gate.weight": _COMPRESSOR + "gate_proj.weight",
    "attn_compressor_ape.weight": _COMPRESSOR + "position_bias",
    "attn_compressor_norm.weight": _COMPRESSOR + "kv_norm.weight",
    "indexer.attn_q_b.weight": _INDEXER + "q_b_proj.weight",
    "indexer.proj.weight": _INDEXER + "scorer.weights_proj.weight",
    "indexer_compressor_kv.weight": _INDEXER + "kv_proj.weight",
    "indexer_compressor_gate.weight": _INDEXER + "gate_proj.weight",
    "indexer_compressor_ape.weight": _INDEXER + "position_bias",
    "indexer_compressor_norm.weight": _INDEXER + "kv_norm.weight",
    "ffn_gate_inp.weight": "mlp.gate.weight",
    "exp_probs_b.bias": "mlp.gate.e_score_correction_bias",
    "ffn_gate_tid2eid.weight": "mlp.gate.tid2eid",
    "ffn_gate_exps.weight": "mlp.experts.gate_up_proj",  # its first half
    "ffn_up_exps.weight": "mlp.experts.gate_up_proj",  # its second half
    "ffn_down_exps.weight": "mlp.experts.down_proj",
    "ffn_gate_shexp.weight": "mlp.shared_experts.gate_proj.weight",
    "ffn_up_shexp.weight": "mlp.shared_experts.up_proj.weight",
    "ffn_down_shexp.weight": "mlp.shared_experts.down_proj.weight",
}
_LAYER_NAME = re.compile(r"blk\.(\d+)\.(.+)")


def hf_name(name: str) -> str:
    """What the state dict calls a canonical tensor. Raises KeyError for a name that it has no place for."""
    match = _LAYER_NAME.fullmatch(name)
    return f"model.layers.{match[1]}.{_LAYERS[match[2]]}" if match else _GLOBALS[name]


def same_model(source: SharedWeights, config: ModelConfig, device: torch.device, dtype: torch.dtype) -> Any:
    """transformers' model on `device`, with the numbers that our engine was given. Raises ValueError if any differs."""
    from transformers import DeepseekV4Config, DeepseekV4ForCausalLM

    settings = DeepseekV4Config(**hf_config(config) | {"torch_dtype": dtype, "expert_dtype": dtype})
    with torch.device(device):
        model = DeepseekV4ForCausalLM._from_config(
            settings, dtype=dtype, attn_implementation="eager", experts_implementation=GROUPED
        )
    _copy_weights(source, model.state_dict())
    _check_rotations(model.model.rotary_emb, config)
    return model.eval()


def other_attentions(model: Any) -> list[str]:
    """The attention implementations that this version of the model allows beside eager."""
    flags = {"sdpa": "_supports_sdpa", "flex_attention": "_supports_flex_attn"}
    return [name for name, flag in flags.items() if getattr(model, flag, False)]


def _copy_weights(source: SharedWeights, state: dict[str, torch.Tensor]) -> None:
    """Every tensor of ours into its place, compared there; and no place is left over."""
    for name, mine in source.held.items():
        place = state[hf_name(name)]
        if name.endswith(("ffn_gate_exps.weight", "ffn_up_exps.weight")):
            place = place.chunk(2, dim=1)[name.endswith("ffn_up_exps.weight")]
        if place.shape != mine.shape:
            raise ValueError(f"{name} has shape {list(mine.shape)}, transformers' {list(place.shape)}")
        place.copy_(mine)
        if not torch.equal(place.to(mine.dtype), mine.to(place.device)):
            raise ValueError(f"transformers holds other numbers for {name}")
    if missed := set(source.tensors) - set(source.held):
        raise ValueError(f"our engine never asked for {', '.join(sorted(missed))}")
    if left := set(state) - set(map(hf_name, source.tensors)):
        raise ValueError(f"transformers has more weights: {', '.join(sorted(left))}")


def _check_rotations(rotary: Any, config: ModelConfig) -> None:
    """Its rotary frequencies are ours, up to float32 powers on any device, with no factor on what they rotate."""
    for kind, ratio in (("main", 0), ("compress", 4)):
        theirs = getattr(rotary, f"{kind}_inv_freq").double().cpu()
        if not torch.allclose(theirs, inverse_frequencies(config, ratio), rtol=4e-6, atol=0):
            raise ValueError(f"transformers rotates {kind} rows by other angles")
        if getattr(rotary, f"{kind}_attention_scaling") != 1.0:
            raise ValueError(f"transformers scales the rotation of {kind} rows")
