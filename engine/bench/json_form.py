"""A benchmark run as JSON and back. Reading believes nothing: a wrong field is named in a UserError.

The schema is the records themselves (engine.bench.records), field by field, with the statistics of each row added for
readers in other languages; they are ignored when reading.
"""

import dataclasses
import json

from engine.bench.records import SCHEMA_VERSION, BenchRow, BenchRun, Figure
from engine.errors import UserError
from engine.record_json import from_plain, to_plain

_STATISTICS = "statistics"


def run_to_json(run: BenchRun) -> str:
    """Everything about a run, every sample included, as indented JSON."""
    data = to_plain(run)
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
        return from_plain(BenchRun, data, "run")
    except (TypeError, ValueError) as error:
        raise UserError(f"{source} is damaged: {error}.") from None
