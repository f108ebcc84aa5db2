"""Cutting a prompt into steps and bands: the table of banded prefill 3.3, and what must hold for every cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.plan import BAND_TOKENS, STEP_BANDS, STEP_CAP, Cut, Step, cut_prompt

SMALLEST_SHARE = 512  # tokens: below this the expert tiles of a step run nearly empty
MILLION_CONTEXT = 1 << 20


def lengths(tokens: int, cap: int, cut: Cut) -> list[int]:
    return [step.tokens for step in cut_prompt(0, tokens, cap, cut)]


@pytest.mark.parametrize(
    ("tokens", "cap", "cut", "expected"),
    [
        (9133, 8192, Cut.GREEDY, [8192, 941]),
        (9133, 10240, Cut.GREEDY, [9133]),
        (9133, 10240, Cut.EQUAL, [9133]),
        (10400, 8192, Cut.GREEDY, [8192, 2208]),
        (10400, 10240, Cut.GREEDY, [10240, 160]),
        (10400, 10240, Cut.EQUAL, [5200, 5200]),
        (20481, 8192, Cut.GREEDY, [8192, 8192, 4097]),
        (20481, 10240, Cut.GREEDY, [10240, 10240, 1]),
        (20481, 10240, Cut.EQUAL, [6828, 6828, 6825]),
    ],
)
def test_the_specified_cuts(tokens: int, cap: int, cut: Cut, expected: list[int]) -> None:
    assert lengths(tokens, cap, cut) == expected


# Long prompts at small caps are where rounding every share up used to eat the last step.
@pytest.mark.parametrize(
    ("tokens", "cap"),
    [(999_517, 2048), (1_003_000, 2048), (MILLION_CONTEXT, 2048), (MILLION_CONTEXT - 3, 2050), (999_517, 8)],
)
def test_equal_steps_of_a_very_long_prompt_stay_equal(tokens: int, cap: int) -> None:
    sizes = lengths(tokens, cap, Cut.EQUAL)
    assert sum(sizes) == tokens
    assert len(sizes) == -(-tokens // cap), "as few steps as the cap allows"
    assert max(sizes) - min(sizes) < 8


prompts = st.one_of(st.integers(0, 30_000), st.integers(0, MILLION_CONTEXT))


@given(start=st.integers(0, MILLION_CONTEXT), tokens=prompts, cap=st.integers(64, 20_000), cut=st.sampled_from(Cut))
def test_steps_cover_the_prompt_exactly_and_in_order(start: int, tokens: int, cap: int, cut: Cut) -> None:
    position = start
    for step in cut_prompt(start, tokens, cap, cut):
        assert step.start == position and 1 <= step.tokens <= cap
        position = step.stop
    assert position == start + tokens


@given(tokens=prompts, cap=st.integers(BAND_TOKENS, STEP_CAP))
def test_the_equal_rule_never_leaves_a_small_remainder(tokens: int, cap: int) -> None:
    sizes = lengths(tokens, cap, Cut.EQUAL)
    assert all(size >= min(tokens, SMALLEST_SHARE) for size in sizes)
    assert len(sizes) == -(-tokens // cap)
    assert all(size % 4 == 0 for size in sizes[:-1]) or cap % 4, "inner cuts fall between ratio-4 windows"


@given(tokens=prompts, cap=st.integers(64, STEP_CAP))
def test_the_greedy_rule_takes_what_the_cap_allows(tokens: int, cap: int) -> None:
    sizes = lengths(tokens, cap, Cut.GREEDY)
    assert all(size == cap for size in sizes[:-1])
    assert not sizes or 1 <= sizes[-1] <= cap


@given(start=st.integers(0, 100_000), tokens=st.integers(1, 12_000))
def test_a_cut_is_made_of_token_counts_not_of_positions(start: int, tokens: int) -> None:
    """Continuing at any position cuts as at 0: what was there before must not change the shape of a step."""
    for cut in Cut:
        assert [s.tokens for s in cut_prompt(start, tokens, cut=cut)] == lengths(tokens, STEP_CAP, cut)


@pytest.mark.parametrize(("start", "tokens", "cap"), [(-1, 5, 5), (0, -1, 5), (0, 5, 0), (0, 5, -3)])
def test_impossible_cuts_are_refused(start: int, tokens: int, cap: int) -> None:
    with pytest.raises(ValueError, match="cannot cut"):
        cut_prompt(start, tokens, cap)


def test_an_empty_prompt_needs_no_step() -> None:
    assert all(cut_prompt(7, 0, cut=cut) == () for cut in Cut)


@given(start=st.integers(0, 100_000), tokens=st.integers(1, STEP_CAP), size=st.sampled_from([1, 7, 128, BAND_TOKENS]))
def test_bands_tile_a_step(start: int, tokens: int, size: int) -> None:
    bands = list(Step(start, tokens).bands(size))
    assert bands[0].start == 0 and bands[-1].stop == tokens
    assert all(left.stop == right.start for left, right in pairwise(bands))
    assert all(band.stop - band.start == size for band in bands[:-1])
    assert 1 <= bands[-1].stop - bands[-1].start <= size


def test_five_bands_fill_a_step() -> None:
    assert BAND_TOKENS * STEP_BANDS == STEP_CAP == 10_240
    sizes = [band.stop - band.start for band in Step(0, STEP_CAP).bands()]
    assert sizes == [BAND_TOKENS] * STEP_BANDS
    assert [band.stop - band.start for band in Step(0, 9133).bands()] == [2048, 2048, 2048, 2048, 941]
