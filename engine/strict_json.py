"""JSON from files that nobody vouches for: one sentence instead of a traceback, and nothing that breaks a reader later.

Refused are a key that comes twice, half a character (a lone surrogate, which no file can store as UTF-8), a number
beyond all measure, and nesting too deep. The readers of Hugging Face folders (config, index, tokenizer, tensor
headers) and of saved records use it. Pure; any thread.
"""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Never, cast

from engine.errors import ModelFileError

Object = Mapping[str, object]
_MOST_DIGITS = 1_000  # of a whole number: reading one costs the square of its digits, and Python stops at 4,300
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_value(text: str, may_have_constants: bool = False) -> Any:  # Any: JSON data
    """Any JSON value. `may_have_constants` lets NaN and infinities pass. Raises ValueError, whatever is wrong."""
    constant, number = (None, None) if may_have_constants else (_no_constant, _finite)
    try:
        found = json.loads(
            text, object_pairs_hook=_unique, parse_constant=constant, parse_float=number, parse_int=_whole
        )
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it nests too deep") from None
    except UnicodeEncodeError:
        raise ValueError("a text in it has half a character, a lone surrogate") from None
    return found


def parse_object(text: bytes, name: str) -> Object:
    """A JSON object from UTF-8 text. `name` is what errors call it. Raises ModelFileError."""
    try:
        found = parse_value(text.decode())
    except ValueError as error:
        raise ModelFileError(f"{name} is damaged: its JSON cannot be read ({error}).") from None
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


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number
