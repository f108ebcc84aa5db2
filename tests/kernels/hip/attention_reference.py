"""Attention by brute force in float64, and random steps to try kernels on."""

from dataclasses import dataclass

import torch

from engine.layers.rope import rotate
from kernels.ops.attention import AttentionRows, HeadShape, Plan, QueryRotation
from tests.kernels.hip.emulated import GuardedBuffers


@dataclass(frozen=True, slots=True)
class Case:
    """One layer in one step: everything a launch needs."""

    shape: HeadShape
    position: int
    q: torch.Tensor
    rows: AttentionRows
    form: QueryRotation

    @property
    def start(self) -> torch.Tensor:
        return torch.tensor([self.position], dtype=torch.int32)


def visible_rows(case: Case, t: int) -> torch.Tensor:
    """The rows of step token t in ascending order, float64, by the definition: position by position."""
    shape, rows, position = case.shape, case.rows, case.position + t
    prior = min(case.position, shape.window)
    window = range(max(0, position - shape.window + 1), position + 1)
    if rows.is_ring:
        raw = rows.raw[[p % shape.window for p in window]]
    else:
        raw = rows.raw[[p - case.position + prior for p in window]]
    if rows.plan is Plan.WINDOW:
        return raw.double()
    if rows.plan is Plan.INDEXED and t >= rows.selected_from and rows.ids is not None and rows.counts is not None:
        listed = rows.ids[t - rows.selected_from][: int(rows.counts[t - rows.selected_from])]
        return torch.cat([raw, rows.compressed[listed.long()]]).double()
    seen = [i for i in range(rows.compressed.shape[0]) if rows.ratio * i + rows.ratio - 1 <= position]
    return torch.cat([raw, rows.compressed[seen]]).double()


def reference(case: Case, first_token: int = 0, tokens: int | None = None) -> torch.Tensor:
    """Float64 [T, heads, width]."""
    shape, form = case.shape, case.form
    last = first_token + (case.q.shape[0] if tokens is None else tokens)
    outputs = []
    for t in range(first_token, last):
        q = case.q[t].double()
        q = q * (q.square().mean(dim=1, keepdim=True) + form.epsilon).rsqrt()
        cos, sin = form.cosines[t : t + 1].double(), form.sines[t : t + 1].double()
        q = rotate(q[None], cos, sin)[0]
        keys = visible_rows(case, t)
        scores = torch.cat([q @ keys.T * shape.width**-0.5, form.sinks.double()[:, None]], dim=1)
        weights = scores.softmax(dim=1)[:, :-1]
        outputs.append(rotate((weights @ keys)[None], cos, sin, inverse=True)[0])
    return torch.stack(outputs)


def random_case(
    random: torch.Generator,
    buffers: GuardedBuffers,
    shape: HeadShape,
    position: int,
    tokens: int,
    ratio: int = 0,
    top_k: int | None = None,
) -> Case:
    """A step of `tokens` at `position`. Rows that do not exist yet are poison in the same buffers."""
    prior = min(position, shape.window)
    raw = buffers.new(prior + tokens, shape.width, dtype=torch.float16)
    raw.copy_(torch.randn(prior + tokens, shape.width, generator=random))
    stored = (position + tokens) // ratio if ratio else 0
    compressed = buffers.new(stored, shape.width, dtype=torch.float16)
    compressed.copy_(torch.randn(stored, shape.width, generator=random))
    plan, ids, counts, selected_from = Plan.CONTIGUOUS if ratio else Plan.WINDOW, None, None, 0
    if top_k is not None:
        plan = Plan.INDEXED
        selected_from = min(max(ratio * (top_k + 1) - 1 - position, 0), tokens)
        ids, counts = _random_ids(random, position + selected_from, tokens - selected_from, ratio, top_k)
    q = torch.randn(tokens, shape.heads, shape.width, generator=random) * 2
    angles = torch.rand(tokens, shape.rotary // 2, generator=random) * 6.28
    form = QueryRotation(angles.cos(), angles.sin(), torch.randn(shape.heads, generator=random))
    return Case(shape, position, q, AttentionRows(plan, raw, compressed, ratio, ids, counts, selected_from), form)


def _random_ids(
    random: torch.Generator, position: int, tokens: int, ratio: int, top_k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Ascending random selections; a list shorter than top_k ends in ids that must not be read."""
    ids = torch.full((tokens, top_k), 1 << 30, dtype=torch.int32)
    counts = torch.empty(tokens, dtype=torch.int32)
    for t in range(tokens):
        visible = (position + t + 1) // ratio
        count = top_k if t % 3 else top_k - 1
        ids[t, :count] = torch.randperm(visible, generator=random)[:count].sort().values.int()
        counts[t] = count
    return ids, counts
