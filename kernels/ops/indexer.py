"""The indexer: scores of compressed rows and the exact choice of the best (device/index_*, select_ and order_rows)."""

from dataclasses import dataclass

import torch

from kernels.launch import Launcher
from kernels.ops.checks import require, require_rows, require_shape
from kernels.source import KernelSource

TOKENS_A_GROUP, ROWS_A_GROUP = 16, 256
ROWS_A_GROUP_ONE = 64
# From this many tokens on, 16 of them share a product; below, each token's heads do. A choice has more threads below.
_FEW_TOKENS = 8
_BITMAP_ROWS = 65536


@dataclass(frozen=True, slots=True)
class IndexerShape:
    """Heads and channels of the indexer, and how many rows a token may use."""

    heads: int
    width: int
    top_k: int

    @property
    def lds_bytes(self) -> int:
        """What a workgroup holds for a single token's scores: rows and all heads' queries in F16, weights, products."""
        padded = -(-self.heads // 16) * 16
        return (ROWS_A_GROUP_ONE + padded) * (self.width + 8) * 2 + padded * 4 + ROWS_A_GROUP_ONE * 17 * 4

    def scores_source(self) -> KernelSource:
        return KernelSource("index_scores", "index_scores", (("HEADS", self.heads), ("WIDTH", self.width)), 256)

    def single_scores_source(self) -> KernelSource:
        defines = (("HEADS", self.heads), ("WIDTH", self.width))
        return KernelSource("index_scores_one", "index_scores_one", defines, 128)

    def select_source(self, few: bool) -> KernelSource:
        """`few`: for few tokens, each of which has a compute unit for itself. The choice is the same."""
        threads = 1024 if few else 256
        return KernelSource("select_rows", "select_rows", (("TOP", self.top_k), ("THREADS", threads)), threads)

    def order_source(self) -> KernelSource:
        return KernelSource("order_rows", "order_rows", (("TOP", self.top_k), ("MAX_ROWS", _BITMAP_ROWS)), 256)


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Consecutive tokens of a step: the step's position (also on the device, in `start`), the first token and how many.

    `stored` compressed rows exist; token t sees those below (position + first + t + 1) // ratio.
    """

    start: torch.Tensor
    position: int
    first: int
    tokens: int
    stored: int
    ratio: int


def score(
    launcher: Launcher,
    shape: IndexerShape,
    queries: torch.Tensor,
    head_weights: torch.Tensor,
    rows: torch.Tensor,
    scores: torch.Tensor,
    span: TokenRange,
) -> None:
    """queries F16 [T, heads, width] and rows F16 [stored, width] as stored, head_weights float32 [T, heads].

    Writes columns 0 .. stored - 1 of scores float32 [T, >= stored]; rows a token does not see get -1e30.
    """
    require_shape("queries", queries, span.tokens, shape.heads, shape.width)
    require_shape("head_weights", head_weights, span.tokens, shape.heads)
    require_rows("rows", rows, span.stored, shape.width)
    _require_scores(scores, span)
    single = span.tokens < _FEW_TOKENS
    arguments = {"queries": queries, "head_weights": head_weights, "rows": rows, "scores": scores, **_range(span)}
    if single:
        grid = (-(-span.stored // ROWS_A_GROUP_ONE), span.tokens, 1)
        launcher.kernel(shape.single_scores_source())(grid, **arguments, score_stride=scores.shape[1])
    else:
        grid = (-(-span.stored // ROWS_A_GROUP), -(-span.tokens // TOKENS_A_GROUP), 1)
        launcher.kernel(shape.scores_source())(grid, **arguments, tokens=span.tokens, score_stride=scores.shape[1])


def select(
    launcher: Launcher,
    shape: IndexerShape,
    scores: torch.Tensor,
    ids: torch.Tensor,
    counts: torch.Tensor,
    span: TokenRange,
) -> None:
    """The top_k visible rows of each token by score, ascending; of equal scores the lower row wins.

    ids int32 [T, top_k], counts int32 [T]; entries past a count are -1.
    """
    _require_scores(scores, span)
    _require_ids(shape, ids, counts, span)
    launcher.kernel(shape.select_source(span.tokens < _FEW_TOKENS))(
        (span.tokens, 1, 1), scores=scores, ids=ids, counts=counts, **_range(span), score_stride=scores.shape[1]
    )


def order(
    launcher: Launcher,
    shape: IndexerShape,
    ids: torch.Tensor,
    out: torch.Tensor,
    counts: torch.Tensor,
    span: TokenRange,
) -> None:
    """Ids of any origin to what attention takes: visible ones, ascending, each once. out may be ids."""
    require_shape("ids", ids, span.tokens, shape.top_k)
    _require_ids(shape, out, counts, span)
    require(span.stored <= _BITMAP_ROWS, f"{span.stored} rows exceed the bitmap of {_BITMAP_ROWS}")
    launcher.kernel(shape.order_source())((span.tokens, 1, 1), ids=ids, sorted=out, counts=counts, **_range(span))


def _range(span: TokenRange) -> dict[str, torch.Tensor | int]:
    return {"start": span.start, "first_token": span.first, "stored": span.stored, "ratio": span.ratio}


def _require_scores(scores: torch.Tensor, span: TokenRange) -> None:
    require_shape("scores", scores, span.tokens, None)
    require(scores.shape[1] >= span.stored, f"scores have {scores.shape[1]} columns for {span.stored} rows")
    require(
        (span.position + span.first + span.tokens) // span.ratio <= span.stored, "a token sees rows beyond the store"
    )


def _require_ids(shape: IndexerShape, ids: torch.Tensor, counts: torch.Tensor, span: TokenRange) -> None:
    require_shape("ids", ids, span.tokens, shape.top_k)
    require_shape("counts", counts, span.tokens)
