"""The temporaries of one step on a GPU, as engine.model and the GPU backend really hold them.

Integers only; the ledger's forecast adds the result to weights and session state, and tests/gpu/full_model.py holds it
against the allocator's peak on a device. Work goes over the whole step; attention writes over its queries. Not counted:
the scratch of the dense products (gpu_products), 0.3 % of a full model, and in models without an indexer the output
projection, which otherwise needs less than the choice of rows before it.
"""

from engine.backends.gpu_decode import span_for
from engine.cache_shape import F16_BYTES, F32_BYTES, OVERLAP_RATIO, CacheShape
from engine.plan import Step, Visibility
from engine.step_buffers import Buffer, Phase
from kernels.ops.attention_forms import SPLIT_HEADS, SPLIT_PARTIALS, SPLIT_ROWS


def gpu_step_buffers(shape: CacheShape, step: Step, score_bytes: int) -> tuple[Buffer, ...]:
    """Every temporary of a step; `score_bytes` bounds the indexer's scores."""
    tokens = step.tokens
    mixed = shape.hidden + shape.streams * (1 + shape.streams)
    rows = max(_row_space(shape, step, ratio) for ratio in set(shape.ratios))
    pairs = tokens * shape.experts_used
    return (
        Buffer("residual streams", Phase.STEP, tokens * shape.streams * shape.hidden * F32_BYTES),
        Buffer("sublayer input and the way back", Phase.STEP, tokens * mixed * F32_BYTES),
        Buffer("way back to the step's start", Phase.STEP, shape.volatile_bytes),
        Buffer("work of single tokens", Phase.STEP, token_work_bytes(shape, step.stop)),
        Buffer("queries and attention output", Phase.ATTENTION, tokens * shape.heads * shape.head_dim * F32_BYTES),
        Buffer("row space", Phase.ATTENTION, rows * shape.row_bytes),
        Buffer("latents of queries and rows", Phase.ATTENTION, tokens * (shape.q_rank + shape.head_dim) * F32_BYTES),
        Buffer("compressor inputs", Phase.ATTENTION, tokens * _exact_width(shape) * F32_BYTES),
        *_selection(shape, step, score_bytes),
        Buffer("expert inputs", Phase.EXPERTS, tokens * shape.hidden * F16_BYTES),
        Buffer("shared expert", Phase.EXPERTS, tokens * shape.hidden * F32_BYTES),
        Buffer("expert gate and up", Phase.EXPERTS, pairs * shape.expert_hidden * F16_BYTES),
        Buffer("expert outputs", Phase.EXPERTS, pairs * shape.hidden * F32_BYTES),
    )


def token_work_bytes(shape: CacheShape, tokens: int) -> int:
    """What decoding at the end of a context of `tokens` allocates for a layer at a time, and its graph keeps: the
    splits of attention and the scores of the indexer, for as many rows as the graph covers.
    """
    span = span_for(tokens)

    def splits(ratio: int) -> int:
        listed = shape.index_top_k if ratio == OVERLAP_RATIO else span // ratio + 1 if ratio else 0
        return shape.window // SPLIT_ROWS - (-listed // SPLIT_ROWS)

    heads = -(-shape.heads // SPLIT_HEADS) * SPLIT_HEADS
    work = max(map(splits, shape.ratios)) * heads * (shape.head_dim + SPLIT_PARTIALS) * F32_BYTES
    scores = (span // OVERLAP_RATIO + 1) * F32_BYTES if OVERLAP_RATIO in shape.ratios else 0
    return work + scores


def _row_space(shape: CacheShape, step: Step, ratio: int) -> int:
    view = Visibility(step.start, step.tokens, ratio, shape.window)
    return view.prior + 2 * view.tokens  # the new rows, and those with the window before them


def _exact_width(shape: CacheShape) -> int:
    if OVERLAP_RATIO in shape.ratios:
        return 4 * (shape.head_dim + shape.index_dim) + shape.index_heads
    return 2 * shape.head_dim if any(shape.ratios) else 0


def _selection(shape: CacheShape, step: Step, score_bytes: int) -> tuple[Buffer, ...]:
    if OVERLAP_RATIO not in shape.ratios:
        return ()
    view = Visibility(step.start, step.tokens, OVERLAP_RATIO, shape.window)
    scored = step.tokens - view.first_scored(shape.index_top_k)
    scores = min(score_bytes, scored * view.compressed * F32_BYTES)
    width = shape.index_heads * shape.index_dim
    queries = step.tokens * width * F32_BYTES + scored * width * F16_BYTES  # as projected, and as stored
    return (
        Buffer("indexer queries", Phase.ATTENTION, queries),
        Buffer("indexer scores", Phase.ATTENTION, scores),
        Buffer("selected ids and counts", Phase.ATTENTION, scored * (shape.index_top_k + 1) * F32_BYTES),
    )
