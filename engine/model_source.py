"""The way from a path to a model's files, whatever form they have. No weights are read and no torch is loaded.

The loader, the converter and `haloband inspect` open models here.
"""

import logging
from pathlib import Path

from engine.gguf.source import GgufSource, open_gguf
from engine.hf.source import CONFIG, SafetensorsSource, open_folder

log = logging.getLogger(__name__)

ModelSource = GgufSource | SafetensorsSource


def open_model(path: str | Path) -> ModelSource:
    """Open a model: a GGUF file, any of a model's GGUF parts, a Hugging Face folder, or a safetensors file in one.

    Raises ModelFileError in one sentence.
    """
    place = Path(path)
    if place.suffix == ".safetensors" and (place.parent / CONFIG).is_file():
        place = place.parent
    source = open_folder(place) if place.is_dir() else open_gguf(place)
    for note in source.notes:
        log.info("%s: %s", source.name, note)
    return source
