"""A benchmark run as JSON and back. Reading believes nothing: a wrong field is named in a UserError.

The schema is the records themselves (bench_records), field by field, with the statistics of each row added for readers
in other languages; they are ignored when reading.
"""

import dataclasses
import enum
import json
import types
import typing
from typing import Any, TypeVar

from engine.bench_records import SCHEMA_VERSION, BenchRow, BenchRun, Figure
from engine.errors import UserError

R = TypeVar("R")
_STATISTICS = "statistics"


def run_to_json(run: BenchRun) -> str:
    """Everything about a run, every sample included, as indented JSON."""
    data = _plain(run)
    for row, told in zip(run.rows, data["rows"], strict=True):
        told[_STATISTICS] = _statistics(row)
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _statistics(row: BenchRow) -> dict[str, object]:
    found: dict[str, object] = {}
    for figure in Figure:
        stats = row.stats(figure)
        if stats is not None:
            unit = "s" if figure is Figure.WALL else "tok/s"
            found[figure.value] = {"test": row.name(figure), "unit": unit, **dataclasses.asdict(stats)}
    return found


def _plain(value: Any) -> Any:  # Any: JSON in both directions
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def run_from_json(text: str, source: str = "the file") -> BenchRun:
    """Read a run back. Raises UserError naming `source` and the field that is wrong."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{source} is not JSON: {error}.") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise UserError(f"{source} is not a benchmark of schema version {SCHEMA_VERSION} (it says {version!r}).")
    try:
        return _build(BenchRun, data, "run")
    except (TypeError, ValueError) as error:
        raise UserError(f"{source} is damaged: {error}.") from None


def _build(kind: type[R], data: Any, where: str) -> R:
    """A record of `kind` from JSON data, each field checked against its declared type."""
    if not isinstance(data, dict):
        raise ValueError(f"{where} is not an object")
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # R is always one of the records
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
        return _build(typing.cast(type[Any], hint), value, where)
    if issubclass(hint, enum.Enum):
        return hint(value)
    return _scalar(hint, value, where)


def _scalar(hint: type, value: Any, where: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise ValueError(f"{where} is {type(value).__name__}, not {hint.__name__}")
    return value
