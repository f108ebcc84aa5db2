"""Visibility: the closed forms of engine.plan against the definition, evaluated row by row.

The definition (banded prefill 2.1 and 2.2): a query at position p sees the raw rows of positions p-W+1 .. p that exist,
and compressed row c once its last source token r*c + r - 1 is not after p.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.plan import RAW_WINDOW, Visibility

LONGEST_STEP = 700
RATIOS = (0, 2, 4, 8, 128)
WINDOWS = (8, RAW_WINDOW)


def edge_starts(window: int) -> tuple[int, ...]:
    return (0, 1, 3, 4, 5, window - 1, window, window + 1)


def check_raw_rows(view: Visibility) -> None:
    """The inclusive bounds name exactly the raw rows that the definition makes visible."""
    rows = np.arange(view.prior + view.tokens, dtype=np.int32)
    row_positions = view.start - view.prior + rows
    queries = view.start + np.arange(view.tokens, dtype=np.int32)[:, None]
    by_definition = (row_positions <= queries) & (row_positions > queries - view.window)
    first = np.array([view.raw_first(t) for t in range(view.tokens)])[:, None]
    last = np.array([view.raw_last(t) for t in range(view.tokens)])[:, None]
    assert np.array_equal((rows >= first) & (rows <= last), by_definition)
    assert first.min() >= 0 and last.max() < rows.size, "bounds address rows that exist"
    # A position before the row space that a query should see would be missing on both sides above: count them too.
    assert np.array_equal(by_definition.sum(1), np.minimum(queries[:, 0] + 1, view.window))


def check_compressed_rows(view: Visibility) -> None:
    """V(t), the row count C and the compressed bounds against the last source token of every row."""
    queries = view.start + np.arange(view.tokens, dtype=np.int32)[:, None]
    visible = np.array([view.visible(t) for t in range(view.tokens)])
    if view.ratio == 0:
        assert view.compressed == 0 and not visible.any()
        return
    rows = np.arange((view.start + view.tokens) // view.ratio + 2)  # two rows more than can exist
    closed_by = view.ratio * rows + view.ratio - 1
    assert view.compressed == np.count_nonzero(closed_by < view.start + view.tokens)
    by_definition = closed_by <= queries
    assert np.array_equal(rows < visible[:, None], by_definition)
    assert visible.max() <= view.compressed
    base = view.prior + view.tokens
    assert {view.compressed_first(t) for t in range(view.tokens)} == {base}
    last = np.array([view.compressed_last(t) for t in range(view.tokens)])
    assert np.array_equal(last - base + 1, by_definition.sum(1))


@pytest.mark.parametrize(("window", "start"), [(w, s) for w in WINDOWS for s in edge_starts(w)])
def test_raw_bounds_equal_the_definition_for_every_step_length(window: int, start: int) -> None:
    for tokens in range(1, LONGEST_STEP + 1):
        check_raw_rows(Visibility(start, tokens, ratio=0, window=window))


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("start", sorted({s for w in WINDOWS for s in edge_starts(w)}))
def test_compressed_bounds_equal_the_definition_for_every_step_length(ratio: int, start: int) -> None:
    for tokens in range(1, LONGEST_STEP + 1):
        check_compressed_rows(Visibility(start, tokens, ratio))


@given(
    start=st.integers(0, 1 << 20),
    tokens=st.integers(1, LONGEST_STEP),
    ratio=st.sampled_from(RATIOS),
    window=st.sampled_from(WINDOWS),
)
def test_bounds_equal_the_definition_at_any_start(start: int, tokens: int, ratio: int, window: int) -> None:
    check_raw_rows(Visibility(start, tokens, ratio, window))
    # Rows of an old prefix are visible to all; moving the start down by whole windows must move V(t) by as many rows.
    nearby = start % (ratio or 1) + 2 * ratio
    check_compressed_rows(Visibility(nearby, tokens, ratio, window))
    here, near = Visibility(start, tokens, ratio, window), Visibility(nearby, tokens, ratio, window)
    moved = (start - nearby) // ratio if ratio else 0
    assert here.compressed - near.compressed == moved
    assert all(here.visible(t) - near.visible(t) == moved for t in range(tokens))


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("top_k", [1, 2, 16, 128, 512])
def test_first_scored_token_is_the_first_with_more_rows_than_the_selection(ratio: int, top_k: int) -> None:
    threshold = ratio * (top_k + 1) - 1  # of a token's position, from the definition: row top_k exists from here on
    starts = {0, 1, 3, 4, 5, 127, 128, 129} | {
        max(0, threshold + d) for d in (-701, -700, -699, -5, -1, 0, 1, 5, 10_000)
    }
    for start in starts:
        for tokens in (1, 2, 3, 4, 5, 127, 128, 129, LONGEST_STEP):
            view = Visibility(start, tokens, ratio)
            scored = [t for t in range(tokens) if view.visible(t) > top_k]
            assert view.first_scored(top_k) == (scored[0] if scored else tokens)
            assert scored == list(range(view.first_scored(top_k), tokens)), "scoring starts once and goes on"


@given(
    start=st.integers(0, 6000),
    tokens=st.integers(1, LONGEST_STEP),
    ratio=st.sampled_from(RATIOS),
    k=st.integers(1, 600),
)
def test_first_scored_token_anywhere(start: int, tokens: int, ratio: int, k: int) -> None:
    view = Visibility(start, tokens, ratio)
    scored = (t for t in range(tokens) if view.visible(t) > k)
    assert view.first_scored(k) == next(scored, tokens)


def test_the_public_threshold() -> None:
    """Section 4.2: with K = 512 and S = 0 the first token that needs scores is 2,051; past the threshold it is 0."""
    assert Visibility(0, 9133, 4).first_scored(512) == 2051
    assert Visibility(2050, 10, 4).first_scored(512) == 1
    assert Visibility(2051, 10, 4).first_scored(512) == 0
    assert Visibility(123_000, 1, 4).first_scored(512) == 0
    assert Visibility(0, 2051, 4).first_scored(512) == 2051, "N when no token of the step needs scores"
