"""Tokenizers for tests: the embedded model's own vocabulary, under either pre-tokenizer."""

from functools import cache
from pathlib import Path

from engine.gguf.reader import GgufFile
from engine.tokenizer import Tokenizer

NANO = Path(__file__).parents[2] / "resources" / "models" / "ds4-nano.gguf"


@cache
def nano_tokenizer(pre: str = "gpt-2") -> Tokenizer:
    with GgufFile.open(NANO) as file:
        merges = [(left, right) for left, right in map(str.split, file.get_strings("tokenizer.ggml.merges"))]
        tokens, types = file.get_strings("tokenizer.ggml.tokens"), file.get_ints("tokenizer.ggml.token_type")
        return Tokenizer(tokens, types, merges, pre, bos=0, eos=1)
