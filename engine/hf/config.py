"""config.json of a Hugging Face folder as GGUF metadata, so that one reader of settings serves every form of a model.

Called by engine.hf.source. The file is not trusted: each field is checked for its type here, and for its sense
by engine.config. Field names: ds4-architecture section 1.1.
"""

from typing import cast

import numpy as np

from engine.config import ARCHITECTURE
from engine.errors import ModelFileError
from engine.gguf.cursor import Value, ValueType
from engine.strict_json import Object

Keys = dict[str, tuple[ValueType, Value]]

MODEL_TYPE = "deepseek_v4"
_SQRT_SOFTPLUS = 4  # llama.cpp's number
_LARGEST = 1 << 31
_LARGEST_FLOAT32 = 3.4e38

# GGUF key below "deepseek4.", and the field of config.json.
_INTEGERS = {
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "vocab_size": "vocab_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.value_length": "head_dim",
    "attention.q_lora_rank": "q_lora_rank",
    "attention.output_lora_rank": "o_lora_rank",
    "attention.output_group_count": "o_groups",
    "attention.sliding_window": "sliding_window",
    "attention.indexer.head_count": "index_n_heads",
    "attention.indexer.key_length": "index_head_dim",
    "attention.indexer.top_k": "index_topk",
    "rope.dimension_count": "qk_rope_head_dim",
    "expert_count": "n_routed_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_shared_count": "n_shared_experts",
    "expert_feed_forward_length": "moe_intermediate_size",
    "hash_layer_count": "num_hash_layers",
    "hyper_connection.count": "hc_mult",
    "hyper_connection.sinkhorn_iterations": "hc_sinkhorn_iters",
}
_NUMBERS = {
    "attention.compress_rope_freq_base": "compress_rope_theta",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "rope.freq_base": "rope_theta",
    "expert_weights_scale": "routed_scaling_factor",
    "hyper_connection.epsilon": "hc_eps",
    "swiglu_clamp_exp": "swiglu_limit",
}
_SCALING_NUMBERS = {"factor": "factor", "yarn_beta_fast": "beta_fast", "yarn_beta_slow": "beta_slow"}
# What the mathematics takes for granted: a model with another value is another model.
_FIXED: dict[str, object] = {
    "model_type": MODEL_TYPE,
    "scoring_func": "sqrtsoftplus",
    "num_key_value_heads": 1,
    "n_shared_experts": 1,
    "norm_topk_prob": True,
    "tie_word_embeddings": False,
}


def config_keys(config: Object, name: str) -> Keys:
    """The `general.` and `deepseek4.` keys for a parsed config.json. Raises ModelFileError naming file and field."""
    fields = _Fields(config, name)
    for field, wanted in _FIXED.items():
        if config.get(field, wanted) != wanted:
            raise ModelFileError(f"{name}: {field} is {config[field]!r}, where {wanted!r} is the only one built.")
    keys: Keys = {"general.architecture": (ValueType.STRING, ARCHITECTURE)}
    for key, field in _INTEGERS.items():
        keys[f"{ARCHITECTURE}.{key}"] = ValueType.UINT32, fields.integer(field)
    for key, field in _NUMBERS.items():
        keys[f"{ARCHITECTURE}.{key}"] = ValueType.FLOAT32, fields.number(field)
    scaling = fields.inner("rope_scaling")
    for key, field in _SCALING_NUMBERS.items():
        keys[f"{ARCHITECTURE}.rope.scaling.{key}"] = ValueType.FLOAT32, scaling.number(field)
    original = scaling.integer("original_max_position_embeddings")
    keys[f"{ARCHITECTURE}.rope.scaling.original_context_length"] = ValueType.UINT32, original
    keys[f"{ARCHITECTURE}.rope.scaling.type"] = ValueType.STRING, "yarn"
    keys[f"{ARCHITECTURE}.attention.compress_ratios"] = ValueType.ARRAY, fields.integers("compress_ratios")
    keys[f"{ARCHITECTURE}.expert_weights_norm"] = ValueType.BOOL, True
    keys[f"{ARCHITECTURE}.expert_gating_func"] = ValueType.UINT32, _SQRT_SOFTPLUS
    for key, field in (("bos", "bos_token_id"), ("eos", "eos_token_id")):
        keys[f"tokenizer.ggml.{key}_token_id"] = ValueType.UINT32, fields.first_integer(field)
    return keys


class _Fields:
    """Typed access to one JSON object."""

    def __init__(self, values: Object, name: str) -> None:
        self._values, self._name = values, name

    def integer(self, field: str) -> int:
        value = self._get(field)
        if type(value) is not int or not 0 <= value < _LARGEST:
            raise self._wrong(field, "a whole number below 2^31")
        return value

    def number(self, field: str) -> float:
        """As float32, the precision it has in a GGUF file."""
        value = self._get(field)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LARGEST_FLOAT32:
            raise self._wrong(field, "a number")
        return float(np.float32(value))

    def integers(self, field: str) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
        value = self._get(field)
        if not isinstance(value, list) or not all(type(item) is int and 0 <= item < _LARGEST for item in value):
            raise self._wrong(field, "a list of whole numbers below 2^31")
        return np.array(value, np.int32)

    def first_integer(self, field: str) -> int:
        """A whole number, or the first of a list of them (some models end answers with several tokens)."""
        value = self._get(field)
        if isinstance(value, list) and value:
            return _Fields({field: value[0]}, self._name).integer(field)
        return self.integer(field)

    def inner(self, field: str) -> "_Fields":
        value = self._get(field)
        if not isinstance(value, dict):
            raise self._wrong(field, "an object")
        return _Fields(cast(Object, value), f"{self._name}: {field}")

    def _get(self, field: str) -> object:
        if field not in self._values:
            raise ModelFileError(f"{self._name} has no field {field!r}, which is needed.")
        return self._values[field]

    def _wrong(self, field: str, wanted: str) -> ModelFileError:
        shown = repr(self._values[field])
        return ModelFileError(f"{self._name}: {field} must be {wanted}, but is {shown[:60]}.")
