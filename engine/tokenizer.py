"""Text to token ids and back: byte-level BPE from a model file's own vocabulary, run by the `tokenizers` library.

Sessions, the chat format and the composer's token count use it; it does not change after construction, so any
thread may. Control tokens are left out of the text vocabulary: no text, typed or pasted, can become one. Only
engine.chat_format places them, by id.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Self

from tokenizers import Encoding, Regex, models, pre_tokenizers
from tokenizers import Tokenizer as BpeTokenizer

from engine.errors import ModelFileError
from engine.gguf.metadata import Metadata
from engine.text_stream import TextStream

NORMAL_TOKEN = 1  # tokenizer.ggml.token_type of a piece of text; all other types are control tokens here
BOS = "<｜begin▁of▁sentence｜>"
EOS = "<｜end▁of▁sentence｜>"
USER = "<｜User｜>"
ASSISTANT = "<｜Assistant｜>"
THINK_START = "<think>"
THINK_END = "</think>"
# Control tokens whatever type the file gives them (ds4-architecture section 8.1).
_OTHER_CONTROL_NAMES = (
    *("<｜▁pad▁｜>", "｜DSML｜", "<｜latest_reminder｜>", "<｜action｜>", "<｜query｜>", "<｜authority｜>"),
    *("<｜domain｜>", "<｜title｜>", "<｜extracted_url｜>", "<｜read_url｜>"),
)
CONTROL_NAMES = frozenset((BOS, EOS, USER, ASSISTANT, THINK_START, THINK_END, *_OTHER_CONTROL_NAMES))
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()

# ds4-architecture section 8.1, in this order, each isolating its matches.
JOYAI_PATTERNS = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
)


class Tokenizer:
    """The tokenizer of one model. `vocab_size` counts all tokens, control tokens included.

    `bos` and `eos` are ids; `user`, `assistant`, `think_start` and `think_end` are those of the chat's control tokens,
    None where the vocabulary lacks them.
    """

    def __init__(
        self,
        tokens: Sequence[str],
        token_types: Sequence[int],
        merges: Sequence[tuple[str, str]],
        pre: str,
        bos: int,
        eos: int,
    ) -> None:
        """Raises ModelFileError when the parts do not make a byte-level BPE tokenizer."""
        self.vocab_size = len(tokens)
        self.bos = bos
        self.eos = eos
        control = [
            kind != NORMAL_TOKEN or token in CONTROL_NAMES or id in (bos, eos)
            for id, (token, kind) in enumerate(zip(tokens, token_types, strict=True))
        ]
        text_vocab = {token: id for id, token in enumerate(tokens) if not control[id]}
        self.control_ids: Mapping[str, int] = MappingProxyType(
            {token: id for id, token in enumerate(tokens) if control[id]}
        )
        if len(text_vocab) + len(self.control_ids) != len(tokens):
            raise ModelFileError("The tokenizer's vocabulary has the same token twice.")
        if missing := byte_alphabet().keys() - text_vocab.keys():
            raise ModelFileError(f"The tokenizer's vocabulary has no token for {len(missing)} of the 256 bytes.")
        self.user, self.assistant = self.control_ids.get(USER), self.control_ids.get(ASSISTANT)
        self.think_start, self.think_end = self.control_ids.get(THINK_START), self.control_ids.get(THINK_END)
        self._bpe = BpeTokenizer(_bpe_model(text_vocab, merges))
        self._bpe.pre_tokenizer = _pre_tokenizer(pre)
        self._pieces = [b"" if control[id] else _token_bytes(token) for id, token in enumerate(tokens)]

    @classmethod
    def from_gguf(cls, file: Metadata) -> Self:
        """Build from the `tokenizer.ggml.*` keys of a model file. Raises ModelFileError naming file and fault."""
        if (kind := file.get_str("tokenizer.ggml.model")) != "gpt2":
            raise ModelFileError(f"{file.name}: the tokenizer is of type {kind!r}; only byte-level BPE (gpt2) works.")
        tokens = file.get_strings("tokenizer.ggml.tokens")
        types = file.get_ints("tokenizer.ggml.token_type")
        if len(types) != len(tokens):
            raise ModelFileError(
                f"{file.name}: tokenizer.ggml.token_type has {len(types):,} of {len(tokens):,} entries."
            )
        merges = [_merge_pair(file.name, merge) for merge in file.get_strings("tokenizer.ggml.merges")]
        special = []
        for key in ("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"):
            special.append(file.get_int(key))
            if not 0 <= special[-1] < len(tokens):
                raise ModelFileError(f"{file.name}: {key} is {special[-1]:,}, but there are {len(tokens):,} tokens.")
        try:
            return cls(tokens, types, merges, file.get_str("tokenizer.ggml.pre"), *special)
        except ModelFileError as error:
            raise ModelFileError(f"{file.name}: {error}") from None

    def encode(self, text: str) -> list[int]:
        """Ids of `text`. Adds nothing before or after, and never gives a control token."""
        return self._encoding(text).ids

    def count(self, text: str) -> int:
        """How many ids `encode` would give, without making the list: under a second for a megabyte of anything."""
        return len(self._encoding(text))

    def _encoding(self, text: str) -> Encoding:
        # The fast batch leaves out character offsets and, unlike `encode`, lets other threads run meanwhile.
        return self._bpe.encode_batch_fast([_sendable(text)], add_special_tokens=False)[0]

    def piece(self, id: int) -> bytes:
        """The bytes a token stands for: none for a control token, U+FFFD for an id outside the vocabulary."""
        return self._pieces[id] if 0 <= id < self.vocab_size else _REPLACEMENT

    def decode(self, ids: Iterable[int]) -> str:
        """The text of any ids. Control tokens have none; bytes that are not UTF-8 become U+FFFD."""
        return b"".join(map(self.piece, ids)).decode(errors="replace")

    def stream(self) -> TextStream:
        """A decoder to be fed one id at a time."""
        return TextStream(self.piece)


@cache
def byte_alphabet() -> Mapping[str, int]:
    """The 256 printable stand-ins of byte-level BPE, each to its byte.

    Printable Latin-1 bytes stand for themselves; the others take the characters from U+0100 on, in order.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    rest = [byte for byte in range(256) if byte not in printable]
    stand_ins = {chr(byte): byte for byte in printable} | {chr(0x100 + at): byte for at, byte in enumerate(rest)}
    return MappingProxyType(stand_ins)


def _token_bytes(token: str) -> bytes:
    alphabet = byte_alphabet()
    try:
        return bytes(alphabet[character] for character in token)
    except KeyError:
        return token.encode()  # not written in the byte alphabet: no text reaches it, but it can be shown


def _merge_pair(file_name: str, merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    if not (left and right) or " " in right:
        raise ModelFileError(f"{file_name}: tokenizer.ggml.merges has {merge!r}, which is not a pair.")
    return left, right


def _bpe_model(vocab: dict[str, int], merges: Sequence[tuple[str, str]]) -> models.BPE:
    for left, right in merges:
        for part in (left, right, left + right):
            if part not in vocab:
                raise ModelFileError(f"The tokenizer's merge {left!r} + {right!r} needs {part!r}, no text token.")
    return models.BPE(vocab=vocab, merges=list(merges))


def _pre_tokenizer(name: str) -> pre_tokenizers.PreTokenizer:
    if name == "gpt-2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if name == "joyai-llm":
        splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in JOYAI_PATTERNS]
        to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        return pre_tokenizers.Sequence([*splits, to_bytes])
    raise ModelFileError(f"The model's pre-tokenizer {name!r} is not known; only 'gpt-2' and 'joyai-llm' can be used.")


def _sendable(text: str) -> str:
    """Text without lone surrogates, which have no UTF-8 form; each becomes U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
