"""The attention sublayer of one step: project, keep rows, close windows, select, attend in bands, project back.

Everything a token may look at is brought to its stored form and appended before the first query runs, so neither
bands nor steps leave a trace in the result. Order of work: banded-prefill 3.4; mathematics: ds4-architecture 3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from engine.backends.base import Backend
from engine.config import ModelConfig
from engine.layers.attention_weights import Attention
from engine.layers.compressor import Windows
from engine.layers.indexer import Selection
from engine.layers.rope import rotation
from engine.layers.rounding import KvRounding
from engine.layers.row_attention import QueryForm, RowSpace
from engine.plan import Step, Visibility, admit
from engine.state import LayerState


@dataclass(frozen=True, slots=True)
class Projections:
    """What the sublayer computed from its input, token by token, before any row sees another. All [N, ...].

    q [N, H·d] and index_q [N, Hi·di] as the backend's products leave them; kv [N, d], pool and index_pool (values,
    gates) and index_weights [N, Hi] float32.
    """

    q: torch.Tensor
    kv: torch.Tensor
    pool: tuple[torch.Tensor, torch.Tensor] | None
    index_q: torch.Tensor | None
    index_weights: torch.Tensor | None
    index_pool: tuple[torch.Tensor, torch.Tensor] | None


@dataclass(frozen=True, slots=True)
class StepContext:
    """What all layers of one step share. `selects` is False in dense mode; `between_bands` may raise Stopped."""

    config: ModelConfig
    step: Step
    rounding: KvRounding
    selects: bool
    band_tokens: int
    between_bands: Callable[[], None]


def project(x: torch.Tensor, weights: Attention, context: StepContext, ops: Backend) -> Projections:
    """All projections of the sublayer input x float32 [N, D]; weights are swept once for the whole step.

    Matrices that share an input are one product: fewer and larger calls.
    """
    config = context.config
    qa, kv = torch.split(ops.linear(ops.as_input(x), weights.entry), [config.q_rank, config.head_dim], dim=1)
    qa = ops.norm_input(qa, weights.q_a_norm)
    pool = index_pool = index_q = index_weights = None
    if weights.compressor is not None and weights.exact_entry is not None:
        exact = ops.linear(x, weights.exact_entry)
        lanes = weights.compressor.kv_lanes
        pool = exact[:, :lanes], exact[:, lanes : 2 * lanes]
        if weights.indexer is not None:
            own = weights.indexer.compressor.kv_lanes
            values, gates, heads = torch.split(exact[:, 2 * lanes :], [own, own, config.index_heads], dim=1)
            index_pool = values, gates
            index_q = ops.linear(qa, weights.indexer.q_b)
            index_weights = heads * (config.index_dim * config.index_heads) ** -0.5
    return Projections(ops.linear(qa, weights.q_b), kv.float(), pool, index_q, index_weights, index_pool)


def join(parts: list[Projections]) -> Projections:
    """The projections of consecutive tokens as one. Empties `parts`, so that they are not held beside the result."""
    if len(parts) == 1:
        return parts.pop()

    def together(tensors: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
        present = [tensor for tensor in tensors if tensor is not None]
        return torch.cat(present) if present else None

    def pairs(found: Sequence[tuple[torch.Tensor, torch.Tensor] | None]) -> tuple[torch.Tensor, torch.Tensor] | None:
        present = [pair for pair in found if pair is not None]
        return (torch.cat([a for a, _ in present]), torch.cat([b for _, b in present])) if present else None

    joined = Projections(
        q=torch.cat([part.q for part in parts]),
        kv=torch.cat([part.kv for part in parts]),
        pool=pairs([part.pool for part in parts]),
        index_q=together([part.index_q for part in parts]),
        index_weights=together([part.index_weights for part in parts]),
        index_pool=pairs([part.index_pool for part in parts]),
    )
    parts.clear()
    return joined


def attend_step(
    found: Projections, weights: Attention, state: LayerState, context: StepContext, ops: Backend
) -> torch.Tensor:
    """Attention output [N, H·d] of a step from its projections; the layer's state is advanced in place."""
    config, step = context.config, context.step
    positions = torch.arange(step.start, step.stop, device=weights.frequencies.device)
    cos, sin = rotation(positions, weights.frequencies)
    current = ops.finish_rows(found.kv, weights.kv_norm, cos, sin, context.rounding)
    raw = torch.cat([state.prior_rows(step.start), current])
    _append_rows(found, weights, state, context, ops)
    space = _row_space(found, raw, weights, state, context, cos, sin, ops)
    form = QueryForm(weights.sinks, cos, sin, config.rms_eps)
    q = found.q.view(step.tokens, config.heads, config.head_dim)
    out = ops.new_attention_output(q)
    for band in step.bands(context.band_tokens):
        context.between_bands()
        ops.attend(q[band.start : band.stop], band, space, form, out[band.start : band.stop])
    state.keep_raw(current, step.start)
    return out.flatten(1)


def output_projection(o: torch.Tensor, weights: Attention, ops: Backend) -> torch.Tensor:
    """Grouped low-rank output: o [N, H·d] to [N, D] (ds4-architecture 3.4)."""
    return ops.linear(ops.grouped_linear(o, weights.out_a), weights.out_b)


def _append_rows(found: Projections, weights: Attention, state: LayerState, context: StepContext, ops: Backend) -> None:
    """Close the step's windows: compressed rows and, with an indexer, index rows, in their stored form."""
    start, frequencies, rounding = context.step.start, weights.frequencies, context.rounding
    if weights.compressor is None or found.pool is None or state.rolling is None:
        return
    windows = Windows(weights.compressor, frequencies, state.rolling, state.compressed, rounding, is_index=False)
    ops.append_rows(*found.pool, start, windows)
    if weights.indexer is None or found.index_pool is None or state.index_rolling is None:
        return
    windows = Windows(
        weights.indexer.compressor, frequencies, state.index_rolling, state.index, rounding, is_index=True
    )
    ops.append_rows(*found.index_pool, start, windows)


def _row_space(
    found: Projections,
    raw: torch.Tensor,
    weights: Attention,
    state: LayerState,
    context: StepContext,
    cos: torch.Tensor,
    sin: torch.Tensor,
    ops: Backend,
) -> RowSpace:
    config, step = context.config, context.step
    ratio = weights.compressor.ratio if weights.compressor is not None else 0
    view = Visibility(step.start, step.tokens, ratio, config.window)
    top_k = config.index_top_k if weights.indexer is not None and context.selects else None
    plan = admit(view, top_k)
    selection = None
    first = view.first_scored(top_k) if top_k is not None else step.tokens
    if first < step.tokens and found.index_q is not None and found.index_weights is not None:
        queries = ops.index_queries(found.index_q[first:], cos[first:], sin[first:], context.rounding)
        ids, counts = ops.select(
            queries,
            found.index_weights[first:],
            state.index_rows(view.compressed),
            step.start + first,
            ratio,
            top_k or 0,
        )
        selection = Selection(first, ids, counts)
    return RowSpace(raw, state.compressed_rows(view.compressed), view, plan, selection)
