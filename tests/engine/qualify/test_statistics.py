"""KL, top-1 and prefix against values worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from engine.qualify.statistics import (
    common_prefix,
    compare_pair,
    likeliest,
    log_softmax,
    row_kl,
    top1_agreement,
)


def _logits(*probabilities: tuple[float, ...]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return np.log(np.array(probabilities)).astype(np.float32)


def test_kl_worked_out_by_hand() -> None:
    # sum p log(p/q): 0.5 log(0.5/0.25) + 0.5 log(0.5/0.75)
    left, right = _logits((0.5, 0.5), (0.9, 0.1)), _logits((0.25, 0.75), (0.9, 0.1))
    expected = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    assert row_kl(left, right) == pytest.approx([expected, 0.0], abs=1e-6)


def test_kl_is_in_float64_and_exactly_zero_for_equal_rows() -> None:
    rows = np.random.default_rng(1).normal(scale=8, size=(40, 1000)).astype(np.float32)
    assert row_kl(rows, rows.copy()).tolist() == [0.0] * 40
    assert log_softmax(rows).dtype == np.float64


def test_large_logits_do_not_overflow() -> None:
    rows = np.array([[1e4, -1e4, 0.0]], dtype=np.float32)
    assert np.isfinite(log_softmax(rows)).all()


@given(st_numpy.arrays(np.float32, (5, 9), elements=st.floats(-20, 20, width=32)), st.floats(-50, 50))
def test_a_constant_added_to_all_logits_changes_nothing(rows: "np.ndarray", shift: float) -> None:
    assert row_kl(rows, (rows.astype(np.float64) + shift).astype(np.float64)) == pytest.approx([0.0] * 5, abs=1e-9)


@given(*[st_numpy.arrays(np.float32, (4, 7), elements=st.floats(-20, 20, width=32))] * 2)
def test_kl_is_never_negative(left: "np.ndarray", right: "np.ndarray") -> None:
    assert (row_kl(left, right) >= -1e-12).all()


@pytest.mark.parametrize("shapes", [((2, 3), (3, 3)), ((3,), (3,))])
def test_rows_that_do_not_match_are_refused(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="shape"):
        row_kl(np.zeros(shapes[0], np.float32), np.zeros(shapes[1], np.float32))


def test_top1_counts_rows_with_the_same_likeliest_token() -> None:
    left = np.eye(4, dtype=np.float32)
    right = left.copy()
    right[3] = (0, 9, 0, 0)
    assert top1_agreement(left, right) == 0.75
    assert top1_agreement(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)) == 1.0


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [((), (), 0), ((1, 2, 3), (1, 2, 3), 3), ((1, 2, 3), (1, 9, 3), 1), ((1, 2), (1, 2, 3), 2), ((9,), (1,), 0)],
)
def test_prefix(left: tuple[int, ...], right: tuple[int, ...], expected: int) -> None:
    assert common_prefix(left, right) == expected


def test_likeliest_tokens_lower_id_first_in_a_tie() -> None:
    found = likeliest(np.log(np.array([0.1, 0.3, 0.3, 0.2, 0.05, 0.05])).astype(np.float32))
    assert [item.token for item in found] == [1, 2, 3, 0, 4]
    assert found[0].probability == pytest.approx(0.3)


def test_a_pair_names_its_worst_row_and_where_the_answers_part() -> None:
    rows = np.zeros((100, 3), np.float32)
    other = rows.copy()
    other[42, 0] = 3.0
    found = compare_pair("1-A", "2-B", (rows, other), ((5, 6, 7, 8), (5, 6, 9, 8)), (1.0, 0.5, 0.04, 2.0))
    assert found.worst_row == 42
    assert found.worst_kl == max(found.row_kl)
    assert found.mean_kl == pytest.approx(found.worst_kl / 100)
    assert found.p99_kl == pytest.approx(np.quantile(found.row_kl, 0.99))
    assert (found.greedy_prefix, found.greedy_gap) == (2, 0.04)
    assert found.worst_right[0].token == 0
    same = compare_pair("1-A", "4-A", (rows, rows), ((5, 6), (5, 6)), (1.0, 1.0))
    assert (same.greedy_prefix, same.greedy_gap, same.mean_kl) == (2, None, 0.0)
