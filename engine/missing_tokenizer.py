"""Stands in for the tokenizer of a model that came without one: token ids work, text does not. Any thread."""

from collections.abc import Mapping
from types import MappingProxyType

from tokenizers import Encoding

from engine.errors import ModelFileError
from engine.gguf.metadata import NO_TOKENIZER, TOKENIZER_MODEL, Metadata
from engine.hf.source import TOKENIZER, SafetensorsSource
from engine.model_source import ModelSource
from engine.tokenizer import Tokenizer


class MissingTokenizer(Tokenizer):
    """Knows how many ids there are and where text begins and ends; every token decodes to nothing."""

    def __init__(self, source: Metadata, vocab: int) -> None:
        self._source, self.vocab_size = source.name, vocab
        self._lacks = TOKENIZER if isinstance(source, SafetensorsSource) else "tokenizer"
        self.bos, self.eos = (
            source.get_int("tokenizer.ggml.bos_token_id"),
            source.get_int("tokenizer.ggml.eos_token_id"),
        )
        self.control_ids: Mapping[str, int] = MappingProxyType({})
        self.user = self.assistant = self.think_start = self.think_end = None

    def piece(self, id: int) -> bytes:
        return b""

    def _encoding(self, text: str) -> Encoding:
        raise ModelFileError(f"{self._source} has no {self._lacks}, which is needed to read and write text.")


def tokenizer_of(source: ModelSource, vocab: int) -> Tokenizer:
    """The model's tokenizer, or its stand-in for a folder or a synthetic model that has none. Raises ModelFileError."""
    is_mute = isinstance(source, SafetensorsSource) and TOKENIZER_MODEL not in source
    if is_mute or source.get_str(TOKENIZER_MODEL, None) == NO_TOKENIZER:
        return MissingTokenizer(source, vocab)
    return Tokenizer.from_gguf(source)
