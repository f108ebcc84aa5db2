"""The teacher's tokenizer and its chat markup: text to ids, ids of a finished script back to messages.

Scripts and harvesting use it; it does not change after construction, so any process may hold one.
"""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.decoders import ByteLevel

from engine.errors import ModelFileError
from engine.gguf.metadata import Metadata
from engine.gguf.reader import GgufFile

_TURN_START, _TURN_END = "<|im_start|>", "<|im_end|>"


class TeacherText:
    """Byte-level BPE with single digits, as SmolLM2's; `turn_start` and `turn_end` are the chat's control tokens."""

    def __init__(self, tokens: Sequence[str], merges: Sequence[tuple[str, str]]) -> None:
        self.vocab = {token: number for number, token in enumerate(tokens)}
        self.turn_start, self.turn_end = self.vocab[_TURN_START], self.vocab[_TURN_END]
        self._bpe = Tokenizer(models.BPE(vocab=self.vocab, merges=list(merges)))
        self._bpe.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        self._bpe.decoder = ByteLevel()

    @classmethod
    def from_gguf(cls, file: Metadata) -> "TeacherText":
        """Raises ModelFileError for a file with another pre-tokenizer."""
        if (pre := file.get_str("tokenizer.ggml.pre")) != "smollm":
            raise ModelFileError(f"{file.name}: the teacher's pre-tokenizer is {pre!r}, not 'smollm'")
        merges = [tuple(merge.split(" ", 1)) for merge in file.get_strings("tokenizer.ggml.merges")]
        return cls(file.get_strings("tokenizer.ggml.tokens"), merges)

    @classmethod
    def open(cls, path: Path) -> "TeacherText":
        with GgufFile.open(path) as file:
            return cls.from_gguf(file)

    def encode(self, text: str) -> list[int]:
        """Ids of plain text: no control token, whatever it says."""
        return self._bpe.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        return self._bpe.decode(list(ids), skip_special_tokens=False)

    def open_turn(self, role: str) -> list[int]:
        """What precedes a message; the system-free form of the template: turns only, a line break between two."""
        return [self.turn_start, *self.encode(f"{role}\n")]

    def message(self, role: str, text: str) -> list[int]:
        """A whole message with its end and the line break after it."""
        return [*self.open_turn(role), *self.encode(text), self.turn_end, *self.encode("\n")]
