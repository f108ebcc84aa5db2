"""generation_config.json of a Hugging Face folder as GGUF metadata: what its authors advise for sampling.

Called by engine.hf.source. Only advice: a file that cannot be read, and values of no use, cost nothing but themselves.
engine.sampling_advice judges the numbers.
"""

import logging
from pathlib import Path

from engine.errors import ModelFileError
from engine.gguf.cursor import ValueType
from engine.hf.config import Keys
from engine.sampling_advice import KEY_PREFIX
from engine.strict_json import read_object

log = logging.getLogger(__name__)

GENERATION = "generation_config.json"
_MOST_BYTES = 1 << 20
_LARGEST_FLOAT32 = 3.4e38
_NUMBERS = {"temp": "temperature", "top_p": "top_p", "min_p": "min_p"}


def generation_keys(folder: Path) -> Keys:
    """The keys for the folder's file; none where there is no file that can be read."""
    path = folder / GENERATION
    if not path.is_file():
        return {}
    try:
        values = read_object(path, _MOST_BYTES)
    except ModelFileError as error:
        log.warning("advice for sampling is not used: %s", error)
        return {}
    keys: Keys = {}
    for key, field in _NUMBERS.items():
        value = values.get(field)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST_FLOAT32:
            keys[KEY_PREFIX + key] = ValueType.FLOAT32, float(value)
    top_k = values.get("top_k")
    if type(top_k) is int and 0 <= top_k < 1 << 31:
        keys[f"{KEY_PREFIX}top_k"] = ValueType.INT32, top_k
    if values.get("do_sample") is False:
        keys[f"{KEY_PREFIX}temp"] = ValueType.FLOAT32, 0.0
    return keys
