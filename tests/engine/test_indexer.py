"""Selection: the largest scores, ties to the lower row, ascending and unique, whatever the tiles."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.base import Backend
from engine.layers.indexer import top_rows
from tests.engine.shapes import small_config
from tests.support.backends import cpu_backends


def brute_force(scores: list[float], top_k: int) -> list[int]:
    ranked = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    return sorted(ranked[:top_k])


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=40), st.integers(1, 4))
def test_ties_go_to_the_lower_row(scores: list[int], top_k: int) -> None:
    found = top_rows(torch.tensor([scores], dtype=torch.float32), top_k)
    assert found[0].tolist() == brute_force([float(score) for score in scores], top_k)


@pytest.mark.parametrize("ops", cpu_backends(small_config()), ids=lambda ops: type(ops).__name__)
@pytest.mark.parametrize("zero_heads", (False, True))
def test_selection_is_the_brute_force_over_visible_rows(ops: Backend, zero_heads: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    tokens, ratio, top_k, first = 150, 4, 16, 67
    rows = torch.randn((first + tokens) // ratio, 32, generator=generator).half()
    queries = torch.randn(tokens, 4, 32, generator=generator)
    weights = torch.zeros(tokens, 4) if zero_heads else torch.randn(tokens, 4, generator=generator)
    ids, counts = ops.select(queries, weights, rows, first, ratio, top_k)
    exact = torch.einsum("th,thr->tr", weights.double(), (queries.double() @ rows.double().T).relu())
    for token in range(tokens):
        visible = (first + token + 1) // ratio
        chosen = ids[token, : counts[token]].tolist()
        assert chosen == sorted(set(chosen)) and len(chosen) == top_k and chosen[-1] < visible
        scores = exact[token, :visible]
        if zero_heads:
            assert chosen == list(range(top_k))
        else:
            worst_chosen = scores[chosen].min()
            others = [row for row in range(visible) if row not in chosen]
            assert not others or scores[others].max() <= worst_chosen + 1e-5


@pytest.mark.parametrize("ops", cpu_backends(small_config()), ids=lambda ops: type(ops).__name__)
@pytest.mark.parametrize("spoilt", [1, 20, 50])
def test_a_score_that_is_no_number_comes_last(ops: Backend, spoilt: int) -> None:
    """Of a damaged row; where too few others are left, the lowest of them are taken."""
    generator = torch.Generator().manual_seed(5)
    tokens, ratio, top_k, first = 3, 4, 16, 200
    rows = torch.randn((first + tokens) // ratio, 32, generator=generator).half()
    rows[torch.randperm(len(rows), generator=generator)[:spoilt]] = torch.nan
    queries, weights = torch.randn(tokens, 4, 32, generator=generator), torch.rand(tokens, 4, generator=generator)
    ids, _ = ops.select(queries, weights, rows, first, ratio, top_k)
    scores = torch.einsum("th,thr->tr", weights, (queries @ rows.float().T).relu())
    scores[:, rows.isnan().any(dim=1)] = -torch.inf
    for token in range(tokens):
        visible = (first + token + 1) // ratio
        assert ids[token].tolist() == brute_force(scores[token, :visible].tolist(), top_k)
