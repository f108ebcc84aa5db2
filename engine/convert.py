"""Writes a model again in other number formats: `haloband convert`.

One thread, long; reports weights done, looks at a stop event between pieces, and leaves either a whole new file or
nothing. The matrices of the model change, everything else is copied byte for byte, in the order of the source.
"""

import contextlib
import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.config import ModelConfig
from engine.errors import ModelFileError, Stopped
from engine.gguf.cursor import Value, ValueType
from engine.gguf.metadata import Metadata
from engine.gguf.types import AMBIGUOUS_TYPES, BLOCK_TYPES
from engine.gguf.writer import GgufWriter, NewTensor, file_bytes
from engine.model_source import ModelSource, open_model
from engine.names import family
from engine.new_file import check_room, check_target, new_file
from engine.quant.choice import NO_CHOICES
from engine.quant.codecs import Codec, codec_for, decode, encode
from engine.recipes import Recipe
from engine.stored_weights import StoredWeights
from engine.tensor_source import FORMAT_KEY, StoredTensor
from engine.weights import Progress

_WEIGHTS_AT_ONCE = 1 << 22
_FILE_TYPE = "general.file_type"  # llama.cpp's number for most of a file's tensors


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was done. Formats map a name to its number of weights; `notes` are sentences to be shown."""

    source: Path
    target: Path
    recipe: str
    source_bytes: int
    target_bytes: int
    formats_before: Mapping[str, int]
    formats_after: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    """One tensor on its way: as it is stored, and as it will be."""

    stored: StoredTensor
    new: NewTensor


def convert(
    source: Path,
    target: Path,
    recipe: Recipe,
    read_as: Mapping[int, str] = NO_CHOICES,
    overwrite: bool = False,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Conversion:
    """Convert the model at `source` into the GGUF file `target`. `progress` gets (weights done, weights in all).

    Raises ModelFileError for an unsuitable source, UserError where the target cannot be written (it exists, no room,
    no permission), Stopped. `read_as` as in engine.quant.choice.
    """
    model = open_model(source)
    with contextlib.closing(model):
        check_target(model.paths, target, overwrite)
        ModelConfig.from_gguf(model)  # refuses what is not a DS4 model
        weights = StoredWeights(model, read_as)
        jobs = [_Job(stored, _plan(stored, weights, recipe)) for stored in model.all_tensors]
        entries = [job.new for job in jobs]
        metadata = _metadata(model, weights, jobs, recipe)
        size = file_bytes(metadata, entries)
        check_room(target, size)
        with new_file(target) as file:
            writer = GgufWriter(file, metadata, entries)
            _write_tensors(jobs, weights, writer, _Watch(sum(job.stored.elements for job in jobs), progress, stop))
            writer.finish()
        return Conversion(
            source=source,
            target=target,
            recipe=recipe.name,
            source_bytes=model.file_bytes,
            target_bytes=size,
            formats_before=weights.weights_by_format(),
            formats_after=_formats_after(jobs, weights),
            notes=(*model.notes, *weights.reasons),
        )


def _plan(stored: StoredTensor, weights: StoredWeights, recipe: Recipe) -> NewTensor:
    """The new tensor. What is not of the model (draft heads) is copied, as far as its room in the file goes."""
    if stored.name not in weights:
        return NewTensor(stored.name, stored.shape, stored.type_id, stored.nbytes)
    nbytes = weights.stored_bytes(stored.name)
    type_id = recipe.type_for(stored, nbytes * 8 / stored.elements)
    if type_id != stored.type_id:
        nbytes = BLOCK_TYPES[type_id].row_bytes(stored.shape[-1]) * (stored.elements // stored.shape[-1])
    return NewTensor(stored.name, stored.shape, type_id, nbytes)


def _metadata(model: ModelSource, weights: StoredWeights, jobs: list[_Job], recipe: Recipe) -> Metadata:
    """The source's metadata, with what its tensors' formats make untrue put right."""
    values: dict[str, tuple[ValueType, Value]] = {}
    for key, kind, value in model.file_metadata.typed_items():
        if key != _FILE_TYPE and not key.startswith(FORMAT_KEY):
            values[key] = kind, value
    if _FILE_TYPE in model.file_metadata and recipe.file_type is not None:
        values[_FILE_TYPE] = ValueType.UINT32, recipe.file_type
    for job in jobs:
        if job.new.type_id in AMBIGUOUS_TYPES and job.stored.name in weights:
            key = FORMAT_KEY + family(job.stored.name)
            values[key] = ValueType.STRING, weights.codec(job.stored.name).name
    return Metadata(model.name, values)


class _Watch:
    """Counts weights, tells who watches, and looks at the stop event."""

    def __init__(self, total: int, progress: Progress | None, stop: threading.Event | None) -> None:
        self._done, self._total, self._progress, self._stop = 0, total, progress, stop

    def advance(self, weights: int) -> None:
        self._done += weights
        if self._progress is not None:
            self._progress(self._done, self._total)
        if self._stop is not None and self._stop.is_set():
            raise Stopped("converting was stopped")


def _write_tensors(jobs: list[_Job], weights: StoredWeights, writer: GgufWriter, watch: _Watch) -> None:
    for job in jobs:
        if job.new.type_id == job.stored.type_id:
            writer.write(memoryview(weights.source.data(job.stored))[: job.new.nbytes])
            watch.advance(job.stored.elements)
            continue
        codec = codec_for(job.new.type_id)
        for piece in _pieces(job, weights):
            _require_fit(piece, codec, f"{weights.source.name}: tensor {job.stored.stored_as}")
            blocks = encode(codec, piece)
            writer.write(blocks.cpu().numpy().data)
            watch.advance(piece.numel())


def _require_fit(piece: torch.Tensor, codec: Codec, tensor: str) -> None:
    """Raise ModelFileError where a weight would not stay what it is: no number, or larger than `codec` holds."""
    largest = float(piece.abs().amax()) if piece.numel() else 0.0
    if not math.isfinite(largest):
        raise ModelFileError(f"{tensor} holds weights that are not finite.")
    if largest > codec.largest:
        raise ModelFileError(
            f"{tensor} holds weights beyond {codec.largest:,.10g}, the largest that {codec.name} can hold."
        )


def _pieces(job: _Job, weights: StoredWeights) -> Iterator[torch.Tensor]:
    """The decoded weights, some rows at a time, float32 [rows, width]; on a GPU where torch has one."""
    codec, blocks = weights.codec(job.stored.name), weights.blocks(job.stored.name)
    width = job.stored.shape[-1]
    row_bytes = width // codec.block * codec.bytes
    step = max(1, _WEIGHTS_AT_ONCE // width) * row_bytes
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for start in range(0, len(blocks), step):
        raw = blocks[start : start + step].to(device)
        yield decode(codec, raw, (len(raw) // row_bytes, width))


def _formats_after(jobs: list[_Job], weights: StoredWeights) -> dict[str, int]:
    found: dict[str, int] = {}
    for job in jobs:
        if job.stored.name in weights:
            is_kept = job.new.type_id == job.stored.type_id
            name = weights.codec(job.stored.name).name if is_kept else BLOCK_TYPES[job.new.type_id].name
            found[name] = found.get(name, 0) + job.stored.elements
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))
