"""Attention and row selection of the native CPU kernels, as methods on torch tensors.

Part of NativeCpu (kernels/cpu/native.py). Formulas: DS4 specification 3.3 and 3.6; row order and visibility:
banded prefill 4.1 and 6.4, restated in attention.h and select.h.
"""

from dataclasses import dataclass

import torch

from kernels.cpu import arguments as args
from kernels.cpu.caller import Caller


@dataclass(frozen=True, slots=True)
class AttentionSpan:
    """Where the queries of one call stand: `start` is the absolute position of the first one, `prior` the number of raw
    rows before it, `window` how many raw rows a query sees (itself included), `ratio` tokens per compressed row (0: no
    compressed rows).
    """

    start: int
    prior: int
    window: int
    ratio: int

    def __post_init__(self) -> None:
        if self.start < 0 or self.prior < 0 or self.window < 1 or self.ratio < 0:
            raise ValueError(f"no such span of queries: {self}")


class AttentionKernels(Caller):
    """Attention over raw and compressed rows, and the indexer's choice of compressed rows."""

    def attend(
        self,
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
        out: torch.Tensor | None = None,
        out_dtype: torch.dtype = torch.float32,
    ) -> torch.Tensor:
        """Attention of consecutive queries over raw rows and compressed rows, which are keys and values at once.

        q [T, H, d] float32 or bfloat16 as projected (normed per head and rotated in here), raw [prior + T, d] and
        compressed [C, d] both float32 or both float16, cosine and sine float32 [T, pairs], sinks float32 [H]. Query t
        sees raw rows max(0, prior + t - window + 1) .. prior + t and the compressed rows below
        (start + t + 1) // ratio; with ids int32 [T, K] and counts int32 [T], only those listed. d is a multiple of 16.
        Returns [T, H * d] in `out_dtype` (float32 or bfloat16), rotated back. Raises ValueError.
        """
        args.check("q", q, args.ACTIVATIONS, (None, None, None))
        tokens, heads, width = q.shape
        args.require(tokens > 0 and heads > 0, "attention needs at least one query and one head")
        args.require(width > 0 and width % 16 == 0, f"a head width of {width} is no multiple of 16")
        args.check("raw", raw, args.ROWS, (span.prior + tokens, width))
        args.check("cosine", cosine, args.FLOATS, (tokens, None))
        pairs = cosine.shape[1]
        args.check("sine", sine, args.FLOATS, (tokens, pairs))
        args.require(2 * pairs <= width, f"{pairs} rotary pairs do not fit a head of {width}")
        args.check("sinks", sinks, args.FLOATS, (heads,))
        args.require(span.ratio == 0 or compressed is not None, "a compressed layer needs its compressed rows")
        if compressed is not None:
            args.check("compressed", compressed, (raw.dtype,), (None, width))
        args.require((ids is None) == (counts is None), "ids and counts come together")
        if ids is not None and counts is not None:
            args.check("ids", ids, (torch.int32,), (tokens, None))
            args.check("counts", counts, (torch.int32,), (tokens,))
        args.require(out_dtype in args.ACTIVATIONS, f"attention cannot write {out_dtype}")
        result = args.output("out", out, out_dtype, (tokens, heads * width))
        record = args.HbAttend(
            args.pointer(q), args.FORMATS[q.dtype], args.pointer(cosine), args.pointer(sine), args.pointer(sinks),
            args.pointer(raw), args.pointer(compressed), args.FORMATS[raw.dtype], args.pointer(ids),
            args.pointer(counts), 0 if ids is None else ids.shape[1], args.pointer(result), args.FORMATS[out_dtype],
            tokens, heads, width, pairs, span.start, span.prior, span.window, span.ratio,
            0 if compressed is None else compressed.shape[0], eps,
        )  # fmt: skip
        self.call("hb_attend", record)
        return result

    def select(
        self, q: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, *, start: int, ratio: int, top: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The `top` best visible rows of consecutive tokens by the indexer's score, ties to the lower row.

        q float32 [T, Hi, di] rotated and rounded, weights float32 [T, Hi] with their constant factors, rows [C, di]
        float32 or float16; di is a multiple of 16. Token t sees the rows below min(C, (start + t + 1) // ratio); if
        these are at most `top` it gets them all. Returns ids int32 [T, top], ascending, -1 past the token's count, and
        counts int32 [T]. A score that is not a number counts as the lowest. Raises ValueError.
        """
        args.check("q", q, args.FLOATS, (None, None, None))
        tokens, heads, width = q.shape
        args.require(tokens > 0 and heads > 0, "selection needs at least one token and one head")
        args.require(width > 0 and width % 16 == 0, f"an index width of {width} is no multiple of 16")
        args.check("weights", weights, args.FLOATS, (tokens, heads))
        args.check("rows", rows, args.ROWS, (None, width))
        args.require(start >= 0 and ratio >= 1 and top >= 1, f"no selection of {top} rows at {start}, ratio {ratio}")
        args.require(rows.shape[0] < 2**31, "row ids are 32-bit")
        ids, counts = torch.empty(tokens, top, dtype=torch.int32), torch.empty(tokens, dtype=torch.int32)
        record = args.HbSelect(
            q.data_ptr(), weights.data_ptr(), rows.data_ptr(), args.FORMATS[rows.dtype], ids.data_ptr(),
            counts.data_ptr(), tokens, heads, width, rows.shape[0], start, ratio, top,
        )  # fmt: skip
        self.call("hb_select", record)
        return ids, counts
