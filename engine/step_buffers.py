"""The temporaries of one step, item by item: integers from shapes, for forecasts and for the report.

Each backend states how it lays its temporaries out as a `BufferStyle`; the ledger adds the result to what a session
holds. The list and its reference sizes are section 5.2 of the banded-prefill specification. No tensors, any thread.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from engine.cache_shape import F32_BYTES, OVERLAP_RATIO, CacheShape
from engine.plan import Step, Visibility

_ID_BYTES = 4


class Phase(Enum):
    """When a buffer is alive. Attention and experts follow each other, so only the larger of the two counts."""

    STEP = auto()  # as long as the step runs
    ATTENTION = auto()  # inside the attention sublayer of a layer
    EXPERTS = auto()  # inside the expert sublayer of a layer


@dataclass(frozen=True, slots=True)
class Buffer:
    """One temporary at its largest over all layers; layers reuse it one after the other."""

    name: str
    phase: Phase
    bytes: int


@dataclass(frozen=True, slots=True)
class BufferStyle:
    """How a backend lays out a step's temporaries. The defaults are the reference of section 5.2: float32, unsliced.

    `stream_copies` residual streams alive at once; `activation_bytes` per value of queries, outputs and expert
    activations; `attention_tokens` and `expert_tokens` the slice for which those exist at once (None: the whole step);
    `output_in_place` writes attention output over its queries; `keeps_expert_outputs` holds every routed output
    before they are combined; `score_tokens` the tile of tokens whose indexer scores exist at once.
    """

    stream_copies: int = 2
    activation_bytes: int = F32_BYTES
    attention_tokens: int | None = None
    expert_tokens: int | None = None
    score_tokens: int | None = None
    output_in_place: bool = True
    keeps_expert_outputs: bool = True


def step_buffers(shape: CacheShape, step: Step, style: BufferStyle) -> tuple[Buffer, ...]:
    """Every temporary of one step under a layout, zero-byte items left out."""
    items = (*_whole_step(shape, step, style), *_attention(shape, step, style), *_experts(shape, step, style))
    return tuple(item for item in items if item.bytes)


def peak_bytes(buffers: Iterable[Buffer]) -> int:
    """The most that a step's buffers take at one moment: what lives all along, plus the larger sublayer."""
    totals = dict.fromkeys(Phase, 0)
    for buffer in buffers:
        totals[buffer.phase] += buffer.bytes
    return totals[Phase.STEP] + max(totals[Phase.ATTENTION], totals[Phase.EXPERTS])


def largest_step_bytes(shape: CacheShape, steps: Iterable[Step], style: BufferStyle) -> int:
    """The buffers of the step that needs most; 0 without steps."""
    return max((peak_bytes(step_buffers(shape, step, style)) for step in steps), default=0)


def _sliced(tokens: int, limit: int | None) -> int:
    return tokens if limit is None else min(tokens, limit)


def _whole_step(shape: CacheShape, step: Step, style: BufferStyle) -> tuple[Buffer, ...]:
    one_stream = step.tokens * shape.hidden * F32_BYTES
    return (
        Buffer("residual streams", Phase.STEP, style.stream_copies * shape.streams * one_stream),
        Buffer("sublayer input", Phase.STEP, one_stream),
        Buffer("way back to the step's start", Phase.STEP, shape.volatile_bytes),
    )


def _attention(shape: CacheShape, step: Step, style: BufferStyle) -> tuple[Buffer, ...]:
    together = _sliced(step.tokens, style.attention_tokens)
    queries = together * shape.heads * shape.head_dim * style.activation_bytes
    views = [Visibility(step.start, step.tokens, ratio, shape.window) for ratio in set(shape.ratios)]
    rows = max(view.prior + view.tokens + view.compressed for view in views)
    return (
        Buffer("queries", Phase.ATTENTION, queries),
        Buffer("attention output", Phase.ATTENTION, 0 if style.output_in_place else queries),
        Buffer("row space", Phase.ATTENTION, rows * shape.row_bytes),
        Buffer("compressor inputs", Phase.ATTENTION, _compressor_inputs(shape, step)),
        *_selection(shape, step, style),
    )


def _compressor_inputs(shape: CacheShape, step: Step) -> int:
    """Values and scores of every token, float32: double width in an overlapping layer, which also has an indexer's."""

    def width(ratio: int) -> int:
        if ratio == OVERLAP_RATIO:
            return 2 * (shape.head_dim + shape.index_dim)
        return shape.head_dim if ratio else 0

    return step.tokens * 2 * max(map(width, shape.ratios)) * F32_BYTES


def _selection(shape: CacheShape, step: Step, style: BufferStyle) -> tuple[Buffer, ...]:
    """The indexer works from the first token that sees more rows than it may use; nothing exists before it (4.2)."""
    if OVERLAP_RATIO not in shape.ratios:
        return ()
    view = Visibility(step.start, step.tokens, OVERLAP_RATIO, shape.window)
    scored = step.tokens - view.first_scored(shape.index_top_k)
    ids = scored * shape.index_top_k * _ID_BYTES
    return (
        Buffer("indexer queries", Phase.ATTENTION, scored * shape.index_heads * shape.index_dim * F32_BYTES),
        Buffer("indexer scores", Phase.ATTENTION, _sliced(scored, style.score_tokens) * view.compressed * F32_BYTES),
        Buffer("selected ids and counts", Phase.ATTENTION, ids + scored * _ID_BYTES),
    )


def _experts(shape: CacheShape, step: Step, style: BufferStyle) -> tuple[Buffer, ...]:
    pairs = _sliced(step.tokens, style.expert_tokens) * shape.experts_used
    outputs = step.tokens * shape.experts_used * shape.hidden * F32_BYTES
    return (
        Buffer("expert gate and up", Phase.EXPERTS, pairs * 2 * shape.expert_hidden * style.activation_bytes),
        Buffer("expert outputs", Phase.EXPERTS, outputs if style.keeps_expert_outputs else 0),
    )
