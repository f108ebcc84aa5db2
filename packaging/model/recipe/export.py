"""Writes a student as a GGUF file that the engine loads: names of ds4-architecture 7.2, master weights in F16 or F32.

`haloband convert --recipe mix` makes the shipped file of it. Called after training and for checkpoints.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from recipe.vocabulary import Vocabulary
from torch import Tensor

from engine.config import ARCHITECTURE, ModelConfig
from engine.gguf.cursor import Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.types import BLOCK_TYPES
from engine.gguf.writer import GgufWriter, NewTensor
from engine.names import Part, part_of
from engine.new_file import new_file
from engine.quant.codecs import encode

_F32, _F16, _I32 = 0, 1, 26
_SQRT_SOFTPLUS = 4
Keys = dict[str, tuple[ValueType, Value]]
_NUMBER, _COUNT, _TEXT = ValueType.FLOAT32, ValueType.UINT32, ValueType.STRING


def export(
    path: Path, config: ModelConfig, parameters: Mapping[str, Tensor], vocabulary: Vocabulary, name: str, exact: bool
) -> None:
    """Write the file whole or not at all. With `exact`, all weights are F32, else matrices are F16.

    Raises UserError where it cannot be written.
    """
    tensors = []
    for tensor_name, tensor in parameters.items():
        type_id = _type_id(tensor_name, tensor, exact)
        nbytes = tensor.numel() * BLOCK_TYPES[type_id].bytes
        tensors.append(NewTensor(tensor_name, tuple(tensor.shape), type_id, nbytes))
    keys = _description(config, name) | _shape_keys(config) | _vocabulary_keys(vocabulary)
    with new_file(path) as file:
        writer = GgufWriter(file, Metadata(str(path), keys), tensors)
        for entry in tensors:
            writer.write(encode(entry.type_id, parameters[entry.name].detach().cpu()).numpy().data)
        writer.finish()


def _type_id(name: str, tensor: Tensor, exact: bool) -> int:
    if part_of(name) is Part.TABLE:
        return _I32
    return _F32 if exact or part_of(name) is Part.VECTOR else _F16


def _description(config: ModelConfig, name: str) -> Keys:
    active = "top-" + str(config.experts_used)
    return {
        "general.architecture": (_TEXT, ARCHITECTURE),
        "general.name": (_TEXT, name),
        "general.description": (
            _TEXT,
            f"A small model of the DeepSeek V4 Flash architecture, {config.layers} layers, {config.experts} experts "
            f"{active}, trained from scratch on text sampled from SmolLM2-135M-Instruct.",
        ),
        "general.license": (_TEXT, "apache-2.0"),
    }


def _shape_keys(c: ModelConfig) -> Keys:
    counts = {
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
    numbers = {
        "attention.compress_rope_freq_base": c.compress_rope_base,
        "attention.layer_norm_rms_epsilon": c.rms_eps,
        "rope.freq_base": c.rope_base,
        "rope.scaling.factor": c.yarn.factor,
        "rope.scaling.yarn_beta_fast": c.yarn.beta_fast,
        "rope.scaling.yarn_beta_slow": c.yarn.beta_slow,
        "expert_weights_scale": c.expert_scale,
        "hyper_connection.epsilon": c.hc_eps,
    }
    keys: Keys = {f"{ARCHITECTURE}.{key}": (_COUNT, value) for key, value in counts.items()}
    keys |= {f"{ARCHITECTURE}.{key}": (_NUMBER, value) for key, value in numbers.items()}
    return keys | {
        f"{ARCHITECTURE}.attention.compress_ratios": (ValueType.ARRAY, np.array(c.ratios, np.int32)),
        f"{ARCHITECTURE}.swiglu_clamp_exp": (ValueType.ARRAY, np.array(c.swiglu_limits, np.float32)),
        f"{ARCHITECTURE}.rope.scaling.type": (_TEXT, "yarn"),
        f"{ARCHITECTURE}.expert_weights_norm": (ValueType.BOOL, True),
    }


def _vocabulary_keys(vocabulary: Vocabulary) -> Keys:
    prefix = "tokenizer.ggml."
    return {
        f"{prefix}model": (_TEXT, "gpt2"),
        f"{prefix}pre": (_TEXT, "gpt-2"),
        f"{prefix}tokens": (ValueType.ARRAY, list(vocabulary.tokens)),
        f"{prefix}token_type": (ValueType.ARRAY, np.array(vocabulary.types, np.int32)),
        f"{prefix}merges": (ValueType.ARRAY, [" ".join(pair) for pair in vocabulary.merges]),
        f"{prefix}bos_token_id": (_COUNT, vocabulary.bos),
        f"{prefix}eos_token_id": (_COUNT, vocabulary.eos),
        f"{prefix}padding_token_id": (_COUNT, vocabulary.pad),
    }
