"""Reads the tables that a benchmark run is exported as, so that tests can compare figures and not texts."""

import csv
import io
import re
from dataclasses import dataclass

from engine.bench.export import CSV_HEADER

_SPEED = re.compile(r"(?P<mean>\d+\.\d+)(?: ± (?P<stdev>\d+\.\d+))?")


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One line of ds4-bench's table. A speed that was not measured is None; an unknown size too."""

    ctx_tokens: int
    prefill_tokens: int
    prefill_tps: float | None
    gen_tokens: int
    gen_tps: float | None
    kvcache_bytes: int | None


def parse_csv(text: str) -> list[CsvRow]:
    header, *rows = csv.reader(io.StringIO(text))
    assert tuple(header) == CSV_HEADER
    return [
        CsvRow(
            int(context),
            int(prompt),
            float(prefill) if prefill else None,
            int(generated),
            float(decode) if decode else None,
            int(held) if held else None,
        )
        for context, prompt, prefill, generated, decode, held in rows
    ]


def parse_markdown(text: str) -> dict[str, tuple[float, float | None]]:
    """Test name -> (mean, sample deviation) of llama-bench's table; other lines are passed over."""
    figures: dict[str, tuple[float, float | None]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or cells[-1] == "t/s" or set(cells[-1]) <= set("-: "):
            continue
        found = _SPEED.fullmatch(cells[-1])
        assert found is not None, line
        figures[cells[-2]] = float(found["mean"]), None if found["stdev"] is None else float(found["stdev"])
    return figures
