"""The CPU kernels as methods on torch tensors: what engine/backends calls in place of the torch operations.

Every method checks its tensors (ValueError names the offending one), then computes on the library's worker pool without
the GIL. Results do not depend on the number of threads nor on how the tokens are grouped into calls. Sources of the
formulas: the DS4 specification sections 2 to 4, restated in docs and in the C++ headers.
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import torch

from kernels.cpu import arguments as args
from kernels.cpu.library import Library


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


class NativeCpu:
    """The kernels of one opened library. Safe to call from several threads; calls then run one after the other."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.variant, self.reason, self.threads = library.variant, library.reason, library.threads

    def _call(self, name: str, record: ctypes.Structure) -> None:
        run = self.library.function(name, [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int64)
        if run(self.library.pool, ctypes.addressof(record)):
            raise MemoryError(f"{name} could not allocate its scratch memory")

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
        self._call("hb_attend", record)
        return result
