"""The rules against the public figures and at their edges."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.qualify.judge import judge_domain, judge_machine, judge_retrieval, mean_kl_check
from engine.qualify.limits import LIMITS_FILE, load_limits
from engine.qualify.records import Axis, Check, Domain, DomainVerdict, KeyResult, PairStatistics, ProcessResult
from engine.qualify.run import QualifyRequest, process_specs

LIMITS, HASH = load_limits()


def _pair(kl: float = 0.0, top1: float = 1.0, prefix: int = 32, gap: float | None = None) -> PairStatistics:
    return PairStatistics("1-A", "2-B", kl, kl, 0, kl, (), (), top1, prefix, gap, (kl,))


def _judge(same: list[PairStatistics], cross: list[PairStatistics], state: bool | None = True) -> dict[str, Check]:
    verdict = judge_domain(LIMITS, Axis.WIDTH, Domain.PROSE, same, cross, state)
    return {check.rule: check for check in verdict.checks}


def test_the_shipped_limits_are_the_preregistered_ones() -> None:
    """Whoever changes a limit starts a new series and must say so here."""
    assert HASH == "2577d39089c59b20ebfd8b25ddae6130bc41e7cb0a962445698d40292312b96e"
    assert (LIMITS.mean_kl_floor, LIMITS.mean_kl_noise_factor) == (0.006, 1.25)


def test_the_public_miss_is_a_miss_by_0_000320() -> None:
    check = mean_kl_check(LIMITS, noise=0.008973, cross=0.011536)
    assert not check.passed
    assert round(check.limit, 6) == 0.011216
    assert "0.011216" in check.text
    assert check.text.endswith("a miss by 0.000320")


@pytest.mark.parametrize(
    ("cross", "noise", "limit"),
    [(0.001257, 0.001329, 0.006), (0.001293, 0.001353, 0.006), (0.003537, 0.003923, 0.006), (0.004808, 0.0, 0.006)],
)
def test_the_public_passes_pass(cross: float, noise: float, limit: float) -> None:
    check = mean_kl_check(LIMITS, noise, cross)
    assert check.passed
    assert check.limit == pytest.approx(limit)


def test_the_cross_figure_is_the_mean_of_the_pairs() -> None:
    checks = _judge([_pair(), _pair()], [_pair(0.004), _pair(0.004), _pair(0.010), _pair(0.010)])
    assert checks["mean KL"].value == pytest.approx(0.007)
    assert not checks["mean KL"].passed


@pytest.mark.parametrize(
    ("same", "cross", "passed"),
    [(1.0, 0.97, True), (1.0, 0.9699, False), (0.92, 0.90, True), (0.92, 0.899, False), (0.5, 0.9, True)],
)
def test_top1_is_held_against_the_worst_pair(same: float, cross: float, passed: bool) -> None:
    checks = _judge([_pair(top1=1.0), _pair(top1=same)], [_pair(top1=1.0), _pair(top1=cross)])
    assert checks["top-1"].passed is passed


@pytest.mark.parametrize(
    ("same", "cross", "gap", "passed"),
    [
        (32, 32, None, True),
        (32, 16, 1.0, True),
        (32, 15, 1.0, False),
        (32, 15, 0.049, True),  # a tie
        (32, 15, 0.05, False),
        (9, 9, 1.0, True),
        (32, 8, None, True),  # both answers are eight tokens long and equal
        (9, 8, 1.0, False),
    ],
)
def test_a_short_prefix_passes_only_as_a_tie(same: int, cross: int, gap: float | None, passed: bool) -> None:
    checks = _judge([_pair(prefix=same)], [_pair(), _pair(prefix=cross, gap=gap)])
    assert checks["greedy"].passed is passed
    if gap is not None:
        assert f"{gap:.4f}" in checks["greedy"].text


def test_every_short_pair_must_be_a_tie() -> None:
    checks = _judge([_pair()], [_pair(prefix=3, gap=0.01), _pair(prefix=5, gap=0.4)])
    assert not checks["greedy"].passed


def test_noise_must_be_exactly_zero() -> None:
    assert _judge([_pair(0.0)], [_pair()])["determinism"].passed
    assert not _judge([_pair(1e-300)], [_pair()])["determinism"].passed


def test_differing_hashes_fail_and_single_runs_have_none() -> None:
    assert not _judge([_pair()], [_pair()], state=False)["state"].passed
    assert set(_judge([], [_pair()], state=None)) == {"mean KL", "top-1", "greedy"}


def test_a_verdict_is_as_good_as_its_worst_check() -> None:
    verdict = judge_domain(LIMITS, Axis.WIDTH, Domain.CODE, [_pair()], [_pair(0.1)], True)
    assert isinstance(verdict, DomainVerdict)
    assert not verdict.passed
    assert [check.rule for check in verdict.checks if not check.passed] == ["mean KL"]


def _process(**changes: object) -> ProcessResult:
    spec = process_specs(QualifyRequest())[0]
    process = ProcessResult(spec, "fake", "", "cpu", "", None, (), (), (), None, 0, 1.0)
    return replace(process, **changes)


def test_a_swapped_page_fails_the_machine() -> None:
    assert judge_machine(LIMITS, [_process(), _process()]).passed
    assert not judge_machine(LIMITS, [_process(), _process(swapped_in_pages=1)]).passed
    unknown = judge_machine(LIMITS, [_process(swapped_in_pages=None)])
    assert unknown.passed
    assert "does not say" in unknown.text


def test_selection_may_lose_no_key_that_all_rows_find() -> None:
    def keys(*found: bool) -> ProcessResult:
        return _process(keys=tuple(KeyResult(depth, was, "") for depth, was in zip((0.02, 0.5), found, strict=True)))

    assert judge_retrieval(keys(True, True), keys(True, True)).passed
    assert judge_retrieval(keys(False, False), keys(False, False)).passed
    assert judge_retrieval(keys(True, True), keys(False, False)).passed
    lost = judge_retrieval(keys(True, False), keys(True, True))
    assert not lost.passed
    assert lost.text == "1 of 2 keys found, 2 without selection; lost at a depth of 50%"


def test_damaged_limits_are_named(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    for content in ("", "{", "[]", LIMITS_FILE.read_text().replace("0.006", '"six"')):
        path.write_text(content)
        with pytest.raises(UserError, match=r"limits\.json cannot be used"):
            load_limits(path)
