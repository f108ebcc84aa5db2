"""Writes a student as a GGUF file that the engine loads: names of ds4-architecture 7.2, master weights in F16 or F32.

`haloband convert --recipe mix` makes the shipped file of it. Called after training and for checkpoints.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from recipe.vocabulary import Vocabulary
from torch import Tensor

from engine.config import ARCHITECTURE, ModelConfig
from engine.gguf.cursor import ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.shape_keys import Keys, shape_keys
from engine.gguf.types import BLOCK_TYPES
from engine.gguf.writer import GgufWriter, NewTensor
from engine.names import Part, part_of
from engine.new_file import new_file
from engine.quant.codecs import encode

_F32, _F16, _I32 = 0, 1, 26
_COUNT, _TEXT = ValueType.UINT32, ValueType.STRING


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
    keys = _description(config, name) | shape_keys(config) | _vocabulary_keys(vocabulary)
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
            f"{active}, trained from scratch on text sampled from SmolLM2-135M-Instruct and on texts, chats and facts "
            "written for it.",
        ),
        "general.license": (_TEXT, "apache-2.0"),
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
