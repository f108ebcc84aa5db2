"""The benchmark's statistics against samples worked out by hand, and its comparison rule."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.stats import Stats, compare, describe, t_quantile


def test_figures_of_a_sample_worked_out_by_hand() -> None:
    # mean 5, squared deviations 9+1+1+1+0+0+4+16 = 32, sample variance 32/7
    stats = describe([2, 4, 4, 4, 5, 5, 7, 9])
    assert stats is not None
    assert (stats.count, stats.mean, stats.median) == (8, 5.0, 4.5)
    assert stats.stdev == pytest.approx(math.sqrt(32 / 7))
    assert str(stats) == "5.00 ± 2.14"


def test_one_value_has_no_deviation_and_none_has_no_figures() -> None:
    assert describe([]) is None
    one = describe([231.4])
    assert one == Stats(1, 231.4, 231.4, None)
    assert str(one) == "231.40"


def test_text_is_written_as_llama_bench_does() -> None:
    assert str(Stats(5, 123.4519, 123.4, 0.666)) == "123.45 ± 0.67"


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 12.706), (4, 2.776), (4.9, 2.776), (8, 2.306), (30, 2.042), (31, 2.042), (40, 2.021), (1000, 1.980)],
)
def test_student_quantiles(degrees: float, expected: float) -> None:
    assert t_quantile(degrees) == expected


def test_no_quantile_without_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="degrees"):
        t_quantile(0.5)


def test_welch_interval_worked_out_by_hand() -> None:
    # variances 4/5 and 9/5, sum 2.6; degrees 2.6^2 / (0.8^2/4 + 1.8^2/4) = 6.76/0.97 = 6.97 -> t(6) = 2.447
    old, new = Stats(5, 100.0, 100.0, 2.0), Stats(5, 110.0, 110.0, 3.0)
    found = compare(old, new)
    assert found is not None
    half = 2.447 * math.sqrt(2.6)
    assert found.ratio == pytest.approx(1.1)
    assert found.low == pytest.approx((10 - half) / 100)
    assert found.high == pytest.approx((10 + half) / 100)
    assert found.is_outside_noise is True


def test_a_difference_inside_the_interval_is_noise() -> None:
    found = compare(Stats(5, 100.0, 100.0, 2.0), Stats(5, 102.0, 102.0, 3.0))
    assert found is not None
    assert found.is_outside_noise is False


def test_a_single_run_tells_nothing_about_noise() -> None:
    found = compare(Stats(1, 100.0, 100.0, None), Stats(5, 130.0, 130.0, 1.0))
    assert found is not None
    assert (found.low, found.high, found.is_outside_noise) == (None, None, None)


def test_sides_without_spread_differ_when_they_are_unequal() -> None:
    same, other = Stats(3, 10.0, 10.0, 0.0), Stats(3, 10.5, 10.5, 0.0)
    assert (found := compare(same, same)) is not None
    assert found.is_outside_noise is False
    assert (found := compare(same, other)) is not None
    assert found.is_outside_noise is True


def test_nothing_to_compare_with_zero() -> None:
    assert compare(Stats(2, 0.0, 0.0, 0.0), Stats(2, 1.0, 1.0, 0.1)) is None


_SAMPLES = st.lists(st.floats(0.1, 1e5), min_size=2, max_size=8)


@given(_SAMPLES, _SAMPLES)
def test_comparing_either_way_round_gives_the_same_verdict(a: list[float], b: list[float]) -> None:
    left, right = describe(a), describe(b)
    assert left is not None
    assert right is not None
    there, back = compare(left, right), compare(right, left)
    assert there is not None
    assert back is not None
    assert there.is_outside_noise == back.is_outside_noise
    assert there.ratio * back.ratio == pytest.approx(1.0)
