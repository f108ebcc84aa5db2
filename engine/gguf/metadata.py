"""Typed access to the metadata of a model file: a missing key or a wrong type is one clear ModelFileError.

Base class of engine.gguf.reader.GgufFile; also constructible from a plain dict, which is how tests and
converters use it.
"""

import math
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Never, TypeVar, overload

import numpy as np
import numpy.typing as npt

from engine.errors import ModelFileError
from engine.gguf.cursor import Value, ValueType

TOKENIZER_MODEL = "tokenizer.ggml.model"
NO_TOKENIZER = "no_vocab"  # its value, as llama.cpp has it, in a model that takes and gives token ids alone


class Required(Enum):
    """The default of a key that must be there."""

    KEY = 0


T = TypeVar("T")


class Metadata:
    """Metadata of the file called `name`. Each getter raises ModelFileError when the key is missing (and no default
    was given) or holds another type; integers are accepted where floats are asked for, never the reverse."""

    def __init__(self, name: str, values: Mapping[str, tuple[ValueType, Value]]) -> None:
        self.name = name
        self._values = values

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def typed_items(self) -> Iterator[tuple[str, ValueType, Value]]:
        """Every key with its stored type and value, in file order."""
        return ((key, kind, value) for key, (kind, value) in self._values.items())

    def is_array(self, key: str) -> bool:
        """Whether the key exists and holds an array."""
        return key in self._values and self._values[key][0] is ValueType.ARRAY

    @overload
    def get_int(self, key: str) -> int: ...
    @overload
    def get_int(self, key: str, default: T) -> int | T: ...
    def get_int(self, key: str, default: object = Required.KEY) -> object:
        """A whole number of any width."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self._wrong_type(key, "a whole number")

    @overload
    def get_float(self, key: str) -> float: ...
    @overload
    def get_float(self, key: str, default: T) -> float | T: ...
    def get_float(self, key: str, default: object = Required.KEY) -> object:
        """A finite number."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        self._wrong_type(key, "a number")

    @overload
    def get_str(self, key: str) -> str: ...
    @overload
    def get_str(self, key: str, default: T) -> str | T: ...
    def get_str(self, key: str, default: object = Required.KEY) -> object:
        """A string."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, str):
            return value
        self._wrong_type(key, "text")

    @overload
    def get_bool(self, key: str) -> bool: ...
    @overload
    def get_bool(self, key: str, default: T) -> bool | T: ...
    def get_bool(self, key: str, default: object = Required.KEY) -> object:
        """True or false."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, bool):
            return value
        self._wrong_type(key, "true or false")

    @overload
    def get_array(self, key: str) -> npt.NDArray[np.generic]: ...
    @overload
    def get_array(self, key: str, default: T) -> npt.NDArray[np.generic] | T: ...
    def get_array(self, key: str, default: object = Required.KEY) -> object:
        """A packed array of numbers in its stored dtype."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, np.ndarray):
            return value
        self._wrong_type(key, "a list of numbers")

    @overload
    def get_ints(self, key: str) -> list[int]: ...
    @overload
    def get_ints(self, key: str, default: T) -> list[int] | T: ...
    def get_ints(self, key: str, default: object = Required.KEY) -> object:
        """An array of whole numbers."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return value.tolist()
        self._wrong_type(key, "a list of whole numbers")

    @overload
    def get_floats(self, key: str) -> list[float]: ...
    @overload
    def get_floats(self, key: str, default: T) -> list[float] | T: ...
    def get_floats(self, key: str, default: object = Required.KEY) -> object:
        """An array of finite numbers."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
            numbers = [float(number) for number in value.tolist()]
            if all(math.isfinite(number) for number in numbers):
                return numbers
        self._wrong_type(key, "a list of finite numbers")

    @overload
    def get_strings(self, key: str) -> list[str]: ...
    @overload
    def get_strings(self, key: str, default: T) -> list[str] | T: ...
    def get_strings(self, key: str, default: object = Required.KEY) -> object:
        """An array of strings."""
        if key not in self._values:
            return self._default(key, default)
        value = self._values[key][1]
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return value
        self._wrong_type(key, "a list of texts")

    def _default(self, key: str, default: T) -> T:
        if default is Required.KEY:
            raise ModelFileError(f"{self.name} has no metadata key {key!r}, which is needed.")
        return default

    def _wrong_type(self, key: str, wanted: str) -> Never:
        kind = self._values[key][0].name.lower()
        raise ModelFileError(f"{self.name}: metadata key {key!r} must be {wanted}, but holds {kind}.")
