"""Benchmark cases of the kernels that pass over rows: residual mixing, norms, compressors, routing."""

from collections.abc import Iterator

import torch
from torch.nn import functional

from engine.layers.rope import rotate
from engine.layers.rounding import KvRounding, prepare_index, store_rows
from kernels.ops import residual
from kernels.ops.compressor import CompressorShape, Rolling, close_windows
from kernels.ops.residual import MixerWeights, MixOutputs, ResidualShape, WayBack
from kernels.ops.routing import RouterShape, route
from kernels.ops.rows import Rounding, RowForm, finish_rows
from tests.gpu.workbench import Case, Workbench, nmse

SAMPLED = 48


def row_cases(bench: Workbench, tokens: int) -> Iterator[Case]:
    yield mixing(bench, tokens)
    yield expand_mixing(bench, tokens)
    yield expanding(bench, tokens)
    if tokens == 1:
        yield collapsing(bench)
    yield query_norm(bench, tokens)
    yield stored_rows(bench, tokens)
    yield index_queries(bench, tokens)
    for ratio, width in ((4, bench.shape.head_dim), (128, bench.shape.head_dim), (4, bench.shape.index_dim)):
        yield compressing(bench, tokens, ratio, width)
    yield routing(bench, tokens)


def mixing(bench: Workbench, tokens: int) -> Case:
    hidden, shape, weights = bench.shape.hidden, ResidualShape(bench.shape.hidden), _mixer(bench)
    copies = [bench.normal(tokens, 4, hidden) for _ in range(bench.sets(tokens * hidden * 16))]
    out = MixOutputs(bench.empty(tokens, hidden), bench.empty(tokens, 4), bench.empty(tokens, 4, 4))
    partial = bench.empty(*shape.partial_shape(tokens))

    def error() -> float:
        at = bench.sample(tokens, SAMPLED)
        x, comb = _mixed(copies[0][at].double(), weights)
        return max(nmse(out.x[at], x), nmse(out.comb[at], comb))

    launches = [
        lambda streams=streams: residual.mix(bench.launcher, shape, streams, weights, partial, out)
        for streams in copies
    ]
    nbytes = tokens * hidden * (16 + 4) + weights.fn.nbytes
    outputs = [out.x, out.post, out.comb]
    return Case("residual_mix", "", tokens, launches, outputs, error, 1e-10, nbytes, 2 * 24 * 4 * hidden * tokens)


def expand_mixing(bench: Workbench, tokens: int) -> Case:
    """The way back and the next mixing at once: the streams of a launch are those that the one before left."""
    hidden, shape, weights = bench.shape.hidden, ResidualShape(bench.shape.hidden), _mixer(bench)
    before = bench.normal(tokens, 4, hidden)
    copies = [before.clone() for _ in range(bench.sets(tokens * hidden * 16))]
    back = WayBack(bench.normal(tokens, hidden), bench.normal(tokens, 4), bench.normal(tokens, 4, 4).softmax(dim=2))
    out = MixOutputs(bench.empty(tokens, hidden), bench.empty(tokens, 4), bench.empty(tokens, 4, 4))
    partial = bench.empty(*shape.partial_shape(tokens))

    def error() -> float:
        at = bench.sample(tokens, SAMPLED)
        streams = torch.einsum("tjk,tjd->tkd", back.comb[at].double(), before[at].double())
        streams += back.post[at].double()[:, :, None] * back.y[at].double()[:, None]
        x, comb = _mixed(streams, weights)
        return max(nmse(copies[0][at], streams), nmse(out.x[at], x), nmse(out.comb[at], comb))

    launches = [
        lambda streams=streams: residual.expand_mix(bench.launcher, shape, streams, back, weights, partial, out)
        for streams in copies
    ]
    nbytes, flops = tokens * hidden * (2 * 16 + 2 * 4) + weights.fn.nbytes, (2 * 24 * 4 + 40) * hidden * tokens
    outputs = [copies[0], out.x, out.post, out.comb]
    return Case(
        "residual_expand_mix",
        "",
        tokens,
        launches,
        outputs,
        error,
        1e-10,
        nbytes,
        flops,
        before=lambda: copies[0].copy_(before),
    )


def _mixer(bench: Workbench) -> MixerWeights:
    hidden = bench.shape.hidden
    fn = bench.normal(24, 4 * hidden, size=(4 * hidden) ** -0.5)
    return MixerWeights(fn, bench.normal(3).abs() + 0.5, bench.normal(24), bench.normal(hidden).abs() + 0.5)


def _mixed(streams: torch.Tensor, weights: MixerWeights) -> tuple[torch.Tensor, torch.Tensor]:
    """x and comb of float64 streams, by the definition."""
    flat = streams.flatten(1)
    m = (flat @ weights.fn.double().T) * (flat.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt()
    scale, base = weights.scale.double(), weights.base.double()
    pre = torch.sigmoid(scale[0] * m[:, :4] + base[:4]) + 1e-6
    a = (scale[2] * m[:, 8:] + base[8:]).view(-1, 4, 4).softmax(dim=2) + 1e-6
    a = a / (a.sum(dim=1, keepdim=True) + 1e-6)
    for _ in range(19):
        a = a / (a.sum(dim=2, keepdim=True) + 1e-6)
        a = a / (a.sum(dim=1, keepdim=True) + 1e-6)
    return normed(torch.einsum("tj,tjd->td", pre, streams), weights.norm), a


def collapsing(bench: Workbench) -> Case:
    hidden, shape = bench.shape.hidden, ResidualShape(bench.shape.hidden)
    fn = bench.normal(4, 4 * hidden, size=(4 * hidden) ** -0.5)
    weights = MixerWeights(fn, bench.normal(1).abs() + 0.5, bench.normal(4), bench.normal(hidden).abs() + 0.5)
    streams, x = bench.normal(1, 4, hidden), bench.empty(1, hidden)
    partial = bench.empty(*shape.partial_shape(1, residual.COLLAPSE_OUTPUTS))

    def launch() -> None:
        residual.collapse(bench.launcher, shape, streams, weights, partial, x)

    def error() -> float:
        v = streams.double()
        flat = v.flatten(1)
        m = (flat @ fn.double().T) * (flat.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt()
        share = torch.sigmoid(weights.scale.double() * m + weights.base.double()) + 1e-6
        return nmse(x, normed(torch.einsum("tj,tjd->td", share, v), weights.norm))

    return Case("residual_collapse", "", 1, [launch], [x], error, 1e-10, streams.nbytes + fn.nbytes, 8 * 4 * hidden)


def expanding(bench: Workbench, tokens: int) -> Case:
    hidden, shape = bench.shape.hidden, ResidualShape(bench.shape.hidden)
    copies = [bench.normal(tokens, 4, hidden) for _ in range(bench.sets(tokens * hidden * 36))]
    y, post, comb = bench.normal(tokens, hidden), bench.normal(tokens, 4), bench.normal(tokens, 4, 4)
    out = bench.empty(tokens, 4, hidden)

    def error() -> float:
        at = bench.sample(tokens, SAMPLED)
        wanted = torch.einsum("tjk,tjd->tkd", comb[at].double(), copies[0][at].double())
        return nmse(out[at], wanted + post[at].double()[:, :, None] * y[at].double()[:, None])

    launches = [
        lambda streams=streams: residual.expand(bench.launcher, shape, streams, y, post, comb, out)
        for streams in copies
    ]
    return Case("residual_expand", "", tokens, launches, [out], error, 1e-10, tokens * hidden * 36, 0)


def angles(bench: Workbench, positions: int) -> tuple[torch.Tensor, torch.Tensor]:
    turned = bench.normal(positions, bench.shape.rotary // 2, size=3.0)
    return turned.cos(), turned.sin()


def normed(values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    rows = values.double()
    return rows * (rows.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt() * weight.double()


def query_norm(bench: Workbench, tokens: int) -> Case:
    width = bench.shape.q_rank
    values, weight, out = bench.normal(tokens, width), bench.normal(width), bench.empty(tokens, width)
    start = bench.position(0)

    def launch() -> None:
        finish_rows(bench.launcher, RowForm(width), values, out, start, weight=weight)

    def error() -> float:
        return nmse(out, normed(values, weight))

    return Case("norm_rope", f"query a, {width}", tokens, [launch], [out], error, 1e-10, tokens * width * 8, 0)


def stored_rows(bench: Workbench, tokens: int) -> Case:
    width, rotary = bench.shape.head_dim, bench.shape.rotary
    low = bench.shape.trained_low_precision
    form = RowForm(width, rotary, rounding=Rounding.E4M3 if low else Rounding.NONE, half=True)
    values, weight = bench.normal(tokens, width), bench.normal(width)
    cos, sin = angles(bench, tokens)
    out, start = bench.empty(tokens, width, dtype=torch.float16), bench.position(0)

    def launch() -> None:
        finish_rows(bench.launcher, form, values, out, start, weight=weight, rotation=(cos, sin))

    def error() -> float:
        turned = rotate(normed(values, weight), cos.double(), sin.double())
        return nmse(out, store_rows(turned.float(), KvRounding.E4M3 if low else KvRounding.F16, rotary))

    what = f"cache row, {width}"
    return Case("norm_rope", what, tokens, [launch], [out], error, 1e-6, tokens * (width * 6 + rotary * 4), 0)


def index_queries(bench: Workbench, tokens: int) -> Case:
    """The error is the share of values that no float32 rounding of the transform explains."""
    heads, width, low = bench.shape.index_heads, bench.shape.index_dim, bench.shape.trained_low_precision
    form = RowForm(width, bench.shape.rotary, False, Rounding.E2M1 if low else Rounding.NONE, half=True)
    values = bench.normal(tokens * heads, width)
    cos, sin = angles(bench, tokens)
    out, start = bench.empty(tokens * heads, width, dtype=torch.float16), bench.position(0)

    def launch() -> None:
        finish_rows(bench.launcher, form, values, out, start, rotation=(cos, sin), rows_per_position=heads)

    def error() -> float:
        at = bench.sample(tokens, SAMPLED)
        turned = rotate(values.view(tokens, heads, width)[at].double(), cos[at].double(), sin[at].double())
        found = out.view(tokens, heads, width)[at].double()
        if not low:
            return nmse(found, turned)
        near = [prepare_index(turned * (1 + step), KvRounding.E4M3) for step in (-1e-5, 0.0, 1e-5)]
        explained = torch.stack([found == candidate for candidate in near]).any(dim=0)
        return 1.0 - float(explained.double().mean())

    limit = 0.0 if low else 1e-6
    return Case(
        "norm_rope", f"index queries, {heads} x {width}", tokens, [launch], [out], error, limit, values.numel() * 6, 0
    )


def compressing(bench: Workbench, tokens: int, ratio: int, width: int) -> Case:
    """The end of a window for a single token, a step from position 0 otherwise."""
    is_index = width == bench.shape.index_dim
    shape = CompressorShape(ratio, width, bench.shape.rotary)  # stored unrounded: rounding is measured in stored_rows
    position = ratio - 1 if tokens == 1 else 0
    closed = (position + tokens) // ratio
    wide = shape.token_width
    values, gates = bench.normal(tokens, wide), bench.normal(tokens, wide)
    bias, norm = bench.normal(ratio, wide), bench.normal(width)
    cos, sin = angles(bench, max(closed, 1))
    state = Rolling(bench.normal(shape.state_rows, wide), bench.normal(shape.state_rows, wide))
    first_state = Rolling(state.values.clone(), state.gates.clone())
    out, start = bench.empty(max(closed, 1), width, dtype=torch.float16), bench.position(position)

    def before() -> None:
        state.values.copy_(first_state.values)
        state.gates.copy_(first_state.gates)

    def launch() -> None:
        rotation = (cos, sin)
        close_windows(bench.launcher, shape, values, gates, bias, norm, rotation, state, out, start, position)

    def error() -> float:
        if not closed:
            return 0.0
        at = bench.sample(closed, SAMPLED)
        wanted = [
            _pooled(shape, window, position, values, gates + _biases(bias, position, tokens), first_state)
            for window in at
        ]
        rows = normed(torch.stack(wanted), norm)
        return nmse(out[at], rotate(rows, cos[at].double(), sin[at].double()))

    what = f"{'index' if is_index else 'rows'}, ratio {ratio}, {width}"
    nbytes = tokens * wide * 8 + closed * width * 2
    outputs = [out, state.values, state.gates] if closed else [state.values, state.gates]
    return Case("compress", what, tokens, [launch], outputs, error, 1e-6, nbytes, 0, before)


def _biases(bias: torch.Tensor, position: int, tokens: int) -> torch.Tensor:
    slots = torch.arange(position, position + tokens, device=bias.device) % bias.shape[0]
    return bias[slots]


def _pooled(
    shape: CompressorShape, window: int, position: int, values: torch.Tensor, gates: torch.Tensor, state: Rolling
) -> torch.Tensor:
    """A window's row before its norm, float64; tokens before the step come from the state."""
    ratio, width = shape.ratio, shape.width
    entries = []
    lanes = ((window - 1, 0), (window, width)) if ratio == 4 else ((window, 0),)
    for which, lane in lanes:
        for slot in range(ratio):
            token = which * ratio + slot
            if token >= position:
                found = values[token - position], gates[token - position]
            else:
                row = slot + (ratio if ratio == 4 and which == position // ratio else 0)
                found = state.values[row], state.gates[row]
            entries.append([part[lane : lane + width].double() for part in found])
    pooled = torch.stack([entry[0] for entry in entries])
    return (torch.stack([entry[1] for entry in entries]).softmax(dim=0) * pooled).sum(dim=0)


def routing(bench: Workbench, tokens: int) -> Case:
    """Wrong choices count as errors of size one."""
    experts, used = bench.shape.experts, bench.shape.experts_used
    logits, bias = bench.normal(tokens, experts, size=3.0), bench.normal(experts, size=0.2)
    chosen, weights = bench.empty(tokens, used, dtype=torch.int32), bench.empty(tokens, used)

    def launch() -> None:
        route(bench.launcher, RouterShape(experts, used, False), logits, chosen, weights, 1.5, bias=bias)

    def error() -> float:
        scores = functional.softplus(logits.double(), threshold=1000).sqrt()
        wanted = (scores + bias.double()).sort(dim=1, descending=True, stable=True).indices[:, :used]
        share = scores.gather(1, chosen.long())
        return nmse(weights, share / share.sum(dim=1, keepdim=True) * 1.5) + float((chosen.long() != wanted).sum())

    return Case("router", "", tokens, [launch], [chosen, weights], error, 1e-10, tokens * (experts + used * 2) * 4, 0)
