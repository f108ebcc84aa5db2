"""`haloband inspect`: what a model's files hold, and whether it fits this machine, from their headers alone.

Called by app.cli on the main thread. No weights are read, and no torch is loaded unless a number format is used
whose id has several meanings: then samples of a few tensors decide which is meant.
"""

import argparse
import contextlib
import json
from pathlib import Path

import psutil

import resources
from app.commands.inspect_views import FileReport, MemoryNeed, TypeUse, as_json, as_text
from engine.cache_shape import CacheShape
from engine.config import ARCHITECTURE, ModelConfig
from engine.cpu_need import copied_bytes, placed_bytes, product_itemsize
from engine.errors import ModelFileError
from engine.gguf.types import AMBIGUOUS_TYPES, READABLE_TYPES
from engine.ledger import capacity_bytes
from engine.model_source import ModelSource, open_model
from engine.plan import STEP_CAP, Cut, cut_prompt
from engine.sampling_advice import read_advice
from engine.step_buffers import BufferStyle, largest_step_bytes
from engine.tensor_source import StoredTensor

_CONTEXT = 16384  # tokens: a session's default


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a GGUF file or a model's folder; default: the embedded model",
    )
    parser.add_argument("--model", type=Path, metavar="FILE", help=argparse.SUPPRESS)  # as the other commands call it
    parser.add_argument("--json", action="store_true", help="every number, for programs")


def run(args: argparse.Namespace) -> int:
    """Print the report; 0 for any sound GGUF file or folder. Raises ModelFileError for anything else."""
    report = inspect_file(args.file or args.model or resources.embedded_model())
    print(json.dumps(as_json(report), indent=2) if args.json else as_text(report))
    return 0


def inspect_file(path: Path) -> FileReport:
    """Read the headers of a model's files and compare them with this machine. Raises ModelFileError."""
    with contextlib.closing(open_model(path)) as source:
        tensors = list(source.all_tensors)
        config, problem = _read_config(source)
        return FileReport(
            path=path,
            file_bytes=source.file_bytes,
            form=source.form,
            files=source.file_count,
            name=source.get_str("general.name", None),
            license=source.get_str("general.license", None),
            architecture=source.get_str("general.architecture", "unknown"),
            problem=problem,
            parameters=sum(info.elements for info in tensors),
            tensors=len(tensors),
            layers=config.layers if config else None,
            context_length=config.context_length if config else None,
            experts=config.experts if config else None,
            experts_used=config.experts_used if config else None,
            vocabulary=config.vocab if config else None,
            sampling=read_advice(source),
            types=_type_uses(tensors),
            meanings=_meanings(source),
            notes=source.notes,
            memory=_memory_need(list(source.tensors.values()), config) if config else None,
        )


def _read_config(source: ModelSource) -> tuple[ModelConfig | None, str | None]:
    """The model's shape, or why this file cannot be run."""
    architecture = source.get_str("general.architecture", "unknown")
    if architecture != ARCHITECTURE:
        return None, f"Haloband runs the architecture {ARCHITECTURE!r}, and this file holds {architecture!r}."
    try:
        config = ModelConfig.from_gguf(source)
    except ModelFileError as error:
        return None, str(error)
    used = {tensor.type_id: tensor.type_name for tensor in source.tensors.values()}
    unreadable = [name for type_id, name in used.items() if type_id not in READABLE_TYPES | AMBIGUOUS_TYPES.keys()]
    if unreadable:
        return config, f"Weights of type {', '.join(unreadable)} cannot be read; convert the file first."
    return config, None


def _type_uses(tensors: list[StoredTensor]) -> tuple[TypeUse, ...]:
    """One entry for each number format, largest first."""
    by_type: dict[int, list[StoredTensor]] = {}
    for info in tensors:
        by_type.setdefault(info.type_id, []).append(info)
    uses = [
        TypeUse(
            type_id=type_id,
            name=members[0].type_name,
            tensors=len(members),
            parameters=sum(info.elements for info in members),
            stored_bytes=sum(info.nbytes for info in members),
        )
        for type_id, members in by_type.items()
    ]
    return tuple(sorted(uses, key=lambda use: -use.stored_bytes))


def _meanings(source: ModelSource) -> tuple[str, ...]:
    """What type ids with several meanings stand for in this model, and why, in a sentence each."""
    if not any(tensor.type_id in AMBIGUOUS_TYPES for tensor in source.tensors.values()):
        return ()
    from engine.quant.choice import FormatChoice  # here: it loads torch

    try:
        return FormatChoice(source).reasons
    except ModelFileError as error:
        return (str(error),)


def _memory_need(tensors: list[StoredTensor], config: ModelConfig) -> MemoryNeed:
    memory = psutil.virtual_memory()
    shape = CacheShape.from_config(config)
    context = min(_CONTEXT, config.context_length)
    steps = cut_prompt(0, context, STEP_CAP, Cut.EQUAL)
    return MemoryNeed(
        available_bytes=memory.available,
        total_bytes=memory.total,
        stored_weight_bytes=sum(info.nbytes for info in tensors),
        decoded_weight_bytes=placed_bytes(tensors, product_itemsize()) + copied_bytes(tensors),
        context=context,
        session_bytes=capacity_bytes(shape, context) + largest_step_bytes(shape, steps, BufferStyle()),
    )
