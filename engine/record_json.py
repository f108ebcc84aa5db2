"""Frozen records (dataclasses of scalars, enums, tuples and other records) as plain JSON data and back.

Used by the benchmark and the qualification for everything they save. Reading believes nothing: each field is checked
against its declared type, and what is wrong is named by its path. The text itself is read by engine.strict_json.
Pure functions.
"""

import dataclasses
import enum
import reprlib
import types
import typing
from typing import Any, TypeVar

R = TypeVar("R")
_MOST = 1 << 63  # no count, id or size in a record is larger; whoever divides one by a float relies on it


def to_plain(value: Any) -> Any:  # Any: JSON data
    """A record as dicts, lists and scalars; enums by their value."""
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: type[R], data: Any, where: str) -> R:
    """A record of `kind` from JSON data. Raises ValueError naming the field; fields it does not know are ignored."""
    if not isinstance(data, dict):
        raise ValueError(f"{where} is not an object")
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # R is always a dataclass here
        if field.name not in data:
            raise ValueError(f"{where} has no field {field.name}")
        values[field.name] = _convert(hints[field.name], data[field.name], f"{where}.{field.name}")
    return kind(**values)


def _convert(hint: Any, value: Any, where: str) -> Any:
    if isinstance(hint, types.UnionType):
        if value is None:
            return None
        (hint,) = (option for option in typing.get_args(hint) if option is not type(None))
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{where} is not a list")
        item = typing.get_args(hint)[0]
        return tuple(_convert(item, entry, f"{where}[{index}]") for index, entry in enumerate(value))
    if dataclasses.is_dataclass(hint):
        return from_plain(typing.cast(type[Any], hint), value, where)
    if issubclass(hint, enum.Enum):
        try:
            return hint(value)
        except ValueError:
            raise ValueError(f"{where}: {reprlib.repr(value)} is not a valid {hint.__name__}") from None
    return _scalar(hint, value, where)


def _scalar(hint: type, value: Any, where: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(_bounded(value, where))
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise ValueError(f"{where} is {type(value).__name__}, not {hint.__name__}")
    return _bounded(value, where) if isinstance(value, int) else value


def _bounded(value: int, where: str) -> int:
    if abs(value) >= _MOST:
        raise ValueError(f"{where} is too large")
    return value
