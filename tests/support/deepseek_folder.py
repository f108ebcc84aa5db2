"""The tiny oracle model as a folder in DeepSeek's own form: safetensors in one or several files, FP8 and FP4 or plain.

Written byte by byte, so that the reader's tests do not depend on another writer and can damage whatever they like.
"""

import json
import math
import shutil
import string
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from tests.support.tiny_model import ORACLE, byte_alphabet

CONTROL = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>")
THINK = ("<think>", "</think>")
FP8_LEAVES = ("attn.wq_a", "attn.wq_b", "attn.wkv", "attn.wo_a", "attn.wo_b", "attn.indexer.wq_b", "ffn.shared_experts")
BF16_LEAVES = ("norm.weight", "embed.weight", "head.weight", "compressor.wkv.weight", "compressor.wgate.weight")
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@dataclass
class Entry:
    """One tensor as stored: the format's name of its type, its shape, its bytes."""

    dtype: str
    shape: tuple[int, ...]
    raw: bytes


_DTYPES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.int64: "I64", torch.int32: "I32"}


def entry(tensor: Tensor) -> Entry:
    return Entry(
        _DTYPES[tensor.dtype], tuple(tensor.shape), tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
    )


def safetensors_bytes(entries: Mapping[str, Entry]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, item in entries.items():
        header[name] = {"dtype": item.dtype, "shape": item.shape, "data_offsets": [offset, offset + len(item.raw)]}
        offset += len(item.raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(item.raw for item in entries.values())


def plain_entries() -> dict[str, Entry]:
    """Every tensor as the oracle has it: float32, and 64-bit numbers in the hash table."""
    return {name: entry(tensor) for name, tensor in load_file(ORACLE / "weights.safetensors").items()}


def release_entries() -> tuple[dict[str, Entry], dict[str, Tensor]]:
    """As DeepSeek releases models: FP8, FP4 and BF16; and what each weight then is, in float32."""
    entries: dict[str, Entry] = {}
    values: dict[str, Tensor] = {}
    for name, tensor in load_file(ORACLE / "weights.safetensors").items():
        leaf = name.split(".", 2)[2] if name.startswith("layers.") else name
        base = name.removesuffix(".weight")
        if leaf.startswith("ffn.experts."):
            entries[name], entries[f"{base}.scale"], values[name] = fp4(tensor)
        elif leaf.startswith(FP8_LEAVES):
            entries[name], entries[f"{base}.scale"], values[name] = fp8(tensor)
        else:
            kept = tensor.bfloat16() if leaf.endswith(BF16_LEAVES) else tensor
            entries[name], values[name] = entry(kept), kept.float() if kept.is_floating_point() else kept
    return entries, values


def fp8(weight: Tensor) -> tuple[Entry, Entry, Tensor]:
    """E4M3 with a power of two for each 128 x 128 (ds4-architecture 7.1): codes, scales, values."""
    rows, columns = weight.shape
    codes, values = torch.empty(rows, columns, dtype=torch.uint8), torch.empty(rows, columns)
    scales = torch.empty(-(-rows // 128), -(-columns // 128), dtype=torch.uint8)
    for i in range(scales.shape[0]):
        for j in range(scales.shape[1]):
            part = slice(128 * i, 128 * (i + 1)), slice(128 * j, 128 * (j + 1))
            power = math.ceil(math.log2(float(weight[part].abs().max()) / 448))
            stored = (weight[part] / 2.0**power).to(torch.float8_e4m3fn)
            codes[part], scales[i, j], values[part] = stored.view(torch.uint8), power + 127, stored.float() * 2.0**power
    return (
        Entry("F8_E4M3", (rows, columns), codes.numpy().tobytes()),
        Entry("F8_E8M0", tuple(scales.shape), scales.numpy().tobytes()),
        values,
    )


def fp4(weight: Tensor) -> tuple[Entry, Entry, Tensor]:
    """E2M1 with a power of two for each 32 columns, the even column in the low nibble: codes, scales, values."""
    rows, columns = weight.shape
    blocks = weight.view(rows, columns // 32, 32)
    power = (blocks.abs().amax(dim=2, keepdim=True) / 6).log2().ceil()
    nearest = ((blocks / 2**power).abs()[..., None] - E2M1).abs().argmin(dim=-1)
    values = E2M1[nearest] * blocks.sign() * 2**power
    codes = (nearest + 8 * (values < 0)).view(rows, columns // 2, 2).to(torch.uint8)
    scales = (power + 127).to(torch.uint8)
    return (
        Entry("I8", (rows, columns // 2), (codes[..., 0] | codes[..., 1] << 4).numpy().tobytes()),
        Entry("F8_E8M0", (rows, columns // 32), scales.numpy().tobytes()),
        values.view(rows, columns),
    )


def write_folder(folder: Path, entries: Mapping[str, Entry], tokenizer: bool = True, **config: object) -> Path:
    """config.json (with changes; a field that is None is left out), one file of tensors, and a tokenizer."""
    folder.mkdir(exist_ok=True)
    write_config(folder, **config)
    (folder / "model.safetensors").write_bytes(safetensors_bytes(entries))
    if tokenizer:
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer_document()))
    return folder


def write_config(folder: Path, **changes: object) -> None:
    values = json.loads((ORACLE / "config.json").read_text()) | changes
    (folder / "config.json").write_text(
        json.dumps({name: value for name, value in values.items() if value is not None})
    )


def split_folder(folder: Path, entries: Mapping[str, Entry], count: int) -> dict[str, str]:
    """The tensors in `count` files with an index instead of one file; which file each tensor is in."""
    (folder / "model.safetensors").unlink()
    names, places = list(entries), {}
    for number in range(count):
        file = f"model-{number + 1:05}-of-{count:05}.safetensors"
        share = {name: entries[name] for name in names[number::count]}
        (folder / file).write_bytes(safetensors_bytes(share))
        places |= dict.fromkeys(share, file)
    write_index(folder, places)
    return places


def write_index(folder: Path, places: Mapping[str, str]) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))


def copy_folder(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source, target))


def tokenizer_document() -> dict[str, object]:
    """The vocabulary of tests/support/tiny_model.py as a tokenizer.json: control tokens, bytes, letter pairs."""
    letters = string.ascii_lowercase
    pairs = [a + b for a in letters for b in letters]
    texts = (byte_alphabet() + pairs)[: 512 - len(CONTROL) - len(THINK)]
    first = len(CONTROL) + len(THINK)
    added = [{"id": id, "content": token, "special": True} for id, token in enumerate(CONTROL)]
    added += [{"id": len(CONTROL) + id, "content": token, "special": False} for id, token in enumerate(THINK)]
    vocab = {token: first + id for id, token in enumerate(texts)}
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": [f"{pair[0]} {pair[1]}" for pair in texts[256:]]},
    }
