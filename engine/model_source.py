"""The way from a path to a model's files, whatever form they have. No weights are read and no torch is loaded.

The loader, the converter, the commands and the models page open models here.
"""

import logging
from pathlib import Path

from engine.gguf.source import GgufSource, is_later_part, open_gguf
from engine.hf.source import CONFIG, SafetensorsSource, open_folder
from engine.synth.address import is_synth, parse_address
from engine.synth.source import SynthSource

log = logging.getLogger(__name__)

ModelSource = GgufSource | SafetensorsSource | SynthSource


def open_model(path: str | Path) -> ModelSource:
    """Open a model: a GGUF file, any of a model's GGUF parts, a Hugging Face folder, or a safetensors file in one.

    A path that begins with `synth:` is the address of a synthetic model (engine.synth.address). Raises ModelFileError,
    for an address UserError, in one sentence.
    """
    if is_synth(path):
        return SynthSource(parse_address(str(path)))
    place = Path(path)
    if place.suffix == ".safetensors" and (place.parent / CONFIG).is_file():
        place = place.parent
    source = open_folder(place) if place.is_dir() else open_gguf(place)
    for note in source.notes:
        log.info("%s: %s", source.name, note)
    return source


def find_models(folder: Path) -> list[Path]:
    """What `open_model` may open in a folder, by name: the folder itself, or its GGUF files and model folders.

    A model in several GGUF parts is found once, by its first. Nothing where the folder cannot be read.
    """
    if _holds_model(folder):
        return [folder]
    try:
        return sorted(path for path in folder.iterdir() if _is_model(path))
    except OSError:
        return []


def _is_model(path: Path) -> bool:
    if path.suffix.lower() == ".gguf" and path.is_file():
        return not is_later_part(path)
    return _holds_model(path)


def _holds_model(folder: Path) -> bool:
    """Whether this looks like a Hugging Face folder; folders of other things often have a config.json alone."""
    try:
        return (folder / CONFIG).is_file() and any(folder.glob("*.safetensors"))
    except OSError:
        return False
