"""What the models page knows of a model: read from its files' headers alone, off the GUI thread. No weights, no torch.

"Fits" compares what the engine would ask for (weights, the session at the chosen context, one step's buffers) with the
memory that is free now, and says which number is too large. A GPU keeps weights as stored, the CPU decodes them.
"""

import contextlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.doctor.gpu import has_usable_gpu
from app.doctor.host import real_host
from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.cpu_need import copied_bytes, placed_bytes, product_itemsize
from engine.errors import UserError
from engine.ledger import capacity_bytes
from engine.model_source import find_models, open_model
from engine.plan import STEP_CAP, Cut, cut_prompt
from engine.step_buffers import BufferStyle, largest_step_bytes


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model. `path` None is the embedded one. `problem` says why it cannot be used; then the rest is unknown."""

    path: Path | None
    name: str
    file_bytes: int | None = None
    architecture: str = ""
    quantization: str = ""
    parameters: int | None = None
    context_length: int | None = None
    needed_bytes: int | None = None
    free_bytes: int | None = None
    problem: str = ""

    @property
    def fits(self) -> bool:
        return not self.problem and (
            self.needed_bytes is None or self.free_bytes is None or self.needed_bytes <= self.free_bytes
        )


def read_entry(path: Path | None, place: Path, context: int, on_gpu: bool) -> ModelEntry:
    """Read the headers of the model at `place`. Never raises for a bad one: the entry carries the sentence."""
    try:
        return _read(path, place, context, on_gpu)
    except UserError as error:
        return ModelEntry(path, place.name, problem=str(error))
    except OSError as error:
        return ModelEntry(path, place.name, problem=f"{place}: {error.strerror or error}")


def _read(path: Path | None, place: Path, context: int, on_gpu: bool) -> ModelEntry:
    with contextlib.closing(open_model(place)) as source:
        config = ModelConfig.from_gguf(source)
        by_type: Counter[str] = Counter()
        for tensor in source.tensors.values():
            by_type[tensor.type_name] += tensor.elements
        tensors = source.tensors.values()
        if on_gpu:
            weights = sum(tensor.nbytes for tensor in tensors)
        else:
            weights = placed_bytes(tensors, product_itemsize()) + copied_bytes(tensors)
        return ModelEntry(
            path=path,
            name=source.get_str("general.name", place.stem),
            file_bytes=source.file_bytes,
            architecture=source.get_str("general.architecture", ""),
            quantization=" + ".join(name for name, _ in by_type.most_common(2)),
            parameters=sum(by_type.values()),
            context_length=config.context_length,
            needed_bytes=weights + _session_bytes(config, min(context, config.context_length)),
            free_bytes=psutil.virtual_memory().available,
        )


def _session_bytes(config: ModelConfig, context: int) -> int:
    shape = CacheShape.from_config(config)
    steps = cut_prompt(0, context, STEP_CAP, Cut.EQUAL)
    return capacity_bytes(shape, context) + largest_step_bytes(shape, steps, BufferStyle())


def read_library(
    embedded: Path, files: tuple[str, ...], folders: tuple[str, ...], context: int
) -> tuple[ModelEntry, ...]:
    """The embedded model, those that were added, and those in watched folders, each once."""
    on_gpu = has_usable_gpu(real_host())
    entries = [read_entry(None, embedded, context, on_gpu)]
    seen: set[Path] = set()
    for path in [*(Path(f) for f in files), *(p for folder in folders for p in find_models(Path(folder)))]:
        resolved = path.expanduser().absolute()
        if resolved not in seen:
            seen.add(resolved)
            entries.append(read_entry(resolved, resolved, context, on_gpu))
    return tuple(entries)
