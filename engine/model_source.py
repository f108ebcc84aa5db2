"""The way from a path to a model's files, whatever form they have. No weights are read and no torch is loaded.

The loader, the converter and `haloband inspect` open models here.
"""

import logging
from pathlib import Path

from engine.gguf_source import GgufSource, open_gguf

log = logging.getLogger(__name__)

ModelSource = GgufSource


def open_model(path: str | Path) -> ModelSource:
    """Open a model: a GGUF file, or any of a model's GGUF parts. Raises ModelFileError in one sentence."""
    source = open_gguf(Path(path))
    for note in source.notes:
        log.info("%s: %s", source.name, note)
    return source
