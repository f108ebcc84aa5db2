"""Plain torch float64 references of the kernels, written from the formulas, and a comparison of bits."""

import torch

from kernels.cpu import AttentionSpan, MixerWeights


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal type, shape and bytes: unlike torch.equal, NaN equals NaN and -0 differs from 0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8)))


def rotate(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Adjacent pairs of the last 2 * pairs channels; x [T, H, d], cosine and sine [T, pairs]."""
    pairs = cosine.shape[1]
    y = x.clone()
    if not pairs:
        return y
    a, b = x[..., -2 * pairs :: 2], x[..., -2 * pairs + 1 :: 2]
    y[..., -2 * pairs :: 2] = a * cosine[:, None] - b * sine[:, None]
    y[..., -2 * pairs + 1 :: 2] = a * sine[:, None] + b * cosine[:, None]
    return y


def visible_rows(t: int, span: AttentionSpan, count: int) -> int:
    return min(count, (span.start + t + 1) // span.ratio) if span.ratio else 0


def attend(
    q: torch.Tensor,
    raw: torch.Tensor,
    compressed: torch.Tensor | None,
    span: AttentionSpan,
    *,
    cosine: torch.Tensor,
    sine: torch.Tensor,
    sinks: torch.Tensor,
    eps: float,
    ids: torch.Tensor | None = None,
    counts: torch.Tensor | None = None,
) -> torch.Tensor:
    """[T, H * d] float64: one query at a time over an explicit list of rows."""
    q, raw, cosine, sine, sinks = (x.double() for x in (q, raw, cosine, sine, sinks))
    tokens, heads, width = q.shape
    q = rotate(q / (q.square().mean(dim=2, keepdim=True) + eps).sqrt(), cosine, sine)
    out = torch.empty(tokens, heads, width, dtype=torch.float64)
    for t in range(tokens):
        rows = raw[max(0, span.prior + t - span.window + 1) : span.prior + t + 1]
        if compressed is not None and span.ratio:
            chosen = torch.arange(visible_rows(t, span, compressed.shape[0]))
            if ids is not None and counts is not None:
                chosen = ids[t, : int(counts[t])].long()
            rows = torch.cat([rows, compressed.double()[chosen]])
        logits = torch.cat([q[t] @ rows.T / width**0.5, sinks[:, None]], dim=1)
        out[t] = logits.softmax(dim=1)[:, :-1] @ rows
    return rotate(out, cosine, -sine).flatten(1)


def select_scores(q: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """[T, C] float64: sum over heads of w * relu(q . k)."""
    dots = torch.einsum("thd,cd->thc", q.double(), rows.double()).relu_()
    return (dots * weights.double()[:, :, None]).sum(dim=1)


def select_rows(scores: torch.Tensor, top: int) -> torch.Tensor:
    """Ids of the `top` largest of one token's visible scores, ascending; a stable sort gives ties to the lower id."""
    return torch.sort(scores, descending=True, stable=True).indices[:top].sort().values.int()


def _mixing_logits(streams: torch.Tensor, mixer: MixerWeights) -> torch.Tensor:
    v = streams.double().flatten(1)
    return (v @ mixer.fn.double().T) / (v.square().mean(dim=1, keepdim=True) + mixer.rms_eps).sqrt()


def _norm(x: torch.Tensor, mixer: MixerWeights) -> torch.Tensor:
    if mixer.norm is None:
        return x
    return x / (x.square().mean(dim=1, keepdim=True) + mixer.rms_eps).sqrt() * mixer.norm.double()


def hc_mix(streams: torch.Tensor, mixer: MixerWeights) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x [N, D], post [N, 4], comb [N, 4, 4], all float64: specification section 2, with every Sinkhorn pass."""
    m, scale, base = _mixing_logits(streams, mixer), mixer.scale.double(), mixer.base.double()
    pre = torch.sigmoid(scale[0] * m[:, :4] + base[:4]) + mixer.hc_eps
    post = 2 * torch.sigmoid(scale[1] * m[:, 4:8] + base[4:8])
    comb = (scale[2] * m[:, 8:] + base[8:]).view(-1, 4, 4).softmax(dim=2) + mixer.hc_eps
    comb = comb / (comb.sum(dim=1, keepdim=True) + mixer.hc_eps)
    for _ in range(mixer.iterations - 1):
        comb = comb / (comb.sum(dim=2, keepdim=True) + mixer.hc_eps)
        comb = comb / (comb.sum(dim=1, keepdim=True) + mixer.hc_eps)
    return _norm((pre[:, :, None] * streams.double()).sum(dim=1), mixer), post, comb


def hc_expand(streams: torch.Tensor, y: torch.Tensor, post: torch.Tensor, comb: torch.Tensor) -> torch.Tensor:
    """[N, 4, D] float64: the sum runs over the first index of comb."""
    carried = torch.einsum("tjk,tjd->tkd", comb.double(), streams.double())
    return carried + post.double()[:, :, None] * y.double()[:, None, :]


def hc_head(streams: torch.Tensor, mixer: MixerWeights) -> torch.Tensor:
    """[N, D] float64: the final collapse."""
    weights = torch.sigmoid(mixer.scale.double() * _mixing_logits(streams, mixer) + mixer.base.double()) + mixer.hc_eps
    return _norm((weights[:, :, None] * streams.double()).sum(dim=1), mixer)
