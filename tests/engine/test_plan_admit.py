"""Admission: every geometry of a step in a layer has one plan, written here as an independent table.

The table walks (start, tokens, ratio, selection), including starts that only a restored snapshot or a reused prefix
produces and the short steps q = 1..5 of decode and verification. Text is the only input the engine takes: there is no
plan for images, and no plan that holds a mask.
"""

from itertools import product

import pytest

from engine.plan import AttentionPlan, Visibility, admit

RATIOS = (0, 2, 4, 8, 128)
SELECTIONS = (None, 1, 16, 512)
STARTS = (
    *(0, 1, 2, 3, 4, 5, 6, 7, 126, 127, 128, 129),  # before and around the ring's first wrap, every start mod 4
    *(2045, 2046, 2047, 2048, 2049, 2050, 2051, 2052),  # around the first scored token of K = 512
    *(8191, 8192, 9133, 10_240, 20_481, 131_071, 1_048_000),  # committed ends of steps, restored later
)
LENGTHS = (1, 2, 3, 4, 5, 127, 128, 129, 700, 941, 2048, 9133, 10_240)


def expected_plan(start: int, tokens: int, ratio: int, top_k: int | None) -> AttentionPlan:
    """From the definition: which kinds of rows does the step's last token, which sees most, look at?"""
    rows_of_last_token = len(range(ratio - 1, start + tokens, ratio)) if ratio else 0
    if ratio == 0:
        return AttentionPlan.WINDOW
    if top_k is None or rows_of_last_token <= top_k:
        return AttentionPlan.CONTIGUOUS
    return AttentionPlan.INDEXED


def geometries() -> list[tuple[int, int, int, int | None]]:
    every = product(STARTS, LENGTHS, RATIOS, SELECTIONS)
    return [(s, n, r, k) for s, n, r, k in every if r or k is None]


def test_every_geometry_has_its_plan_and_every_plan_a_geometry() -> None:
    reached = set()
    for start, tokens, ratio, top_k in geometries():
        plan = admit(Visibility(start, tokens, ratio), top_k)
        assert plan is expected_plan(start, tokens, ratio, top_k), (start, tokens, ratio, top_k)
        reached.add(plan)
    assert reached == set(AttentionPlan)


def test_the_set_of_plans_is_closed() -> None:
    """A new member must come with a row of this table and with kernels; none of them may stand for a stored mask."""
    assert [plan.name for plan in AttentionPlan] == ["WINDOW", "CONTIGUOUS", "INDEXED"]


@pytest.mark.parametrize("ratio", [4, 128])
@pytest.mark.parametrize("top_k", [None, 512])
def test_a_plan_does_not_depend_on_how_the_position_was_reached(ratio: int, top_k: int | None) -> None:
    """A session restored at S runs the same plan as one that went there token by token, for q = 1..5."""
    for start, tokens in product(STARTS, range(1, 6)):
        view = Visibility(start, tokens, ratio)
        assert view.prior == min(start, view.window)
        assert view.compressed == (start + tokens) // ratio
        single = [admit(Visibility(start + t, 1, ratio), top_k) for t in range(tokens)]
        assert admit(view, top_k) is single[-1], "the last token decides: it sees the most rows"


@pytest.mark.parametrize("top_k", SELECTIONS[1:])
def test_ids_of_a_query_never_outnumber_the_selection(top_k: int) -> None:
    """The bound that sizes the id buffer: an indexed step hands at most top_k ids a token, from the first scored on."""
    for start, tokens, ratio in product(STARTS, (1, 5, 129, 941), RATIOS[1:]):
        view = Visibility(start, tokens, ratio)
        indexed = admit(view, top_k) is AttentionPlan.INDEXED
        first = view.first_scored(top_k)
        assert indexed == (first < tokens)
        assert all(view.visible(t) <= top_k for t in range(first))


@pytest.mark.parametrize(
    "view",
    [
        Visibility(0, 0, 4),
        Visibility(0, -1, 4),
        Visibility(-1, 4, 4),
        Visibility(0, 4, -4),
        Visibility(0, 4, 4, window=0),
        Visibility(0, 4, 4, window=-128),
    ],
)
@pytest.mark.parametrize("top_k", [None, 512])
def test_geometries_without_a_plan_are_refused(view: Visibility, top_k: int | None) -> None:
    with pytest.raises(ValueError, match="no attention plan"):
        admit(view, top_k)


@pytest.mark.parametrize(("ratio", "top_k"), [(0, 1), (0, 512), (4, 0), (4, -1), (128, 0)])
def test_a_selection_needs_rows_to_select_from(ratio: int, top_k: int) -> None:
    with pytest.raises(ValueError, match="selection"):
        admit(Visibility(0, 100, ratio), top_k)
