"""The benchmark plans: what they measure, how often, and what they refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.plans import Case, CaseKind, Plan, plan_cases
from engine.errors import UserError
from engine.plan import Cut


def _labels(cases: list[Case]) -> list[str]:
    return [case.label for case in cases]


def test_quick_and_standard_are_the_named_tests() -> None:
    assert _labels(plan_cases(Plan.QUICK)) == ["pp512", "pp2048", "tg64"]
    assert _labels(plan_cases(Plan.STANDARD)) == ["pp512", "pp2048", "tg128", "pp2048 @ d8192"]


def test_five_runs_after_one_warm_up() -> None:
    for plan in (Plan.QUICK, Plan.STANDARD):
        assert {(case.runs, case.warm_ups, case.is_cold) for case in plan_cases(plan)} == {(5, 1, False)}


def test_the_seed_plan_sets_both_cuts_side_by_side_cold_and_warm() -> None:
    cases = plan_cases(Plan.SEED)
    assert [(case.label, case.cap, case.cut, case.runs, case.is_cold) for case in cases] == [
        ("8,192 + 941, cold", 8192, Cut.GREEDY, 1, True),
        ("8,192 + 941, warm", 8192, Cut.GREEDY, 2, False),
        ("9,133 in one step, cold", 10240, Cut.EQUAL, 1, True),
        ("9,133 in one step, warm", 10240, Cut.EQUAL, 2, False),
    ]
    assert {(case.prompt, case.answer, case.warm_ups) for case in cases} == {(9133, 128, 0)}


def test_one_seed_run_is_cold_alone() -> None:
    assert [case.is_cold for case in plan_cases(Plan.SEED, runs=1)] == [True, True]


def test_runs_can_be_set() -> None:
    assert [case.runs for case in plan_cases(Plan.STANDARD, runs=2)] == [2, 2, 2, 2]
    assert [case.runs for case in plan_cases(Plan.SEED, runs=6)] == [1, 5, 1, 5]


@given(st.integers(2048 + 64, 1 << 20))
def test_a_sweep_walks_without_gaps_to_the_last_frontier_that_fits(context: int) -> None:
    cases = plan_cases(Plan.SWEEP, context=context)
    assert len(cases) <= 64
    reached = 0
    for case in cases:
        assert case.kind is CaseKind.FRONTIER
        assert case.depth == reached
        reached += case.prompt
        assert case.context <= context
    assert reached + cases[-1].prompt + cases[-1].answer > context
    assert [case.warm_ups for case in cases] == [1] + [0] * (len(cases) - 1)


def test_a_sweep_ends_at_the_models_limit_by_default() -> None:
    assert plan_cases(Plan.SWEEP, limit=8192)[-1].depth == 4096
    assert plan_cases(Plan.SWEEP, limit=1 << 20)[-1].context <= 32_768


@pytest.mark.parametrize(
    ("plan", "options", "words"),
    [
        (Plan.QUICK, {"runs": 0}, "at least one run"),
        (Plan.QUICK, {"context": 1000}, "quick plan needs a context of 2,048 tokens; 1,000"),
        (Plan.STANDARD, {"limit": 8192}, "standard plan needs a context of 10,240 tokens; 8,192"),
        (Plan.SEED, {"context": 9133}, "9,261"),
        (Plan.SWEEP, {"context": 2048}, "2,112"),
        (Plan.SWEEP, {"context": 70_000, "limit": 65_536}, "70,000 tokens is more than the model's 65,536"),
    ],
)
def test_what_does_not_fit_is_said_with_both_numbers(plan: Plan, options: dict[str, int], words: str) -> None:
    with pytest.raises(UserError, match=words):
        plan_cases(plan, **options)
