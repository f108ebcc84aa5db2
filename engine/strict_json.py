"""JSON from files that nobody vouches for: one sentence instead of a traceback, and no key that comes twice.

The readers of Hugging Face folders use it (config, index, tokenizer, tensor headers). Pure; any thread.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Never, cast

from engine.errors import ModelFileError

Object = Mapping[str, object]


def parse_object(text: bytes, name: str) -> Object:
    """A JSON object from UTF-8 text. `name` is what errors call it. Raises ModelFileError."""
    try:
        found = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it nests too deep" if isinstance(error, RecursionError) else str(error)
        raise ModelFileError(f"{name} is damaged: its JSON cannot be read ({reason}).") from None
    if not isinstance(found, dict):
        raise ModelFileError(f"{name} is damaged: it does not hold a JSON object.")
    return cast(Object, found)


def read_object(path: Path, limit: int) -> Object:
    """A JSON object from a file of at most `limit` bytes. Raises ModelFileError, also where there is no such file."""
    try:
        with path.open("rb") as file:
            text = file.read(limit + 1)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(text) > limit:
        raise ModelFileError(f"{path} has more than {limit:,} bytes, too many for what it should hold.")
    return parse_object(text, str(path))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} comes twice")
    return found


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a number")
