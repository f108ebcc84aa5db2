"""A teacher small enough for tests that still talks: a Llama file whose feed-forward layer is a table of next words.

Embeddings are unit vectors, attention is silent, and the one layer maps each token to the tokens that may follow it.
Every text is sixty words, every fourth of them one of four, then a question mark and the end of the turn.
"""

import random
import string
from pathlib import Path

import numpy as np
import torch

from engine.gguf.cursor import Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.writer import GgufWriter, NewTensor
from tests.support.tiny_model import byte_alphabet

_CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<pad>"]
_LENGTH, _CHOICES = 60, 4  # words of a text; how many there are to choose from at every fourth place


def write_toy_teacher(path: Path) -> Path:
    letters = "".join(letter for letter in string.ascii_lowercase if letter not in "aeiou")
    spelled = [f"Ġ{a}{v}{b}{v}" for a in letters for v in "aeiou" for b in letters]
    random.Random(0).shuffle(spelled)
    places = [[spelled.pop() for _ in range(1 if place % 4 else _CHOICES)] for place in range(_LENGTH)]
    places[0] = [f"Ġ{word[1:].capitalize()}" for word in places[0]]
    tokens = [*_CONTROL, *byte_alphabet(), *(word for words in places for word in words)]
    tokens += [f"<pad{n}>" for n in range(-len(tokens) % 4)]
    _write(path, tokens, _tensors(tokens, places))
    return path


def _tensors(tokens: list[str], places: list[list[str]]) -> dict[str, torch.Tensor]:
    count = len(tokens)
    number = {token: at for at, token in enumerate(tokens)}
    follow = torch.zeros(count, count)  # [next, token]
    follow[[number[word] for word in places[0]], :] = 1.0  # a text begins after whatever comes before it
    for words, following in zip([*places, ["?"]], [*places[1:], ["?"], ["<|im_end|>"]], strict=True):
        for word in words:
            follow[:, number[word]] = 0.0
            follow[[number[next_word] for next_word in following], number[word]] = 1.0
    ones, zeros = torch.ones(count), torch.zeros(count, count)
    unit = torch.eye(count)
    return {
        "token_embd.weight": unit,
        "output_norm.weight": ones,
        "blk.0.attn_norm.weight": ones,
        "blk.0.ffn_norm.weight": ones,
        **{f"blk.0.attn_{part}.weight": zeros for part in "qkv"},
        "blk.0.attn_output.weight": zeros,
        "blk.0.ffn_gate.weight": unit,
        "blk.0.ffn_up.weight": unit,
        "blk.0.ffn_down.weight": follow,
    }


def _write(path: Path, tokens: list[str], tensors: dict[str, torch.Tensor]) -> None:
    counts = {"block_count": 1, "embedding_length": len(tokens), "feed_forward_length": len(tokens)}
    counts |= {"attention.head_count": 2, "attention.head_count_kv": 2, "vocab_size": len(tokens)}
    keys: dict[str, tuple[ValueType, Value]] = {"general.architecture": (ValueType.STRING, "llama")}
    keys |= {f"llama.{key}": (ValueType.UINT32, value) for key, value in counts.items()}
    keys |= {
        "llama.rope.freq_base": (ValueType.FLOAT32, 10000.0),
        "llama.attention.layer_norm_rms_epsilon": (ValueType.FLOAT32, 1e-5),
        "tokenizer.ggml.pre": (ValueType.STRING, "smollm"),
        "tokenizer.ggml.tokens": (ValueType.ARRAY, list(tokens)),
        "tokenizer.ggml.merges": (ValueType.ARRAY, []),
    }
    entries = [NewTensor(name, tuple(tensor.shape), 0, tensor.nbytes) for name, tensor in tensors.items()]
    with path.open("wb") as file:
        writer = GgufWriter(file, Metadata(str(path), keys), entries)
        for tensor in tensors.values():
            writer.write(np.ascontiguousarray(tensor.numpy()).data)
        writer.finish()
