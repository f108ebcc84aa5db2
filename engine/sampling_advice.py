"""What a model's makers advise for sampling, read from its files. Called by engine.loading.

GGUF files have it under the keys that llama.cpp introduced (its pull request 17120); engine.hf.generation makes the
same keys of a folder's generation_config.json. Advice that makes no sense is none: the model is as good without it.
"""

import logging
from collections.abc import Callable

from engine.errors import ModelFileError
from engine.gguf.metadata import Metadata
from engine.partial_sampling import PartialSampling

log = logging.getLogger(__name__)

KEY_PREFIX = "general.sampling."
# Sampling takes more; the window's fields take just as much, and a number beyond is no advice.
_MOST_TEMPERATURE = 5.0
_LEAST_TOP_P = 0.01
_MOST_TOP_K = 1_000_000


def read_advice(metadata: Metadata) -> PartialSampling:
    """The numbers that can be used."""
    temperature = _number(metadata, "temp", lambda value: 0 <= value <= _MOST_TEMPERATURE)
    top_p = _number(metadata, "top_p", lambda value: _LEAST_TOP_P <= value <= 1)
    min_p = _number(metadata, "min_p", lambda value: 0 <= value <= 1)
    top_k = _number(metadata, "top_k", lambda value: 0 <= value <= _MOST_TOP_K and value == int(value))
    return PartialSampling(temperature, top_p, None if top_k is None else int(top_k), min_p)


def _number(metadata: Metadata, name: str, is_possible: Callable[[float], bool]) -> float | None:
    key = KEY_PREFIX + name
    try:
        value = metadata.get_float(key, None)
    except ModelFileError as error:
        log.warning("advice for sampling is not used: %s", error)
        return None
    if value is not None and not is_possible(value):
        log.warning("advice for sampling is not used: %s: %s is %s", metadata.name, key, value)
        return None
    if value is None or value == int(value):
        return value
    return float(f"{value:.6g}")  # as a person wrote it: 0.95 is stored as the float32 0.94999999
