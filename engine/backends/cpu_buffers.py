"""The temporaries of one step on the CPU, as engine.model and the CPU backends really hold them.

Integers only; the ledger's forecast adds the result to weights and session state, and a test holds it against the
measured peak of live tensors. Between two attentions, work goes band by band (engine.model).
"""

from engine.cache_shape import F32_BYTES, OVERLAP_RATIO, CacheShape
from engine.plan import BAND_TOKENS, Step
from engine.step_buffers import Buffer, Phase

_POOLED = 2  # values and gates


def cpu_step_buffers(shape: CacheShape, step: Step, activation_bytes: int, compiled: bool) -> tuple[Buffer, ...]:
    """Every temporary of a step. `activation_bytes` per value of a matrix product's result (2 for bfloat16).

    `compiled` tells whether the compiled kernels run; plain torch holds float32 copies of a band's expert outputs.
    """
    tokens, band = step.tokens, min(step.tokens, BAND_TOKENS)
    streams = tokens * shape.streams * shape.hidden * F32_BYTES
    inputs = tokens * (shape.hidden + shape.streams * (1 + shape.streams)) * F32_BYTES
    attended = tokens * shape.heads * shape.head_dim * activation_bytes
    found, joined = _projections(shape, activation_bytes)
    before = (tokens // band - 1) * band  # tokens projected for the next layer when the last full band is worked on
    experts = _experts_peak(shape, tokens, band, activation_bytes, compiled)
    return (
        Buffer("residual streams", Phase.STEP, streams),
        Buffer("sublayer inputs and the way back", Phase.STEP, inputs),
        Buffer("way back to the step's start", Phase.STEP, shape.volatile_bytes),
        Buffer("projections", Phase.ATTENTION, (joined if tokens > band else found) * tokens),
        Buffer("attention output", Phase.ATTENTION, attended),
        Buffer("selection", Phase.ATTENTION, tokens * shape.index_top_k * 4),
        Buffer("projections of the next layer", Phase.EXPERTS, found * before),
        Buffer("a band's experts, or joining the bands", Phase.EXPERTS, max(experts - found * before, 0)),
    )


def _experts_peak(shape: CacheShape, tokens: int, band: int, activation_bytes: int, compiled: bool) -> int:
    """The most between two attentions: while a band is worked on, or while the bands' projections are joined.

    Attention's output lives until the last band has taken its part; projections of the next layer grow band by band.
    """
    found, joined = _projections(shape, activation_bytes)
    attended = tokens * shape.heads * shape.head_dim * activation_bytes
    peaks = [found * tokens + (joined * tokens if tokens > band else 0)]
    for first in range(0, tokens, band):
        last = first + band >= tokens
        working = _band(shape, min(band, tokens - first), activation_bytes, compiled)
        peaks.append(found * first + working + (0 if last else attended))
    return max(peaks)


def _projections(shape: CacheShape, activation_bytes: int) -> tuple[int, int]:
    """Bytes of one token's projections in the widest layer: as a band's products leave them, and as joined rows."""
    queries = shape.heads * shape.head_dim * activation_bytes
    row = shape.head_dim * F32_BYTES
    entry = row if activation_bytes < F32_BYTES else (shape.q_rank + shape.head_dim) * F32_BYTES
    if OVERLAP_RATIO not in shape.ratios:
        pool = _POOLED * shape.head_dim * F32_BYTES if any(shape.ratios) else 0
        return queries + entry + pool, queries + row + pool
    pool = _POOLED * 2 * (shape.head_dim + shape.index_dim) * F32_BYTES
    heads = shape.index_heads * F32_BYTES
    index = shape.index_heads * shape.index_dim * activation_bytes
    return queries + entry + pool + 2 * heads + index, queries + row + pool + heads + index


def _band(shape: CacheShape, band: int, activation_bytes: int, compiled: bool) -> int:
    pairs = band * shape.experts_used
    if not compiled:
        return 2 * pairs * shape.hidden * F32_BYTES
    return pairs * (shape.hidden + 3 * shape.expert_hidden) * activation_bytes + band * shape.hidden * F32_BYTES
