"""A model's shape as GGUF metadata, with which every reader of model files understands a synthetic one.

Used by engine.synth.source; no torch. Keys: ds4-architecture 7.2; engine.config reads them back.
"""

from collections.abc import Mapping

from engine.config import ARCHITECTURE, ModelConfig
from engine.gguf.cursor import ValueType
from engine.gguf.metadata import NO_TOKENIZER, TOKENIZER_MODEL
from engine.gguf.shape_keys import Keys, shape_keys
from engine.tensor_source import FORMAT_KEY


def metadata_keys(config: ModelConfig, name: str, meanings: Mapping[str, str]) -> Keys:
    """All keys of a file of this shape, called `name`. `meanings`: family of tensors to its format (FORMAT_KEY)."""
    texts: Keys = {
        "general.architecture": (ValueType.STRING, ARCHITECTURE),
        "general.name": (ValueType.STRING, name),
    }
    tokenizer: Keys = {
        TOKENIZER_MODEL: (ValueType.STRING, NO_TOKENIZER),
        "tokenizer.ggml.bos_token_id": (ValueType.UINT32, 0),
        "tokenizer.ggml.eos_token_id": (ValueType.UINT32, 1),
    }
    formats: Keys = {FORMAT_KEY + family: (ValueType.STRING, meaning) for family, meaning in meanings.items()}
    return texts | shape_keys(config) | tokenizer | formats
