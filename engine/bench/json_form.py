"""A benchmark run as JSON and back. Reading believes nothing: a wrong field is named in a UserError.

The schema is the records themselves (engine.bench.records), field by field, with the statistics of each row added for
readers in other languages; they are ignored when reading.
"""

import dataclasses
import json
import reprlib

from engine.bench.records import SCHEMA_VERSION, BenchRow, BenchRun, Figure
from engine.errors import UserError
from engine.record_json import from_plain, to_plain
from engine.strict_json import parse_value

_STATISTICS = "statistics"
_MOST = 1e60  # no speed or time is larger, and the comparison of two runs takes the fourth power


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
        data = parse_value(text)
    except ValueError as error:
        raise UserError(f"{source} is not JSON: {error}.") from None
    told = data.get("schema_version") if isinstance(data, dict) else None
    if told != SCHEMA_VERSION:
        version = reprlib.repr(told)
        raise UserError(f"{source} is not a benchmark of schema version {SCHEMA_VERSION} (it says {version}).")
    try:
        run = from_plain(BenchRun, data, "run")
        _check_figures(run)
    except (TypeError, ValueError) as error:
        raise UserError(f"{source} is damaged: {error}.") from None
    return run


def _check_figures(run: BenchRun) -> None:
    """Refuse what no run can have measured: tables and charts compute with it later."""
    for index, row in enumerate(run.rows):
        values = [value for figure in Figure for value in row.values(figure)]
        if not all(0 <= value < _MOST for value in values):
            raise ValueError(f"run.rows[{index}] has a figure that cannot be")
