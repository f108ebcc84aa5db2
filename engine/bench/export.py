"""A benchmark run as Markdown (llama-bench's columns), CSV (ds4-bench's header) and JSON (everything).

Figures are written with two decimals in the tables; JSON keeps every sample in full. Pure functions on text.
"""

import csv
import io
from pathlib import Path

from engine.bench.history import seed_comparison
from engine.bench.json_form import run_to_json
from engine.bench.records import BenchRow, BenchRun, Figure
from engine.errors import UserError

CSV_HEADER = ("ctx_tokens", "prefill_tokens", "prefill_tps", "gen_tokens", "gen_tps", "kvcache_bytes")
MARKDOWN_HEADER = ("model", "size", "params", "backend", "test", "t/s")
_GIB = 1 << 30


def to_markdown(run: BenchRun) -> str:
    """llama-bench's table, one line for each speed of each row, then what it was measured on."""
    model = run.model
    place = (model.name, _size(model.file_bytes), f"{model.parameters / 1e6:.2f} M", model.backend)
    lines = [_table_line(MARKDOWN_HEADER), "| --- | ---: | ---: | --- | ---: | ---: |"]
    for row in run.rows:
        for figure in (Figure.PREFILL, Figure.DECODE):
            stats = row.stats(figure)
            if stats is not None:
                lines.append(_table_line((*place, row.name(figure), str(stats))))
    return "\n".join([*lines, "", *_notes(run)]) + "\n"


def _table_line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _size(size: int) -> str:
    return f"{size / _GIB:.2f} GiB" if size >= _GIB else f"{size / (1 << 20):.2f} MiB"


def _notes(run: BenchRun) -> list[str]:
    """What the figures were measured on, and what the table has no column for, as a Markdown list."""
    machine, settings = run.machine, run.settings
    device = " ".join(part for part in (run.model.device, run.model.native) if part)
    notes = [
        f"{run.started_at}, plan {settings.plan.value}, {device}, {machine.threads} threads, kernel {machine.kernel}",
        f"mode {settings.mode}, rows {settings.kv_rounding}, context {settings.context:,}; {run.text}",
        "prefill: tokens really computed / time; decode: (tokens - 1) / time since the first; mean ± sample deviation",
    ]
    for row in run.rows:
        notes += _row_notes(row)
    arms = seed_comparison(run)
    if arms is not None and arms.difference is not None:
        notes.append(f"{arms.test}: {arms.old} -> {arms.new} tok/s, {arms.difference.ratio:.3f}x")
    if run.not_quiet:
        notes.append("the machine was not quiet: " + "; ".join(run.not_quiet))
    if run.was_stopped:
        notes.append("stopped before the end; the rows above were finished or under way")
    if run.failure is not None:
        notes.append(f"ended early: {run.failure}")
    return [f"* {note}" for note in notes]


def _row_notes(row: BenchRow) -> list[str]:
    """The wall time, mask and peak figures of a row that measures a prompt and an answer together."""
    wall = row.stats(Figure.WALL)
    if wall is None:
        return []
    parts = [f"{row.variant}: wall for prompt and {row.generated_tokens} tokens, median {wall.median:.3f} s"]
    if row.mask_bytes is not None and row.mask_bytes_ratio4 is not None:
        parts.append(
            f"mask bytes never allocated {row.mask_bytes:,} (ratio-4 layers {row.mask_bytes_ratio4:,}), largest step"
        )
    if row.peak_bytes is not None:
        parts.append(f"peak resident memory {row.peak_bytes:,} bytes")
    if row.peak_gpu_bytes is not None:
        parts.append(f"peak GPU memory {row.peak_gpu_bytes:,} bytes")
    return ["; ".join(parts)]


def to_csv(run: BenchRun) -> str:
    """ds4-bench's table, one line a row: mean speeds; a speed that was not measured is left empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for row in run.rows:
        prefill, decode = row.stats(Figure.PREFILL), row.stats(Figure.DECODE)
        writer.writerow(
            (
                row.context,
                row.prompt_tokens,
                "" if prefill is None else f"{prefill.mean:.2f}",
                row.generated_tokens,
                "" if decode is None else f"{decode.mean:.2f}",
                "" if row.held_bytes is None else row.held_bytes,
            )
        )
    return out.getvalue()


def export(run: BenchRun, path: Path) -> str:
    """The text for a file, chosen by its suffix: .md, .csv or .json. Raises UserError for another suffix."""
    writers = {".md": to_markdown, ".csv": to_csv, ".json": run_to_json}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise UserError(f"{path.name} ends in {path.suffix or 'nothing'}; a benchmark is saved as .json, .csv or .md.")
    return writer(run)
