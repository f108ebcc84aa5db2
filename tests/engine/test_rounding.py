"""The stored form of rows: E4M3 and E2M1 against their code tables, ties, saturation, and lossless F16 transport."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.layers.rounding import KvRounding, hadamard, round_e2m1, round_e4m3, store_index_rows, store_rows

E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def e4m3_values() -> list[float]:
    """Every finite non-negative E4M3 value: exponents -6 to 8 with three mantissa bits, and the subnormals."""
    subnormal = [m * 2.0**-9 for m in range(8)]
    normal = [(8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8)]
    return subnormal + normal[:-1]  # the last code is NaN


def nearest_even(x: float, values: list[float]) -> float:
    """The nearest of `values`; a tie goes to the one with the even code."""
    distance = min(abs(x - value) for value in values)
    best = [code for code, value in enumerate(values) if abs(x - value) == distance]
    return values[next((code for code in best if code % 2 == 0), best[0])]


def test_e4m3_has_the_codes_of_its_table() -> None:
    values = torch.tensor(e4m3_values()).to(torch.float8_e4m3fn).float()
    assert values.tolist() == e4m3_values()
    assert max(e4m3_values()) == 448.0


@given(st.lists(st.floats(-500, 500, width=32), min_size=64, max_size=64))
def test_e4m3_rounds_to_the_nearest_code_at_a_power_of_two_scale(numbers: list[float]) -> None:
    rounded = round_e4m3(torch.tensor(numbers)).tolist()
    amax = max(*map(abs, numbers), 1e-4)
    scale = 1.0
    while scale * 448 < amax:
        scale *= 2
    while scale / 2 * 448 >= amax:
        scale /= 2
    for x, y in zip(numbers, rounded, strict=True):
        expected = nearest_even(min(abs(x) / scale, 448.0), e4m3_values()) * scale
        assert abs(y) == expected


@given(st.lists(st.floats(-100, 100, width=32), min_size=32, max_size=32))
def test_e2m1_rounds_to_the_nearest_code_at_a_power_of_two_scale(numbers: list[float]) -> None:
    rounded = round_e2m1(torch.tensor(numbers)).tolist()
    amax = max(map(abs, numbers))
    if amax < 1e-30:
        return
    scale = 1.0
    while scale * 6 < amax:
        scale *= 2
    while scale / 2 * 6 >= amax:
        scale /= 2
    for x, y in zip(numbers, rounded, strict=True):
        assert abs(y) == nearest_even(min(abs(x) / scale, 6.0), E2M1) * scale


@pytest.mark.parametrize(
    ("x", "expected"), [(0.25, 0.0), (0.75, 1.0), (1.25, 1.0), (1.75, 2.0), (2.5, 2.0), (3.5, 4.0), (5.0, 4.0)]
)
def test_e2m1_ties_go_to_the_even_code(x: float, expected: float) -> None:
    block = torch.zeros(32)
    block[0], block[1] = x, 6.0
    assert round_e2m1(block)[0] == expected


def test_rounding_twice_changes_nothing() -> None:
    x = torch.randn(50, 128, generator=torch.Generator().manual_seed(0))
    assert torch.equal(round_e4m3(round_e4m3(x)), round_e4m3(x))
    assert torch.equal(round_e2m1(round_e2m1(x)), round_e2m1(x))


def test_f16_carries_rounded_rows_without_loss() -> None:
    rows = torch.randn(200, 512, generator=torch.Generator().manual_seed(1))
    stored = store_rows(rows, KvRounding.E4M3, rope_dim=64)
    assert stored.dtype is torch.float16
    assert torch.equal(stored[:, :448].float(), round_e4m3(rows[:, :448]))
    assert torch.equal(stored[:, 448:], rows[:, 448:].half())
    index = torch.randn(200, 128, generator=torch.Generator().manual_seed(2))
    assert torch.equal(store_index_rows(index, KvRounding.E4M3).float(), round_e2m1(hadamard(index)))


def test_a_row_is_what_it_is_wherever_it_stands() -> None:
    rows = torch.randn(33, 512, generator=torch.Generator().manual_seed(4))
    for kind in KvRounding:
        together = store_rows(rows, kind, 64)
        assert all(torch.equal(store_rows(rows[i : i + 1], kind, 64)[0], together[i]) for i in range(33))


def test_hadamard_is_orthonormal_and_its_own_inverse() -> None:
    x = torch.randn(7, 128, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(hadamard(hadamard(x)), x, atol=1e-5, rtol=0)
    torch.testing.assert_close(
        hadamard(torch.eye(4)) * 2, torch.tensor([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    )


@pytest.mark.parametrize("kind", KvRounding)
@pytest.mark.parametrize("width", [2, 16, 64, 128])
def test_rows_that_are_all_rotary_are_only_stored(kind: KvRounding, width: int) -> None:
    rows = torch.randn(3, width)
    assert torch.equal(store_rows(rows, kind, width), rows.to(kind.row_dtype))
    assert store_rows(rows[:0], kind, width // 2).shape == (0, width)
