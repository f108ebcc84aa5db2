"""One token of a DS4 model in float64, written from the specification (sections 2 to 5) and nothing else.

The state before the token is taken from the program under test, so that errors do not build up and a token is judged
alone. A row the token stores is returned for comparison; attention then uses the stored one, since rounding may put two
equally right answers on either side of a tie. `margin` is the smallest gap of any choice (experts, rows) that was made.
"""

import math
from dataclasses import dataclass, field

import torch

from kernels.cpu.decode_weights import LayerRows, RowRounding
from tests.kernels.cpu.decode_models import DecodeCase
from tests.kernels.cpu.decode_random import OVERLAP, Shape, Tensors, frequencies

Rows = dict[tuple[int, str], torch.Tensor]


def rms(x: torch.Tensor, eps: float) -> torch.Tensor:
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


def rope(x: torch.Tensor, position: int, freqs: torch.Tensor, sign: float = 1.0) -> torch.Tensor:
    """Rotate the adjacent pairs of the last channels of x [..., d]."""
    angle = position * freqs
    cos, sin = angle.cos(), sign * angle.sin()
    out = x.clone()
    tail = out[..., x.shape[-1] - 2 * len(freqs) :]
    a, b = tail[..., 0::2].clone(), tail[..., 1::2].clone()
    tail[..., 0::2], tail[..., 1::2] = a * cos - b * sin, a * sin + b * cos
    return out


def power_scale(block: torch.Tensor, floor: float, top: float) -> float:
    return 2.0 ** math.ceil(math.log2(max(float(block.abs().max()), floor) / top))


def round_e4m3(x: torch.Tensor) -> torch.Tensor:
    out = []
    for block in x.split(64):
        scale = power_scale(block, 1e-4, 448.0)
        out.append((block / scale).clamp(-448, 448).float().to(torch.float8_e4m3fn).double() * scale)
    return torch.cat(out)


def round_e2m1(x: torch.Tensor) -> torch.Tensor:
    levels = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
    out = []
    for block in x.split(32):
        scale = power_scale(block, 6 * 2.0**-126, 6.0)
        away = ((block / scale).abs()[:, None] - levels).abs()
        # Even codes first among equally near ones.
        order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
        code = order[away[:, order].argmin(dim=1)]
        out.append(torch.copysign(levels[code], block) * scale)
    return torch.cat(out)


def hadamard(x: torch.Tensor) -> torch.Tensor:
    matrix = torch.ones(1, 1, dtype=torch.float64)
    while matrix.shape[0] < x.shape[-1]:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return x @ matrix / math.sqrt(x.shape[-1])


def compared(row: torch.Tensor, rounding: RowRounding) -> torch.Tensor:
    """An indexer row or query [di] as it enters the score."""
    return round_e2m1(hadamard(row)) if rounding is RowRounding.E4M3 else row


def stored_row(row: torch.Tensor, rope_dim: int, rounding: RowRounding) -> torch.Tensor:
    if rounding is RowRounding.E4M3:
        body = len(row) - rope_dim
        row = torch.cat([round_e4m3(row[:body]), row[body:]])
    return row.to(rounding.dtype).double()


@dataclass(slots=True)
class Expected:
    """The answer for one token: logits [vocab], and under (layer, field) what the state's written parts should hold."""

    logits: torch.Tensor
    margin: float
    written: Rows = field(default_factory=dict)


class TokenReference:
    """The model of a case, computed token by token."""

    def __init__(self, case: DecodeCase) -> None:
        self.shape: Shape = case.shape
        self.w: Tensors = {n: (v if n.endswith("tid2eid") else v.double()) for n, v in case.weights.items()}
        self.plain = frequencies(self.shape, 10000.0, yarn=False)
        self.compressed = frequencies(self.shape, 160000.0, yarn=True)

    def run(
        self, token: int, position: int, before: list[LayerRows], after: list[LayerRows],
        rounding: RowRounding, selects: bool,
    ) -> Expected:  # fmt: skip
        """`before` and `after` are the program's states around the token; only stored rows are read from `after`."""
        s = self.shape
        found = Expected(torch.empty(0), math.inf)
        streams = self.w["embed.weight"][token].repeat(4, 1)
        for index, ratio in enumerate(s.ratios):
            layer = f"layers.{index}"
            x, post, a = self._mix(streams, f"{layer}.hc_attn", f"{layer}.attn_norm.weight")
            run = _Attention(self, index, ratio, position, rounding, before[index], after[index], found)
            y = run.output(x, selects)
            streams = post[:, None] * y + a.T @ streams
            x, post, a = self._mix(streams, f"{layer}.hc_ffn", f"{layer}.ffn_norm.weight")
            y = self._experts(x, token, f"{layer}.ffn", index < s.hash_layers, found)
            streams = post[:, None] * y + a.T @ streams
        v = streams.flatten()
        m = self.w["hc_head_fn"] @ v / (v.square().mean() + s.eps).sqrt()
        pre = torch.sigmoid(self.w["hc_head_scale"] * m + self.w["hc_head_base"]) + s.eps
        found.logits = self.w["head.weight"] @ (rms(pre @ streams, s.eps) * self.w["norm.weight"])
        return found

    def _mix(self, streams: torch.Tensor, name: str, norm: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        s, v = self.shape, streams.flatten()
        m = self.w[f"{name}_fn"] @ v / (v.square().mean() + s.eps).sqrt()
        scale, base = self.w[f"{name}_scale"], self.w[f"{name}_base"]
        pre = torch.sigmoid(scale[0] * m[:4] + base[:4]) + s.eps
        post = 2 * torch.sigmoid(scale[1] * m[4:8] + base[4:8])
        a = (scale[2] * m[8:] + base[8:]).view(4, 4).softmax(dim=1) + s.eps
        a = a / (a.sum(dim=0, keepdim=True) + s.eps)
        for _ in range(s.iterations - 1):
            a = a / (a.sum(dim=1, keepdim=True) + s.eps)
            a = a / (a.sum(dim=0, keepdim=True) + s.eps)
        return rms(pre @ streams, s.eps) * self.w[norm], post, a

    def _experts(self, x: torch.Tensor, token: int, name: str, hashed: bool, found: Expected) -> torch.Tensor:
        s, w = self.shape, self.w
        c = torch.nn.functional.softplus(w[f"{name}.gate.weight"] @ x).sqrt()
        if hashed:
            chosen = w[f"{name}.gate.tid2eid"][token].tolist()
        else:
            ranked, order = (c + w[f"{name}.gate.bias"]).sort(descending=True, stable=True)
            chosen = order[: s.used].tolist()
            if s.used < s.experts:
                found.margin = min(found.margin, float(ranked[s.used - 1] - ranked[s.used]))
        weight = c[chosen] / c[chosen].sum() * s.expert_scale
        y = self._expert(x, f"{name}.shared_experts")
        for slot, expert in enumerate(chosen):
            y = y + weight[slot] * self._expert(x, f"{name}.experts.{expert}")
        return y

    def _expert(self, x: torch.Tensor, name: str) -> torch.Tensor:
        gate, up = self.w[f"{name}.w1.weight"] @ x, self.w[f"{name}.w3.weight"] @ x
        gate, up = gate.clamp(max=self.shape.limit), up.clamp(-self.shape.limit, self.shape.limit)
        return self.w[f"{name}.w2.weight"] @ (torch.nn.functional.silu(gate) * up)


@dataclass(slots=True)
class _Attention:
    """The attention sublayer of one layer at one position."""

    model: TokenReference
    index: int
    ratio: int
    position: int
    rounding: RowRounding
    before: LayerRows
    after: LayerRows
    found: Expected

    def weight(self, name: str) -> torch.Tensor:
        return self.model.w[f"layers.{self.index}.attn.{name}"]

    def output(self, x: torch.Tensor, selects: bool) -> torch.Tensor:
        s, p = self.model.shape, self.position
        freqs = self.model.compressed if self.ratio else self.model.plain
        qa = rms(self.weight("wq_a.weight") @ x, s.eps) * self.weight("q_norm.weight")
        q = rope(rms((self.weight("wq_b.weight") @ qa).view(s.heads, s.head_dim), s.eps), p, freqs)
        kv = rope(rms(self.weight("wkv.weight") @ x, s.eps) * self.weight("kv_norm.weight"), p, freqs)
        self.found.written[self.index, "ring"] = stored_row(kv, s.rope_dim, self.rounding)
        keys = [self.after.ring[q_pos % s.window] for q_pos in range(max(0, p - s.window + 1), p + 1)]
        if self.ratio:
            keys += self._compressed_rows(x, qa, selects)
        k = torch.stack(keys).double()
        logits = q @ k.T / math.sqrt(s.head_dim)
        weights = torch.cat([logits, self.weight("attn_sink")[:, None]], dim=1).softmax(dim=1)[:, :-1]
        o = rope(weights @ k, p, freqs, sign=-1.0).view(s.groups, -1)
        u = torch.einsum("gri,gi->gr", self.weight("wo_a.weight").view(s.groups, s.out_rank, -1), o)
        return self.weight("wo_b.weight") @ u.flatten()

    def _compressed_rows(self, x: torch.Tensor, qa: torch.Tensor, selects: bool) -> list[torch.Tensor]:
        s, visible = self.model.shape, (self.position + 1) // self.ratio
        row = self._compress(x, "compressor", "values", "scores")
        if row is not None:
            self.found.written[self.index, "rows"] = stored_row(row, s.rope_dim, self.rounding)
        chosen = list(range(visible))
        if self.ratio == OVERLAP:
            row = self._compress(x, "indexer.compressor", "index_values", "index_scores")
            if row is not None:
                self.found.written[self.index, "index_rows"] = compared(row, self.rounding).to(self.rounding.dtype)
            if selects and visible > s.top_k:
                chosen = self._select(x, qa, visible)
        assert self.after.rows is not None
        return [self.after.rows[i] for i in chosen]

    def _compress(self, x: torch.Tensor, name: str, values: str, scores: str) -> torch.Tensor | None:
        """Keep the token; the row of a window that ends here, normed and rotated but not rounded."""
        s, r, p = self.model.shape, self.ratio, self.position
        v: torch.Tensor = getattr(self.before, values).double()
        g: torch.Tensor = getattr(self.before, scores).double()
        slot = r + p % r if r == OVERLAP else p % r
        v[slot] = self.weight(f"{name}.wkv.weight") @ x
        g[slot] = self.weight(f"{name}.wgate.weight") @ x + self.weight(f"{name}.ape")[p % r]
        pooled = None
        if (p + 1) % r == 0:
            if r == OVERLAP:
                width = v.shape[1] // 2
                first = 0 if p + 1 > r else r  # before the second window the other lane has no entries at all
                entries = torch.cat([v[:r, :width], v[r:, width:]])[first:]
                gates = torch.cat([g[:r, :width], g[r:, width:]])[first:]
                v[:r], g[:r] = v[r:].clone(), g[r:].clone()
            else:
                entries, gates = v, g
            pooled = (gates.softmax(dim=0) * entries).sum(dim=0)
            pooled = rope(rms(pooled, s.eps) * self.weight(f"{name}.norm.weight"), p + 1 - r, self.model.compressed)
        self.found.written[self.index, values], self.found.written[self.index, scores] = v, g
        return pooled

    def _select(self, x: torch.Tensor, qa: torch.Tensor, visible: int) -> list[int]:
        s = self.model.shape
        iq = (self.weight("indexer.wq_b.weight") @ qa).view(s.index_heads, s.index_dim)
        iq = torch.stack([compared(q, self.rounding) for q in rope(iq, self.position, self.model.compressed)])
        w = self.weight("indexer.weights_proj.weight") @ x / math.sqrt(s.index_dim * s.index_heads)
        assert self.after.index_rows is not None
        scores = w @ (iq @ self.after.index_rows[:visible].double().T).relu()
        ranked, order = scores.sort(descending=True, stable=True)
        self.found.margin = min(self.found.margin, float(ranked[s.top_k - 1] - ranked[s.top_k]))
        return sorted(order[: s.top_k].tolist())
