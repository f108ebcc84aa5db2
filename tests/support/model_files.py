"""Model files for tests: a model's tensors and metadata, changed as a test wants, written as GGUF or in parts.

The formats that public writers do not know (type ids above 100) are written by engine.gguf.writer, which is tested
against the public reader in tests/engine/test_gguf_writer.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from engine.gguf.cursor import Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.writer import GgufWriter, NewTensor
from engine.model_source import open_model
from engine.quant.codecs import codec_for, encode

Keys = dict[str, tuple[ValueType, Value]]


@dataclass
class ModelParts:
    """Everything in a file, still apart: `tensors` maps a name to (shape, type id, stored bytes)."""

    keys: Keys
    tensors: dict[str, tuple[tuple[int, ...], int, bytes]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "ModelParts":
        source = open_model(path)
        keys: Keys = {key: (kind, value) for key, kind, value in source.typed_items()}
        tensors = {t.name: (t.shape, t.type_id, bytes(source.data(t))) for t in source.tensors.values()}
        return cls(keys, tensors)

    def set_number(self, key: str, value: int) -> None:
        self.keys[key] = ValueType.UINT32, value

    def put(self, name: str, weights: Tensor, type_id: int) -> None:
        """Store a tensor in a format that has an encoder."""
        stored = encode(codec_for(type_id), weights).numpy().tobytes()
        self.tensors[name] = tuple(weights.shape), type_id, stored

    def put_raw(self, name: str, shape: Sequence[int], type_id: int, stored: bytes) -> None:
        self.tensors[name] = tuple(shape), type_id, stored

    def write(self, path: Path) -> Path:
        write_gguf(path, self.keys, self.tensors)
        return path

    def write_parts(self, folder: Path, count: int) -> list[Path]:
        """As llama.cpp splits files: all metadata in the first part, tensors in turn."""
        paths = [folder / f"model-{number + 1:05}-of-{count:05}.gguf" for number in range(count)]
        names = list(self.tensors)
        for number, path in enumerate(paths):
            keys = dict(self.keys) if number == 0 else {}
            keys["split.no"] = ValueType.UINT16, number
            keys["split.count"] = ValueType.UINT16, count
            keys["split.tensors.count"] = ValueType.INT32, len(names)
            share = names[number * len(names) // count : (number + 1) * len(names) // count]
            write_gguf(path, keys, {name: self.tensors[name] for name in share})
        return paths


def write_gguf(path: Path, keys: Keys, tensors: Mapping[str, tuple[tuple[int, ...], int, bytes]]) -> None:
    entries = [NewTensor(name, shape, type_id, len(raw)) for name, (shape, type_id, raw) in tensors.items()]
    with path.open("wb") as file:
        writer = GgufWriter(file, Metadata(str(path), keys), entries)
        for _, _, raw in tensors.values():
            writer.write(raw)
        writer.finish()
