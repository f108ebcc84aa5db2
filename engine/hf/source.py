"""A model in a Hugging Face folder as a source of canonical tensors: config.json, safetensors files, tokenizer.json.

engine.model_source opens it. DeepSeek's FP8 and FP4 weights, and experts that are stored one by one, become GGUF blocks
when they are read, without loss; all else is read as it lies in the mapped files.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from engine.errors import ModelFileError
from engine.gguf.cursor import ValueType
from engine.gguf.metadata import Metadata
from engine.hf.config import Keys, config_keys
from engine.hf.generation import generation_keys
from engine.hf.pieces import Located, Piece, make_piece, read_piece
from engine.hf.safetensors_file import SafetensorsFile
from engine.names import Part, canonical_order, deepseek_name, part_of, place_deepseek, unused_notes
from engine.strict_json import read_object
from engine.tensor_source import Buffer, StoredTensor

CONFIG, TOKENIZER, INDEX = "config.json", "tokenizer.json", "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_MOST_JSON_BYTES = 100_000_000
_MOST_FILES = 4096
_WEIGHT, _SCALE = ".weight", ".scale"


class SafetensorsSource(Metadata):
    """Satisfies engine.tensor_source.TensorSource; `tensors` come layer by layer. Views of files outlive `close`."""

    declared_formats: Mapping[str, str] = MappingProxyType({})  # nothing here has several meanings

    def __init__(
        self, folder: Path, keys: Keys, files: Sequence[SafetensorsFile], stored: Mapping[str, Located]
    ) -> None:
        super().__init__(str(folder), keys)
        self.path, self._files = folder, tuple(files)
        self.file_bytes = sum(file.file_bytes for file in files)
        self.form, self.file_count = "safetensors", len(files)
        layers, experts = self.get_int("deepseek4.block_count"), self.get_int("deepseek4.expert_count")
        self._pieces, unused = _place(str(folder), stored, layers, experts)
        self.tensors: Mapping[str, StoredTensor] = MappingProxyType(
            {name: _whole(name, self._pieces[name]) for name in sorted(self._pieces, key=canonical_order)}
        )
        self.all_tensors = tuple(self.tensors.values())
        self.notes = unused_notes(unused, layers)

    @property
    def file_metadata(self) -> Metadata:
        return self

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that the model is read from, or that another program needs to read it."""
        beside = (path for path in self.path.glob("*.json") if path.is_file())
        return (*(file.path for file in self._files), *sorted(beside))

    def called(self, name: str) -> str:
        return deepseek_name(name)

    def data(self, tensor: StoredTensor) -> Buffer:
        pieces = self._pieces[tensor.name]
        return read_piece(pieces[0]) if len(pieces) == 1 else b"".join(map(read_piece, pieces))

    def sample(self, tensor: StoredTensor, count: int) -> bytes:
        pieces = self._pieces[tensor.name]
        scales = b"".join(bytes(piece.scale.bytes()[:64]) for piece in pieces if piece.scale is not None)
        return bytes(pieces[0].weight.bytes()[:count]) + bytes(pieces[-1].weight.bytes()[-count:]) + scales

    def close(self) -> None:
        for file in self._files:
            file.close()


def open_folder(folder: Path) -> SafetensorsSource:
    """Open a folder with config.json and safetensors files. Raises ModelFileError in one sentence."""
    if not (folder / CONFIG).is_file():
        raise ModelFileError(f"{folder} holds no {CONFIG}; choose a GGUF file or the folder of a DeepSeek V4 model.")
    keys = config_keys(read_object(folder / CONFIG, _MOST_JSON_BYTES), str(folder / CONFIG))
    keys["general.name"] = ValueType.STRING, folder.resolve().name
    keys |= generation_keys(folder)
    if (folder / TOKENIZER).is_file():
        from engine.hf.tokenizer import tokenizer_keys  # here: it loads the tokenizers library

        keys |= tokenizer_keys(read_object(folder / TOKENIZER, _MOST_JSON_BYTES), str(folder / TOKENIZER))
    places = _index(folder)
    files = [SafetensorsFile.open(folder / name) for name in sorted(set(places.values()))] if places else []
    files = files or [SafetensorsFile.open(folder / _SINGLE)]
    return SafetensorsSource(folder, keys, files, _collect(folder, files, places))


def _index(folder: Path) -> dict[str, str]:
    """Tensor name to file name, from the index; nothing where the model is in one file without an index."""
    path = folder / INDEX
    if not path.is_file():
        return {}
    places = read_object(path, _MOST_JSON_BYTES).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ModelFileError(f"{path} has no weight_map of tensors and files.")
    for file in (names := set(map(str, places.values()))):
        if Path(file).name != file or not file.endswith(".safetensors"):
            raise ModelFileError(f"{path} names {file[:80]!r}, which is no safetensors file of this folder.")
        if not (folder / file).is_file():
            raise ModelFileError(f"{path} names {file}, which is missing from the folder.")
    if len(names) > _MOST_FILES:
        raise ModelFileError(f"{path} names {len(names):,} files, more than the limit of {_MOST_FILES:,}.")
    return {name: str(file) for name, file in places.items()}


def _collect(folder: Path, files: Sequence[SafetensorsFile], places: Mapping[str, str]) -> dict[str, Located]:
    """Every tensor of all files; files and index must agree on where each is."""
    found: dict[str, Located] = {}
    for file in files:
        for name, tensor in file.tensors.items():
            if name in found:
                raise ModelFileError(
                    f"{folder}: tensor {name} is in {found[name].file.path.name} and {file.path.name}."
                )
            if places and places.get(name) != file.path.name:
                raise ModelFileError(f"{file.path} holds tensor {name}, which {INDEX} does not place there.")
            found[name] = Located(file, tensor)
    for name, place in places.items():
        if name not in found:
            raise ModelFileError(f"{folder / place} lacks tensor {name}, which {INDEX} places there.")
    return found


def _place(
    source: str, stored: Mapping[str, Located], layers: int, experts: int
) -> tuple[dict[str, list[Piece]], list[str]]:
    """The pieces of every canonical tensor, experts in order, and the names that have no use here."""
    found: dict[str, dict[int | None, Piece]] = {}
    unused = []
    for name, located in stored.items():
        if name.endswith(_SCALE) and name.removesuffix(_SCALE) + _WEIGHT in stored:
            continue  # read together with its weight
        place = place_deepseek(name, layers)
        if place is None:
            unused.append(name)
            continue
        scale = stored.get(name.removesuffix(_WEIGHT) + _SCALE) if name.endswith(_WEIGHT) else None
        found.setdefault(place.name, {})[place.expert] = make_piece(located, scale)
    return {name: _in_order(source, name, pieces, experts) for name, pieces in found.items()}, unused


def _in_order(source: str, name: str, pieces: Mapping[int | None, Piece], experts: int) -> list[Piece]:
    """One piece, or those of experts 0 to `experts` - 1, all alike."""
    if part_of(name) is not Part.ROUTED:
        return list(pieces.values())
    called = deepseek_name(name)
    for expert in range(experts):
        if expert not in pieces:
            raise ModelFileError(f"{source}: tensor {called.format(expert=expert)} is missing.")
        if (pieces[expert].shape, pieces[expert].type_id) != (pieces[0].shape, pieces[0].type_id):
            raise ModelFileError(f"{source}: tensor {called.format(expert=expert)} differs in form from expert 0's.")
    if len(pieces) != experts:
        raise ModelFileError(f"{source}: {called} has {len(pieces):,} experts, but {CONFIG} says {experts:,}.")
    return [pieces[expert] for expert in range(experts)]


def _whole(name: str, pieces: Sequence[Piece]) -> StoredTensor:
    first = pieces[0]
    is_stacked = part_of(name) is Part.ROUTED
    shape = (len(pieces), *first.shape) if is_stacked else first.shape
    return StoredTensor(name, deepseek_name(name), shape, first.type_id, sum(piece.nbytes for piece in pieces))
