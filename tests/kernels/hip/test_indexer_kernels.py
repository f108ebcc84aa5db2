"""Indexer scores in both matrix layouts against float64, and the exact selector against sorting."""

import pytest
import torch

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops import indexer
from kernels.ops.indexer import IndexerShape, TokenRange
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

FLASH, SMALL = IndexerShape(64, 128, 512), IndexerShape(8, 32, 128)
EMPTY = -1e30


def span(position: int, first: int, tokens: int, ratio: int = 4) -> TokenRange:
    start = torch.tensor([position], dtype=torch.int32)
    return TokenRange(start, position, first, tokens, (position + first + tokens) // ratio, ratio)


def visible(where: TokenRange) -> torch.Tensor:
    """bool [T, stored] from the definition: a row is seen once its last source token exists."""
    position = where.position + where.first + torch.arange(where.tokens)[:, None]
    return where.ratio * torch.arange(where.stored)[None] + where.ratio - 1 <= position


def inputs(random: torch.Generator, shape: IndexerShape, where: TokenRange) -> tuple[torch.Tensor, ...]:
    queries = torch.randn(where.tokens, shape.heads, shape.width, generator=random).half()
    rows = torch.randn(where.stored, shape.width, generator=random).half()
    return queries, torch.randn(where.tokens, shape.heads, generator=random), rows


def reference(queries: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, where: TokenRange) -> torch.Tensor:
    dots = torch.einsum("thw,cw->thc", queries.double(), rows.double()).clamp_min(0)
    scores = torch.einsum("th,thc->tc", weights.double(), dots)
    return scores.masked_fill(~visible(where), EMPTY)


@pytest.mark.parametrize(
    ("shape", "position", "first", "tokens"),
    [
        (SMALL, 1100, 3, 19),
        (SMALL, 0, 5, 40),
        (SMALL, 1200, 0, 1),
        (SMALL, 700, 2, 7),
        (FLASH, 1040, 0, 9),
        (FLASH, 300, 1, 2),
    ],
    ids=str,
)
def test_scores_match_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    shape: IndexerShape,
    position: int,
    first: int,
    tokens: int,
) -> None:
    where = span(position, first, tokens)
    queries, weights, rows = inputs(random, shape, where)

    def run() -> torch.Tensor:
        scores = buffers.new(tokens, where.stored + 5)
        indexer.score(matrix_launcher, shape, queries, weights, rows, scores, where)
        return scores

    found = replay(matrix_launcher, run)
    seen = visible(where)
    wanted = reference(queries, weights, rows, where)
    assert nmse(found[:, : where.stored][seen], wanted[seen]) <= 1e-10
    assert bool((found[:, : where.stored][~seen] == EMPTY).all())
    assert bool(found[:, where.stored :].isnan().all())  # columns that belong to nobody keep their poison


def test_one_token_scores_as_it_does_among_many(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """Decode and prefill use different kernels; the bits must be the same, or they would select different rows."""
    where = span(600, 0, 16)
    queries, weights, rows = inputs(random, SMALL, where)
    many = buffers.new(16, where.stored)
    indexer.score(matrix_launcher, SMALL, queries, weights, rows, many, where)
    for t in (0, 7, 15):
        alone = buffers.new(1, where.stored)
        one = TokenRange(where.start, 600, t, 1, where.stored, 4)
        part = slice(t, t + 1)
        indexer.score(matrix_launcher, SMALL, queries[part], weights[part], rows, alone, one)
        assert torch.equal(alone[0], many[t])


def choose(
    launcher: Launcher, buffers: GuardedBuffers, shape: IndexerShape, scores: torch.Tensor, where: TokenRange
) -> tuple[torch.Tensor, torch.Tensor]:
    ids, counts = (
        buffers.new(where.tokens, shape.top_k, dtype=torch.int32),
        buffers.new(where.tokens, dtype=torch.int32),
    )
    indexer.select(launcher, shape, scores, ids, counts, where)
    return ids, counts


def best(scores: torch.Tensor, seen: torch.Tensor, top_k: int) -> list[list[int]]:
    """Sorting by (score descending, row ascending), in Python."""
    lists = []
    for row, mask in zip(scores.tolist(), seen.tolist(), strict=True):
        candidates = [c for c, shown in enumerate(mask) if shown]
        lists.append(sorted(sorted(candidates, key=lambda c, row=row: (-row[c], c))[:top_k]))
    return lists


@pytest.mark.parametrize("kind", ["spread", "tied", "signed zeros", "equal", "huge"])
def test_selection_is_exact_and_ties_go_to_the_lower_row(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: str
) -> None:
    where = span(1500, 1, 5)
    scores = torch.randn(where.tokens, where.stored + 3, generator=random)
    if kind == "tied":
        scores = (scores * 2).round()
    elif kind == "signed zeros":
        scores = torch.where(scores > 1.5, scores, torch.where(scores > 0, 0.0, -0.0))
    elif kind == "equal":
        scores.fill_(-2.5)
    elif kind == "huge":
        scores = scores * 10.0 ** torch.randint(-30, 30, scores.shape, generator=random)
    ids, counts = replay(launcher, lambda: choose(launcher, buffers, SMALL, scores, where))
    assert ids.tolist() == best(scores, visible(where), 128)
    assert counts.tolist() == [128] * where.tokens


@pytest.mark.parametrize(("position", "tokens"), [(17_000, 1), (5_300, 9)])
def test_rows_of_several_segments(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, position: int, tokens: int
) -> None:
    """More rows than a workgroup holds in registers, few tokens and many; ties lie across the segments' ends."""
    where = span(position, 0, tokens)
    scores = (torch.randn(tokens, where.stored, generator=random) * 3).round()
    ids, counts = choose(launcher, buffers, FLASH, scores, where)
    assert ids.tolist() == best(scores, visible(where), 512)
    assert counts.tolist() == [512] * tokens


def test_few_visible_rows_are_all_selected(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    where = span(505, 0, 9)  # 126 to 128 rows are visible: at the edge of the selection
    scores = torch.randn(where.tokens, where.stored, generator=random)
    ids, counts = choose(launcher, buffers, SMALL, scores, where)
    shown = visible(where).sum(dim=1)
    assert torch.equal(counts.long(), shown)
    for t, count in enumerate(shown.tolist()):
        assert ids[t].tolist() == [*range(count), *[-1] * (128 - count)]


def test_flash_selection_matches_sorting(launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator) -> None:
    where = span(2600, 0, 1)
    scores = torch.randn(1, where.stored, generator=random)
    ids, _ = choose(launcher, buffers, FLASH, scores, where)
    assert ids.tolist() == best(scores, visible(where), 512)


def test_foreign_ids_are_cleaned_and_ordered(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """Out of range, unsorted, repeated: what remains is visible, ascending and unique."""
    where = span(60000, 2, 4)
    ids = torch.randint(-5, where.stored + 50, (4, 128), generator=random, dtype=torch.int32)
    ids[1, 5:60] = ids[1, 5]
    ids[2] = -1
    out, counts = buffers.new(4, 128, dtype=torch.int32), buffers.new(4, dtype=torch.int32)
    indexer.order(launcher, SMALL, ids, out, counts, where)
    for t, seen in enumerate(visible(where).sum(dim=1).tolist()):
        wanted = sorted({i for i in ids[t].tolist() if 0 <= i < seen})
        assert out[t].tolist() == [*wanted, *[-1] * (128 - len(wanted))]
        assert int(counts[t]) == len(wanted)
    indexer.order(launcher, SMALL, ids, ids, counts, where)
    assert torch.equal(ids, out)


def test_scores_too_narrow_are_refused(launcher: Launcher) -> None:
    where = span(1500, 0, 1)
    ids, counts = torch.zeros(1, 128, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with pytest.raises(KernelArgumentError, match="columns"):
        indexer.select(launcher, SMALL, torch.zeros(1, where.stored - 1), ids, counts, where)
