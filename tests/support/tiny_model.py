"""The tiny oracle model as a GGUF file: DeepSeek tensor names of tests/data/oracle/weights.safetensors, renamed.

Used by engine, kernel and app tests that need every layer kind in milliseconds.
"""

import json
import string
from pathlib import Path

import gguf
import torch
from safetensors.torch import load_file

DATA = Path(__file__).resolve().parent.parent / "data"
ORACLE = DATA / "oracle"

GLOBAL_NAMES = {
    "embed.weight": "token_embd.weight",
    "head.weight": "output.weight",
    "norm.weight": "output_norm.weight",
    "hc_head_fn": "output_hc_fn.weight",
    "hc_head_base": "output_hc_base.weight",
    "hc_head_scale": "output_hc_scale.weight",
}
LAYER_NAMES = {
    "attn_norm.weight": "attn_norm.weight",
    "ffn_norm.weight": "ffn_norm.weight",
    **{f"hc_{part}_{leaf}": f"hc_{part}_{leaf}.weight" for part in ("attn", "ffn") for leaf in ("fn", "base", "scale")},
    "attn.wq_a.weight": "attn_q_a.weight",
    "attn.wq_b.weight": "attn_q_b.weight",
    "attn.wkv.weight": "attn_kv.weight",
    "attn.q_norm.weight": "attn_q_a_norm.weight",
    "attn.kv_norm.weight": "attn_kv_a_norm.weight",
    "attn.attn_sink": "attn_sinks.weight",
    "attn.wo_a.weight": "attn_output_a.weight",
    "attn.wo_b.weight": "attn_output_b.weight",
    "attn.compressor.wkv.weight": "attn_compressor_kv.weight",
    "attn.compressor.wgate.weight": "attn_compressor_gate.weight",
    "attn.compressor.ape": "attn_compressor_ape.weight",
    "attn.compressor.norm.weight": "attn_compressor_norm.weight",
    "attn.indexer.wq_b.weight": "indexer.attn_q_b.weight",
    "attn.indexer.weights_proj.weight": "indexer.proj.weight",
    "attn.indexer.compressor.wkv.weight": "indexer_compressor_kv.weight",
    "attn.indexer.compressor.wgate.weight": "indexer_compressor_gate.weight",
    "attn.indexer.compressor.ape": "indexer_compressor_ape.weight",
    "attn.indexer.compressor.norm.weight": "indexer_compressor_norm.weight",
    "ffn.gate.weight": "ffn_gate_inp.weight",
    "ffn.gate.bias": "exp_probs_b.bias",
    "ffn.gate.tid2eid": "ffn_gate_tid2eid.weight",
    "ffn.shared_experts.w1.weight": "ffn_gate_shexp.weight",
    "ffn.shared_experts.w2.weight": "ffn_down_shexp.weight",
    "ffn.shared_experts.w3.weight": "ffn_up_shexp.weight",
}
EXPERT_NAMES = {"w1": "ffn_gate_exps.weight", "w2": "ffn_down_exps.weight", "w3": "ffn_up_exps.weight"}


def tiny_tensors() -> dict[str, torch.Tensor]:
    """GGUF name to tensor (torch order), experts stacked, the hash table int32."""
    config = json.loads((ORACLE / "config.json").read_text())
    found: dict[str, torch.Tensor] = {}
    stacked: dict[str, dict[int, torch.Tensor]] = {}
    for name, tensor in load_file(ORACLE / "weights.safetensors").items():
        if name in GLOBAL_NAMES:
            found[GLOBAL_NAMES[name]] = tensor
            continue
        _, layer, leaf = name.split(".", 2)
        if leaf.startswith("ffn.experts."):
            _, _, expert, matrix, _ = leaf.split(".")
            stacked.setdefault(f"blk.{layer}.{EXPERT_NAMES[matrix]}", {})[int(expert)] = tensor
        else:
            found[f"blk.{layer}.{LAYER_NAMES[leaf]}"] = tensor.int() if leaf.endswith("tid2eid") else tensor
    for name, parts in stacked.items():
        found[name] = torch.stack([parts[expert] for expert in range(config["n_routed_experts"])])
    return found


def tiny_metadata() -> dict[str, int | float | str | bool | list[int] | list[float]]:
    """GGUF metadata of the tiny model, keys without the architecture prefix where they have one."""
    config = json.loads((ORACLE / "config.json").read_text())
    scaling = config["rope_scaling"]
    return {
        "block_count": config["num_hidden_layers"],
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "vocab_size": config["vocab_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": 1,
        "attention.key_length": config["head_dim"],
        "attention.value_length": config["head_dim"],
        "attention.q_lora_rank": config["q_lora_rank"],
        "attention.output_lora_rank": config["o_lora_rank"],
        "attention.output_group_count": config["o_groups"],
        "attention.sliding_window": config["sliding_window"],
        "attention.compress_ratios": config["compress_ratios"],
        "attention.compress_rope_freq_base": config["compress_rope_theta"],
        "attention.indexer.head_count": config["index_n_heads"],
        "attention.indexer.key_length": config["index_head_dim"],
        "attention.indexer.top_k": config["index_topk"],
        "attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "rope.dimension_count": config["qk_rope_head_dim"],
        "rope.freq_base": config["rope_theta"],
        "rope.scaling.factor": float(scaling["factor"]),
        "rope.scaling.original_context_length": scaling["original_max_position_embeddings"],
        "rope.scaling.yarn_beta_fast": float(scaling["beta_fast"]),
        "rope.scaling.yarn_beta_slow": float(scaling["beta_slow"]),
        "expert_count": config["n_routed_experts"],
        "expert_used_count": config["num_experts_per_tok"],
        "expert_shared_count": config["n_shared_experts"],
        "expert_feed_forward_length": config["moe_intermediate_size"],
        "expert_weights_scale": config["routed_scaling_factor"],
        "expert_weights_norm": True,
        "expert_gating_func": 4,
        "hash_layer_count": config["num_hash_layers"],
        "hyper_connection.count": config["hc_mult"],
        "hyper_connection.sinkhorn_iterations": config["hc_sinkhorn_iters"],
        "hyper_connection.epsilon": config["hc_eps"],
        "swiglu_clamp_exp": [config["swiglu_limit"]] * config["num_hidden_layers"],
    }


def write_tiny_gguf(path: Path, without: str | None = None, **changed: object) -> Path:
    """Write the tiny model to `path`, leaving out the tensor `without` and changing the named metadata (dots as __)."""
    writer = gguf.GGUFWriter(path, "deepseek4")
    metadata = tiny_metadata() | {key.replace("__", "."): value for key, value in changed.items()}
    for key, value in metadata.items():
        _add(writer, f"deepseek4.{key}", value)
    _add_vocabulary(writer, int(metadata["vocab_size"]))
    for name, tensor in tiny_tensors().items():
        if name != without:
            writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: gguf.GGUFWriter, key: str, value: object) -> None:
    match value:
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case list():
            writer.add_array(key, value)
        case _:
            raise TypeError(f"{key}: {value!r}")


def _add_vocabulary(writer: gguf.GGUFWriter, size: int) -> None:
    """A byte-level vocabulary: the control tokens, every byte, then letter pairs until `size` is reached."""
    control = [
        "<｜begin▁of▁sentence｜>",
        "<｜end▁of▁sentence｜>",
        "<｜User｜>",
        "<｜Assistant｜>",
        "<think>",
        "</think>",
    ]
    letters = string.ascii_lowercase
    pairs = [a + b for a in letters for b in letters]
    tokens = (control + byte_alphabet() + pairs)[:size]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(control) + [1] * (len(tokens) - len(control)))
    writer.add_token_merges([f"{pair[0]} {pair[1]}" for pair in tokens[len(control) + 256 :]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def byte_alphabet() -> list[str]:
    """GPT-2's printable stand-in for each byte, in byte order."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(spare)) for byte in range(256)]


def oracle_case(tokens: int) -> dict[str, torch.Tensor]:
    return load_file(ORACLE / f"case_{tokens}.safetensors")


CASES = (1, 5, 127, 128, 129, 300, 700)
