"""Writes a synthetic model into a GGUF file: `haloband synth`.

One thread, long for large models; reports bytes, looks at a stop event between pieces of a tensor, and leaves either a
whole new file or nothing.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Stopped
from engine.gguf.writer import GgufWriter
from engine.new_file import check_room, check_target, new_file
from engine.synth.source import SynthSource

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class WrittenModel:
    """What was written: the address that gives the same model in memory, and the file's size."""

    address: str
    target: Path
    target_bytes: int
    parameters: int


def write_synth(
    source: SynthSource,
    target: Path,
    overwrite: bool = False,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> WrittenModel:
    """Write the model. `progress` gets (bytes done, bytes in all).

    Raises UserError where the target cannot be written (it exists, no room, no permission), Stopped.
    """
    check_target((), target, overwrite)
    check_room(target, source.file_bytes)
    done, total = 0, sum(tensor.nbytes for tensor in source.all_tensors)
    with new_file(target) as file:
        writer = GgufWriter(file, source, source.new_tensors())
        for tensor in source.all_tensors:
            for piece in source.pieces(tensor):
                writer.write(piece.numpy().data)
                done += len(piece)
                if progress is not None:
                    progress(done, total)
                if stop is not None and stop.is_set():
                    raise Stopped("writing was stopped")
        writer.finish()
    parameters = sum(tensor.elements for tensor in source.all_tensors)
    return WrittenModel(source.name, target, source.file_bytes, parameters)
