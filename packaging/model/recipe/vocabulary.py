"""The student's vocabulary: byte-level BPE trained on the conversations, control tokens first, at their fixed ids.

Trained once a run; the engine's own Tokenizer reads it, so training, evaluation and the program split text alike.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as BpeTokenizer
from tokenizers import models, pre_tokenizers, trainers

from engine.errors import ModelFileError
from engine.gguf.metadata import Metadata
from engine.tokenizer import (
    ASSISTANT,
    BOS,
    EOS,
    NORMAL_TOKEN,
    THINK_END,
    THINK_START,
    USER,
    Tokenizer,
    byte_alphabet,
)

PAD = "<｜▁pad▁｜>"
CONTROL = (BOS, EOS, USER, ASSISTANT, THINK_START, THINK_END, PAD)  # ids 0 to 6
_CONTROL_TYPE = 3


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All tokens by id and the merges in order of rank."""

    tokens: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]

    @property
    def types(self) -> list[int]:
        """GGUF token types: control tokens, then text."""
        return [_CONTROL_TYPE] * len(CONTROL) + [NORMAL_TOKEN] * (len(self.tokens) - len(CONTROL))

    @property
    def bos(self) -> int:
        return CONTROL.index(BOS)

    @property
    def eos(self) -> int:
        return CONTROL.index(EOS)

    @property
    def pad(self) -> int:
        return CONTROL.index(PAD)

    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.tokens, self.types, self.merges, "gpt-2", self.bos, self.eos)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"tokens": self.tokens, "merges": self.merges}, ensure_ascii=False), "utf-8")

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        fields = json.loads(path.read_text("utf-8"))
        return cls(tuple(fields["tokens"]), tuple((left, right) for left, right in fields["merges"]))

    @classmethod
    def from_gguf(cls, file: Metadata) -> "Vocabulary":
        """That of a model file made by this recipe. Raises ModelFileError where its control tokens lie elsewhere."""
        tokens = tuple(file.get_strings("tokenizer.ggml.tokens"))
        if tokens[: len(CONTROL)] != CONTROL:
            raise ModelFileError(f"{file.name}: its control tokens are not those of this recipe")
        merges = (merge.split(" ") for merge in file.get_strings("tokenizer.ggml.merges"))
        return cls(tokens, tuple((left, right) for left, right in merges))


def train_vocabulary(texts: Iterable[str], size: int) -> Vocabulary:
    """Byte-level BPE of `size` tokens, control tokens included, with GPT-2's pre-tokenisation.

    Raises ValueError where the texts have too few distinct pairs for so many tokens.
    """
    bpe = BpeTokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    alphabet = sorted(byte_alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(CONTROL), initial_alphabet=alphabet, show_progress=False, special_tokens=[]
    )
    bpe.train_from_iterator(texts, trainer)
    model = json.loads(bpe.to_str())["model"]
    tokens = (*CONTROL, *sorted(model["vocab"], key=model["vocab"].get))
    if len(tokens) != size:
        raise ValueError(f"the texts give {len(tokens):,} tokens, not {size:,}")
    return Vocabulary(tokens, tuple(_pair(merge) for merge in model["merges"]))


def _pair(merge: str | list[str]) -> tuple[str, str]:
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right
