"""The embedded model as a Hugging Face checkpoint folder, so that transformers runs exactly the dequantised weights.

Names are those of the DeepSeek release; the inverse of tests/support/tiny_model.py. Needs safetensors only.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from engine.config import ModelConfig
from engine.gguf.reader import GgufFile
from engine.quant.codecs import decode
from tests.support.tiny_model import EXPERT_NAMES, GLOBAL_NAMES, LAYER_NAMES


def write_checkpoint(model: Path, folder: Path) -> None:
    """Write config.json and model.safetensors (float32) for the GGUF file `model`."""
    with GgufFile.open(model) as file:
        config = ModelConfig.from_gguf(file)
        save_file(dict(_tensors(file)), folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(_hf_config(config), indent=1))


def _tensors(file: GgufFile) -> list[tuple[str, torch.Tensor]]:
    globals_back = {gguf: hf for hf, gguf in GLOBAL_NAMES.items()}
    layers_back = {gguf: hf for hf, gguf in LAYER_NAMES.items()}
    experts_back = {gguf: hf for hf, gguf in EXPERT_NAMES.items()}
    found = []
    for name, info in file.tensors.items():
        tensor = decode(info.type_id, file.data(info), info.shape)
        if name in globals_back:
            found.append((globals_back[name], tensor))
            continue
        _, layer, leaf = name.split(".", 2)
        if leaf in experts_back:
            prefix = f"layers.{layer}.ffn.experts"
            found += [(f"{prefix}.{e}.{experts_back[leaf]}.weight", part.contiguous()) for e, part in enumerate(tensor)]
        else:
            tensor = tensor.long() if leaf.startswith("ffn_gate_tid2eid") else tensor
            found.append((f"layers.{layer}.{layers_back[leaf]}", tensor))
    return found


def _hf_config(c: ModelConfig) -> dict[str, object]:
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
