"""The temporaries of one step on the CPU, as engine.model and the CPU backends really hold them.

Integers only; the ledger's forecast adds the result to weights and session state, and a test holds it against the
measured peak of live tensors. Between two attentions, work goes band by band (engine.model).
"""

from engine.cache_shape import F32_BYTES, OVERLAP_RATIO, CacheShape
from engine.plan import BAND_TOKENS, Step, Visibility
from engine.step_buffers import Buffer, Phase

_POOLED = 2  # values and gates
_TILE_TOKENS = 64  # of which the reference scores rows, or attends, at once (engine.layers.indexer, row_attention)
_SCORE_COPIES = 3  # of attention: as they are, less the largest, and their weights
_SCORE_BYTES = 23  # for a token and a row of a tile: score, masks, and a running count of ties, made from int64


def cpu_step_buffers(shape: CacheShape, step: Step, activation_bytes: int, compiled: bool) -> tuple[Buffer, ...]:
    """Every temporary of a step. `activation_bytes` per value of a matrix product's result (2 for bfloat16).

    `compiled` tells whether the compiled kernels run; plain torch holds float32 copies of a band's expert outputs, and
    of all rows that a layer has, however deep the step begins.
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
        Buffer("copies of rows, and scores", Phase.ATTENTION, 0 if compiled else _reference_attention(shape, step)),
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


def _reference_attention(shape: CacheShape, step: Step) -> int:
    """The most that attention in plain torch holds in a layer besides its projections and its output."""
    views = [Visibility(step.start, step.tokens, ratio, shape.window) for ratio in sorted(set(shape.ratios))]
    return max(max(_reference_selection(shape, view), _reference_band(shape, view)) for view in views)


def _reference_selection(shape: CacheShape, view: Visibility) -> int:
    """The indexer's: its queries, a copy of its rows, and a tile of scores (indexer.select_rows)."""
    if view.ratio != OVERLAP_RATIO:
        return 0
    scored = view.tokens - view.first_scored(shape.index_top_k)
    if not scored:
        return 0
    queries = scored * shape.index_heads * shape.index_dim * F32_BYTES
    copy = _copied_row(shape, shape.index_dim) * view.compressed
    return queries + copy + min(scored, _TILE_TOKENS) * view.compressed * _SCORE_BYTES


def _reference_band(shape: CacheShape, view: Visibility) -> int:
    """Attention's: copies of all rows, a band's queries and output, and a group of tokens with the rows that they see.

    Rows of one group are alive while those of the next are put together; without compressed rows they are views.
    """
    scored = view.tokens - view.first_scored(shape.index_top_k) if view.ratio == OVERLAP_RATIO else 0
    selects = scored > 0
    seen = shape.index_top_k if selects else view.compressed
    together = _TILE_TOKENS if selects or not view.ratio else min(view.ratio, _TILE_TOKENS)
    full = view.tokens - max(shape.window - 1 - view.prior, 0)  # tokens that see a whole window, and so may be grouped
    alike = max(min(full, scored) if selects else full, 1)
    group, visible = min(together, alike), min(shape.window, view.prior + view.tokens) + seen
    following = min(group, alike - group)
    row = shape.head_dim * F32_BYTES
    rows = group * visible * row if seen else 0
    joined_row = visible + (seen if selects else 0)  # chosen rows are gathered before they are joined to the window
    joining = max(group * joined_row, group * visible + following * joined_row) * row if seen else 0
    scoring = rows + _SCORE_COPIES * group * visible * shape.heads * F32_BYTES
    queries = min(view.tokens, BAND_TOKENS) * shape.heads * shape.head_dim * F32_BYTES
    copies = _copied_row(shape, shape.head_dim) * (view.prior + view.tokens + view.compressed)
    return copies + 2 * queries + max(joining, scoring, queries + rows)


def _copied_row(shape: CacheShape, width: int) -> int:
    """Bytes of a row's float32 copy; rows that are float32 are not copied."""
    return 0 if shape.row_value_bytes == F32_BYTES else width * F32_BYTES
