"""Benchmark cases of attention in its three shapes and split, and of the indexer and its selector."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from engine.layers.rope import rotate
from engine.plan import Visibility
from kernels.ops import indexer
from kernels.ops.attention import (
    AttentionForm,
    AttentionRows,
    HeadShape,
    MatrixTiling,
    Plan,
    QueryRotation,
    SplitForm,
    attend,
    attend_split,
    is_amd_layout,
    matrix_form,
    scalar_form,
    split_form,
    split_form_of,
    split_work_shape,
    tiled_form,
)
from kernels.ops.indexer import IndexerShape, TokenRange
from tests.gpu.cases_rows import angles
from tests.gpu.workbench import Case, Workbench, nmse

SAMPLED = 16
SINGLE_POSITION = 9132  # a single token is decoded at the end of the reference prompt
AMD_TILINGS = (MatrixTiling(1, 32, 16, 16, 1), MatrixTiling(1, 16, 8, 16, 2))
NVIDIA_TILINGS = (
    MatrixTiling(1, 64, 8, 32, 2),
    MatrixTiling(1, 64, 8, 16, 2),
    MatrixTiling(1, 32, 8, 32, 2),
    MatrixTiling(1, 32, 8, 16, 2),
    MatrixTiling(1, 32, 16, 16, 2),
    MatrixTiling(1, 64, 8, 16, 5, parts=4, stages=2),
    MatrixTiling(1, 64, 8, 16, 5, parts=8, stages=2),
    MatrixTiling(1, 64, 8, 32, 4, parts=4, stages=2),
    MatrixTiling(1, 32, 8, 16, 4, parts=4, stages=2),
    MatrixTiling(1, 32, 8, 16, 4, parts=8, stages=2),
)
SPLIT_TILINGS = (MatrixTiling(1, 16, 8, 16, 1), MatrixTiling(1, 32, 8, 16, 1))
NVIDIA_SPLIT_TILINGS = (
    MatrixTiling(1, 32, 8, 32, 1),
    MatrixTiling(1, 16, 8, 64, 1),
    MatrixTiling(1, 16, 16, 64, 1),
    MatrixTiling(1, 32, 8, 64, 1),
)
CONTEXT = 32768  # positions that a decoding token's buffers have room for
RATIO_4_AIM = 1 / 3  # of the floor, over a step of 9,133 tokens


def attention_cases(bench: Workbench, tokens: int) -> Iterator[Case]:
    target = bench.launcher.device.target
    shape = HeadShape(bench.shape.heads, bench.shape.head_dim, bench.shape.rotary)
    several = 4 if shape.heads == 16 or not target.startswith("gfx") else 2
    matrix, together = matrix_form(shape, target), matrix_form(shape, target, several)
    for ratio in (0, 128, 4):
        yield attending(bench, tokens, ratio, matrix, "B")
    if tokens > 1:
        for ratio in (0, 128):
            yield attending(bench, tokens, ratio, together, f"C, {several} queries")
    yield attending(bench, tokens, 4, scalar_form(shape), "A")
    if tokens == 1:
        for ratio in (0, 128, 4):
            yield splitting(bench, ratio, split_form(shape, target), "split")


def tiling_cases(bench: Workbench, tokens: int) -> Iterator[Case]:
    """Shape B on ratio 4 with other workgroups than the one we use, to see whether the choice still stands."""
    target = bench.launcher.device.target
    shape = HeadShape(bench.shape.heads, bench.shape.head_dim, bench.shape.rotary)
    is_amd = is_amd_layout(target)
    for tiling in AMD_TILINGS if is_amd else NVIDIA_TILINGS:
        yield attending(bench, tokens, 4, tiled_form(shape, target, tiling), _tiling_name(tiling))
    if tokens > 1:
        return
    for tiling in SPLIT_TILINGS if is_amd else SPLIT_TILINGS + NVIDIA_SPLIT_TILINGS:
        for ratio in (0, 4):
            form = split_form_of(shape, target, tiling)
            yield splitting(bench, ratio, form, f"split {_tiling_name(tiling)}")


def _tiling_name(tiling: MatrixTiling) -> str:
    pipeline = f" {tiling.parts}p pipelined" if tiling.stages == 2 else ""
    return f"{tiling.group_heads}h {tiling.waves}w {tiling.rows}r {tiling.buffers}b{pipeline}"


def splitting(bench: Workbench, ratio: int, form: SplitForm, name: str) -> Case:
    """One token whose buffers have room for CONTEXT positions, with poison in the rows that do not exist yet."""
    shape = form.shape
    view = Visibility(SINGLE_POSITION, 1, ratio)
    exact = _rows(bench, view, shape)
    room = bench.normal(CONTEXT // ratio if ratio else 0, shape.width).half()
    room[: view.compressed] = exact.compressed
    room[view.compressed :] = float("nan")
    rows = replace(exact, compressed=room)
    cos, sin = angles(bench, 1)
    rotation = QueryRotation(cos, sin, bench.normal(shape.heads))
    q, out = bench.normal(1, shape.heads, shape.width), bench.empty(1, shape.heads, shape.width)
    start, work = bench.position(SINGLE_POSITION), bench.empty(*split_work_shape(form, rows))

    def launch() -> None:
        attend_split(bench.launcher, form, q, rows, rotation, out, start, work)

    def error() -> float:
        return nmse(out, _reference(0, view, q, rows, rotation)[None])

    seen = 128 + (min(view.visible(0), bench.shape.index_top_k) if ratio == 4 else view.visible(0))
    nbytes, flops = 2 * q.nbytes + seen * shape.width * 2, 4 * shape.heads * shape.width * seen
    what = f"{name}, {'window' if not ratio else f'ratio {ratio}'}"
    return Case("attention", what, 1, [launch], [out], error, 1e-6, nbytes, flops)


def attending(bench: Workbench, tokens: int, ratio: int, form: AttentionForm, name: str) -> Case:
    shape, model = form.shape, bench.shape
    position = SINGLE_POSITION if tokens == 1 else 0
    view = Visibility(position, tokens, ratio)
    rows = _rows(bench, view, shape)
    cos, sin = angles(bench, tokens)
    rotation = QueryRotation(cos, sin, bench.normal(shape.heads))
    q, out = bench.normal(tokens, shape.heads, shape.width), bench.empty(tokens, shape.heads, shape.width)
    start = bench.position(position)

    def launch() -> None:
        attend(bench.launcher, form, q, rows, rotation, out, start, position)

    def error() -> float:
        at = bench.sample(tokens, SAMPLED)
        return nmse(out[at], torch.stack([_reference(t, view, q, rows, rotation) for t in at]))

    seen = [min(view.visible(t), model.index_top_k) if ratio == 4 else view.visible(t) for t in range(tokens)]
    seen = [count + view.raw_last(t) - view.raw_first(t) + 1 for t, count in enumerate(seen)]
    flops = 4 * shape.heads * shape.width * sum(seen)
    stored = (rows.raw.shape[0] + rows.compressed.shape[0]) * shape.width * 2
    nbytes = 2 * q.nbytes + stored + (rows.ids.nbytes if rows.ids is not None else 0)
    what = f"{name}, {'window' if not ratio else f'ratio {ratio}'}"
    limit = 1e-10 if name == "A" else 1e-6
    aim = RATIO_4_AIM if name == "B" and ratio == 4 and tokens > 1 else None
    return Case("attention", what, tokens, [launch], [out], error, limit, nbytes, flops, aim=aim)


def _rows(bench: Workbench, view: Visibility, shape: HeadShape) -> AttentionRows:
    """The layer's rows: ratio 4 with a random selection, everything visible elsewhere; a ring for a single token."""
    is_ring = view.tokens == 1
    raw = bench.normal(128 if is_ring else view.prior + view.tokens, shape.width).half()
    compressed = bench.normal(view.compressed, shape.width).half()
    top_k = bench.shape.index_top_k
    if view.ratio != 4:
        plan = Plan.CONTIGUOUS if view.ratio else Plan.WINDOW
        return AttentionRows(plan, raw, compressed, view.ratio, is_ring=is_ring)
    first = view.first_scored(top_k)
    if first >= view.tokens:
        return AttentionRows(Plan.CONTIGUOUS, raw, compressed, 4, is_ring=is_ring)
    positions = torch.arange(first, view.tokens, device=bench.device) + view.start
    hidden = torch.arange(view.compressed, device=bench.device)[None] >= ((positions + 1) // 4)[:, None]
    lottery = torch.rand(hidden.shape, generator=bench.random, device=bench.device).masked_fill_(hidden, -1)
    ids = lottery.topk(top_k, dim=1).indices.sort(dim=1).values.int()
    counts = torch.full((ids.shape[0],), top_k, dtype=torch.int32, device=bench.device)
    return AttentionRows(Plan.INDEXED, raw, compressed, 4, ids, counts, first, is_ring)


def _reference(t: int, view: Visibility, q: torch.Tensor, rows: AttentionRows, rotation: QueryRotation) -> torch.Tensor:
    if rows.is_ring:
        window = torch.arange(max(0, view.start - 127), view.start + 1, device=q.device) % 128
        raw = rows.raw[window]
    else:
        raw = rows.raw[view.raw_first(t) : view.raw_last(t) + 1]
    if rows.plan is Plan.INDEXED and t >= rows.selected_from and rows.ids is not None:
        chosen = rows.compressed[rows.ids[t - rows.selected_from].long()]
    else:
        chosen = rows.compressed[: view.visible(t)]
    keys = torch.cat([raw, chosen]).double()
    cos, sin = rotation.cosines[t : t + 1].double(), rotation.sines[t : t + 1].double()
    query = q[t].double()
    query = rotate((query * (query.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt())[None], cos, sin)[0]
    scores = torch.cat([query @ keys.T * q.shape[2] ** -0.5, rotation.sinks.double()[:, None]], dim=1)
    return rotate((scores.softmax(dim=1)[:, :-1] @ keys)[None], cos, sin, inverse=True)[0]


def indexer_cases(bench: Workbench, tokens: int) -> Iterator[Case]:
    """Tokens that need scoring: those of a step from position 0, or the same number after the reference prompt."""
    shape = IndexerShape(bench.shape.index_heads, bench.shape.index_dim, bench.shape.index_top_k)
    first = Visibility(0, tokens, 4).first_scored(shape.top_k)
    position, first = (0, first) if first < tokens else (SINGLE_POSITION, 0)
    scored = tokens - first
    stored = (position + tokens) // 4
    span = TokenRange(bench.position(position), position, first, scored, stored, 4)
    queries, rows = bench.normal(scored, shape.heads, shape.width).half(), bench.normal(stored, shape.width).half()
    head_weights, scores = bench.normal(scored, shape.heads), bench.empty(scored, stored)
    yield _scoring(bench, tokens, shape, span, queries, head_weights, rows, scores)
    yield _selecting(bench, tokens, shape, span, scores)
    yield _ordering(bench, tokens, shape, span)


def _visible(span: TokenRange, t: int) -> int:
    return (span.position + span.first + t + 1) // 4


def _scoring(
    bench: Workbench,
    tokens: int,
    shape: IndexerShape,
    span: TokenRange,
    queries: torch.Tensor,
    head_weights: torch.Tensor,
    rows: torch.Tensor,
    scores: torch.Tensor,
) -> Case:
    def launch() -> None:
        indexer.score(bench.launcher, shape, queries, head_weights, rows, scores, span)

    def error() -> float:
        errors = []
        for t in bench.sample(span.tokens, SAMPLED):
            seen = _visible(span, t)
            dots = (queries[t].double() @ rows[:seen].double().T).clamp_min(0)
            errors.append(nmse(scores[t, :seen], head_weights[t].double() @ dots))
            errors.append(0.0 if bool((scores[t, seen:] == -1e30).all()) else float("nan"))
        return max(errors)

    pairs = sum(_visible(span, t) for t in range(span.tokens))
    nbytes = queries.nbytes + head_weights.nbytes + rows.nbytes + scores.nbytes
    flops = 2 * shape.heads * shape.width * pairs
    what = f"{span.tokens} scored"
    return Case("index_scores", what, tokens, [launch], [scores], error, 1e-10, nbytes, flops)


def _selecting(bench: Workbench, tokens: int, shape: IndexerShape, span: TokenRange, scores: torch.Tensor) -> Case:
    """Selects among fresh scores with many ties; the error counts lists that are not exactly right."""
    tied = (bench.normal(*scores.shape, size=40.0)).round()
    ids = bench.empty(span.tokens, shape.top_k, dtype=torch.int32)
    counts = bench.empty(span.tokens, dtype=torch.int32)

    def launch() -> None:
        indexer.select(bench.launcher, shape, tied, ids, counts, span)

    def error() -> float:
        wrong = 0
        for t in bench.sample(span.tokens, SAMPLED):
            seen = _visible(span, t)
            best = tied[t, :seen].sort(descending=True, stable=True).indices[: shape.top_k].sort().values
            wrong += int(not torch.equal(ids[t, : best.numel()].long(), best) or int(counts[t]) != best.numel())
        return float(wrong)

    nbytes = tied.nbytes + ids.nbytes
    return Case("select_rows", f"{span.tokens} scored", tokens, [launch], [ids, counts], error, 0.0, nbytes, 0)


def _ordering(bench: Workbench, tokens: int, shape: IndexerShape, span: TokenRange) -> Case:
    """Ids out of order, repeated and out of range; the error counts lists that are not exactly right."""
    size = (span.tokens, shape.top_k)
    ids = torch.randint(-9, span.stored + 9, size, generator=bench.random, device=bench.device, dtype=torch.int32)
    out, counts = bench.empty(*size, dtype=torch.int32), bench.empty(span.tokens, dtype=torch.int32)

    def launch() -> None:
        indexer.order(bench.launcher, shape, ids, out, counts, span)

    def error() -> float:
        wrong = 0
        for t in bench.sample(span.tokens, SAMPLED):
            kept = ids[t][(ids[t] >= 0) & (ids[t] < _visible(span, t))].unique()
            wrong += int(int(counts[t]) != kept.numel() or not torch.equal(out[t, : kept.numel()], kept))
        return float(wrong)

    what = f"{span.tokens} lists"
    return Case("order_rows", what, tokens, [launch], [out, counts], error, 0.0, ids.nbytes * 2, 0)
