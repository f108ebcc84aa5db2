"""A memory forecast as text for people and as JSON for programs: the same numbers under self-explaining names.

Called by `haloband memory` only. Every sum here is a sum of the ledger's integers.
"""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.plain_words import size_text
from engine.cache_shape import F16_BYTES, CacheShape
from engine.ledger import LayerMemory, MemoryReport, capacity_bytes, plain_bytes_per_token
from engine.plan import Step
from engine.step_buffers import Buffer, Phase

GIB = 1 << 30
_LINE = 100  # characters of a wrapped line
_HEADINGS = ("layers", "count", "ring", "rows", "index", "rolling", "held", "plain attention", "masks avoided")
_PHASES = {
    Phase.STEP: "the whole step",
    Phase.ATTENTION: "attention",
    Phase.EXPERTS: "experts",
}


@dataclass(frozen=True, slots=True)
class MemoryForecast:
    """A prompt's ledger. `buffers` are those of the step that needs most; `weight_bytes` is None without a file."""

    name: str
    shape: CacheShape
    context: int
    steps: tuple[Step, ...]
    report: MemoryReport
    buffers: tuple[Buffer, ...]
    weight_bytes: int | None


def counting_rule(shape: CacheShape) -> str:
    """One sentence on what the mask and plain-attention figures mean."""
    return (
        "masks avoided: 4 bytes for each query and row of the largest step, in one mask a layer, none of which is ever "
        f"allocated; plain attention: {plain_bytes_per_token(shape):,} bytes a token and layer, an F16 key and value "
        f"for each of {shape.heads} heads; held: rows in use, not capacity"
    )


def as_json(forecast: MemoryForecast) -> dict[str, Any]:
    """Every layer's numbers, the sums by kind of layer, and what they are sums of. All sizes are bytes unless named."""
    report, shape = forecast.report, forecast.shape
    per_token = shape.bytes_per_token
    weights = {} if forecast.weight_bytes is None else {"weight_bytes_as_stored": forecast.weight_bytes}
    return {
        "schema": 1,
        "model": forecast.name,
        "tokens": report.position,
        "context": forecast.context,
        "row_type": "f16" if shape.row_value_bytes == F16_BYTES else "f32",
        "steps": [
            {"start": step.start, "tokens": step.tokens, "bands": len(list(step.bands()))} for step in forecast.steps
        ],
        **_mask_sums(report),
        "session_bytes_per_token": int(per_token) if per_token.denominator == 1 else float(per_token),
        "session_bytes_held": report.held_bytes,
        "session_bytes_at_capacity": capacity_bytes(shape, forecast.context),
        "plain_attention_bytes": report.plain_bytes,
        "plain_attention_bytes_per_token_and_layer": plain_bytes_per_token(shape),
        "step_buffers": [
            {"name": item.name, "alive_during": _PHASES[item.phase], "bytes": item.bytes} for item in forecast.buffers
        ],
        "step_buffer_peak_bytes": report.step_buffer_bytes,
        **weights,
        "forecast_peak_bytes": report.forecast_peak_bytes,
        "forecast_includes_weights": forecast.weight_bytes is not None,
        "counting": counting_rule(shape),
        "layers": [_layer_json(layer) for layer in report.layers],
    }


def as_text(forecast: MemoryForecast) -> str:
    """The table of layer kinds, the totals, the step's buffers, and how it is counted."""
    report, shape = forecast.report, forecast.shape
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for ratio in sorted(set(shape.ratios)):
        rows.append(_kind_row(_kind_name(ratio), [layer for layer in report.layers if layer.ratio == ratio]))
    rows.append(_kind_row("all", list(report.layers)))
    per_token = float(shape.bytes_per_token)
    return "\n".join(
        (
            f"{forecast.name}: {report.position:,} tokens in {_steps_text(forecast.steps)}",
            "",
            *_aligned(rows),
            "",
            *_mask_lines(report),
            f"Session: {per_token:,.10g} bytes a token; {size_text(report.held_bytes)} held, "
            f"{size_text(capacity_bytes(shape, forecast.context))} allocated for a context of {forecast.context:,}",
            "",
            *_buffer_lines(forecast),
            "",
            *_peak_lines(forecast),
            *_wrapped(f"Counted as: {counting_rule(shape)}."),
        )
    )


def _mask_sums(report: MemoryReport) -> dict[str, int | float]:
    found: dict[str, int | float] = {}
    for ratio in sorted({layer.ratio for layer in report.layers}):
        found[f"mask_bytes_{_kind_key(ratio)}"] = report.mask_bytes_of(ratio)
        found[f"mask_gib_{_kind_key(ratio)}"] = report.mask_bytes_of(ratio) / GIB
    return {**found, "mask_bytes_total": report.mask_bytes, "mask_gib_total": report.mask_bytes / GIB}


def _layer_json(layer: LayerMemory) -> dict[str, int]:
    return {
        "layer": layer.layer,
        "ratio": layer.ratio,
        "raw_ring_bytes": layer.raw_bytes,
        "compressed_row_bytes": layer.compressed_bytes,
        "index_row_bytes": layer.index_bytes,
        "rolling_state_bytes": layer.rolling_bytes,
        "held_bytes": layer.held_bytes,
        "plain_attention_bytes": layer.plain_bytes,
        "mask_bytes_never_allocated": layer.mask_bytes,
    }


def _kind_key(ratio: int) -> str:
    return f"ratio_{ratio}" if ratio else "uncompressed"


def _kind_name(ratio: int) -> str:
    return f"ratio {ratio}" if ratio else "uncompressed"


def _kind_row(name: str, layers: list[LayerMemory]) -> tuple[str, ...]:
    def total(part: Callable[[LayerMemory], int]) -> str:
        return size_text(sum(map(part, layers)))

    return (
        name,
        str(len(layers)),
        total(lambda layer: layer.raw_bytes),
        total(lambda layer: layer.compressed_bytes),
        total(lambda layer: layer.index_bytes),
        total(lambda layer: layer.rolling_bytes),
        total(lambda layer: layer.held_bytes),
        total(lambda layer: layer.plain_bytes),
        total(lambda layer: layer.mask_bytes),
    )


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """The first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first, *rest = widths
    return [
        "  ".join((row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], rest, strict=True))))
        for row in rows
    ]


def _mask_lines(report: MemoryReport) -> list[str]:
    lines = ["Mask bytes never allocated:"]
    for ratio in sorted({layer.ratio for layer in report.layers}):
        count = sum(layer.ratio == ratio for layer in report.layers)
        layers = f"{count} layers, {_kind_name(ratio)}"
        lines.append(f"  {layers:<24}{report.mask_bytes_of(ratio):>18,}  ({report.mask_bytes_of(ratio) / GIB:.3f} GiB)")
    lines.append(f"  {'all layers':<24}{report.mask_bytes:>18,}  ({report.mask_bytes / GIB:.3f} GiB)")
    return lines


def _steps_text(steps: tuple[Step, ...]) -> str:
    sizes = [step.tokens for step in steps]
    count = f"{len(sizes)} step{'s' if len(sizes) > 1 else ''}"
    shown = [f"{size:,}" for size in sizes]
    if len(shown) > 6:
        shown = [*shown[:3], "...", shown[-1]]
    bands = sum(len(list(step.bands())) for step in steps)
    return f"{count} of {' + '.join(shown)}, {bands} bands in all"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _LINE, initial_indent=indent, subsequent_indent=indent + "  ")


def _buffer_lines(forecast: MemoryForecast) -> list[str]:
    """The step's temporaries, in the float32 layout that the specification counts."""
    lines = [
        f"Buffers of the largest step (float32, not sliced): {size_text(forecast.report.step_buffer_bytes)} at once"
    ]
    for phase, words in _PHASES.items():
        items = [f"{item.name} {size_text(item.bytes)}" for item in forecast.buffers if item.phase is phase]
        lines += _wrapped(f"during {words}: {', '.join(items)}", indent="  ")
    return lines


def _peak_lines(forecast: MemoryForecast) -> list[str]:
    peak = size_text(forecast.report.forecast_peak_bytes)
    if forecast.weight_bytes is None:
        return [f"Forecast peak: {peak} and the weights"]
    return [f"Forecast peak: {peak}, of which {size_text(forecast.weight_bytes)} weights as stored in the file"]
