"""A model in one GGUF file, or in several parts, as a source of canonical tensors with the metadata of a whole model.

engine.model_source opens it for the loader, the converter and `haloband inspect`. What the file holds beside the model
itself (draft heads, say) is left out, and `notes` says so.
"""

import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from engine.config import ARCHITECTURE
from engine.errors import ModelFileError
from engine.gguf.cursor import Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.reader import GgufFile, TensorInfo
from engine.names import Place, place_gguf, unused_notes
from engine.tensor_source import FORMAT_KEY, StoredTensor

MAX_PARTS = 1024
SPLIT_KEYS = frozenset({"split.no", "split.count", "split.tensors.count"})
_PART_NAME = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})\.gguf")
_BLOCKS, _DRAFT_BLOCKS = f"{ARCHITECTURE}.block_count", f"{ARCHITECTURE}.nextn_predict_layers"
_VOCABULARY, _TOKENS = f"{ARCHITECTURE}.vocab_size", "tokenizer.ggml.tokens"


class GgufSource(Metadata):
    """Satisfies engine.tensor_source.TensorSource. Views from `data` stay readable after `close`.

    `all_tensors` are those of the model and, under the names they are stored by, whatever else the file holds. A file
    of another architecture has no model here: its tensors are all there, under their own names.
    """

    def __init__(self, path: Path, parts: Sequence[GgufFile]) -> None:
        self.path, self.parts = path, tuple(parts)
        self.file_bytes = sum(part.file_bytes for part in parts)
        self.form, self.file_count = f"GGUF {parts[0].version}", len(parts)
        self._places = _collect(str(path), parts)
        super().__init__(str(path), _whole_metadata(parts[0], self._places))
        layers = self.get_int(_BLOCKS, 0)
        is_ours = self.get_str("general.architecture", "") == ARCHITECTURE
        tensors: dict[str, StoredTensor] = {}
        everything, unused = [], []
        for _, info in self._places.values():
            place = place_gguf(info.name, layers) if is_ours else Place(info.name)
            name = place.name if place else info.name
            everything.append(StoredTensor(name, info.name, info.shape, info.type_id, info.nbytes))
            if place:
                tensors[name] = everything[-1]
            else:
                unused.append(info.name)
        self.all_tensors = tuple(everything)
        self.tensors: Mapping[str, StoredTensor] = MappingProxyType(tensors)
        self.declared_formats: Mapping[str, str] = MappingProxyType(
            {key.removeprefix(FORMAT_KEY): self.get_str(key) for key in self if key.startswith(FORMAT_KEY)}
        )
        self.notes = unused_notes(unused, layers)

    @property
    def file_metadata(self) -> Metadata:
        """The metadata as stored, drafts included, but without what only a split file needs."""
        items = self.parts[0].typed_items()
        return Metadata(self.name, {key: (kind, value) for key, kind, value in items if key not in SPLIT_KEYS})

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that the model is read from."""
        return tuple(part.path for part in self.parts)

    def called(self, name: str) -> str:
        return name

    def data(self, tensor: StoredTensor) -> memoryview:
        part, info = self._places[tensor.stored_as]
        return part.data(info)

    def sample(self, tensor: StoredTensor, count: int) -> bytes:
        stored = self.data(tensor)
        return bytes(stored[:count]) + bytes(stored[-count:])

    def close(self) -> None:
        for part in self.parts:
            part.close()


def open_gguf(path: Path) -> GgufSource:
    """Open a file and, where it is a part of a model, the other parts beside it. Raises ModelFileError."""
    first = GgufFile.open(path)
    count = first.get_int("split.count", 1)
    if count == 1:
        return GgufSource(path, [first])
    first.close()
    match = _PART_NAME.fullmatch(path.name)
    if not 1 < count <= MAX_PARTS or match is None or int(match[3]) != count:
        raise ModelFileError(
            f"{path} is one of {count:,} parts of a model, but is not named like one; parts are named "
            f"NAME-00001-of-{count:05}.gguf and so on."
        )
    parts = [
        GgufFile.open(path.with_name(f"{match[1]}-{number:05}-of-{count:05}.gguf")) for number in range(1, count + 1)
    ]
    _check_parts(parts, count)
    return GgufSource(path, parts)


def is_later_part(path: Path) -> bool:
    """Whether a file is named like a part of a model other than the first."""
    match = _PART_NAME.fullmatch(path.name)
    return match is not None and int(match[2]) > 1


def _check_parts(parts: Sequence[GgufFile], count: int) -> None:
    for number, part in enumerate(parts):
        found = part.get_int("split.no"), part.get_int("split.count")
        if found != (number, count):
            raise ModelFileError(
                f"{part.path} is named part {number + 1} of {count}, but says of itself that it is part "
                f"{found[0] + 1:,} of {found[1]:,}."
            )
    held = sum(len(part.tensors) for part in parts)
    if (promised := parts[0].get_int("split.tensors.count", held)) != held:
        raise ModelFileError(f"{parts[0].path}: the parts hold {held:,} tensors, but should hold {promised:,}.")


def _collect(name: str, parts: Sequence[GgufFile]) -> dict[str, tuple[GgufFile, TensorInfo]]:
    """Every tensor of all parts by name, in order; a name that comes twice is an error."""
    found: dict[str, tuple[GgufFile, TensorInfo]] = {}
    for part in parts:
        for info in part.tensors.values():
            if info.name in found:
                raise ModelFileError(f"{name}: tensor {info.name} is in {found[info.name][0].path} and in {part.path}.")
            found[info.name] = part, info
    return found


def _whole_metadata(first: GgufFile, names: Container[str]) -> dict[str, tuple[ValueType, Value]]:
    """The first part's metadata, made to describe the model alone: without its split and without draft blocks.

    llama.cpp counts the draft blocks (nextn) it appends among the blocks, antirez/ds4 does not; the tensors tell.
    """
    values = {key: (kind, value) for key, kind, value in first.typed_items() if key not in SPLIT_KEYS}
    blocks, drafts = first.get_int(_BLOCKS, 0), first.get_int(_DRAFT_BLOCKS, 0)
    if 0 < drafts < blocks and f"blk.{blocks - drafts}.nextn.eh_proj.weight" in names:
        values[_BLOCKS] = ValueType.UINT32, blocks - drafts
    if _VOCABULARY not in values and (tokens := first.get_strings(_TOKENS, None)):
        values[_VOCABULARY] = ValueType.UINT32, len(tokens)
    return values
