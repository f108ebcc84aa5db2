"""Calls in other processes: results in order, and the first failure is told."""

import math

import pytest
from recipe.processes import call_all


def test_results_come_in_the_order_of_the_calls_and_failures_are_raised() -> None:
    assert call_all(divmod, [(7, 2), (9, 3), (1, 1)], 2) == [(3, 1), (3, 0), (1, 0)]
    with pytest.raises(ValueError, match="math domain error"):
        call_all(math.sqrt, [(4,), (-1,), (9,)], 2)
