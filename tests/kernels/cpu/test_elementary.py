"""The inlined building blocks of every kernel: exp over all exponents, the half formats over all bit patterns."""

import ctypes

import pytest
import torch

from kernels.cpu import NativeCpu
from tests.kernels.cpu.reference import same_bits

FUNCTIONS = {"exp": 0, "sigmoid": 1, "silu": 2, "sqrt": 3}


def apply(native: NativeCpu, name: str, x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    call = native.library.function(
        "hb_test_function", [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64], None
    )
    call(FUNCTIONS[name], x.data_ptr(), out.data_ptr(), x.numel())
    return out


def units_in_the_last_place(got: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest error in units of the exact result's own spacing."""
    exponent = torch.frexp(exact.abs().clamp(min=2.0**-126)).exponent.double() - 24
    return float(((got.double() - exact).abs() / torch.exp2(exponent)).max())


def test_exp_is_right_to_a_unit_over_its_whole_range(native: NativeCpu) -> None:
    x = torch.cat([torch.linspace(-104, 88.7, 1 << 20), torch.linspace(-1, 1, 1 << 18)])
    assert units_in_the_last_place(apply(native, "exp", x), x.double().exp()) <= 1.5


def test_exp_of_small_arguments_of_every_exponent(native: NativeCpu) -> None:
    x = (torch.arange(0, 0x42B00000, 1021, dtype=torch.int32)).view(torch.float32)
    x = torch.cat([x, -x])[: (2 * len(x)) // 16 * 16]
    assert units_in_the_last_place(apply(native, "exp", x), x.double().exp()) <= 1.5


def test_exp_of_special_values(native: NativeCpu) -> None:
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, -0.0, inf, -inf, nan, 89.0, 1e30, -1e30, -110.0, -103.9, -87.4, 88.7, 1e-40, 0, 0, 0])
    y = apply(native, "exp", x)
    assert y[:2].tolist() == [1.0, 1.0] and y[2] == inf and y[3] == 0 and bool(y[4].isnan())
    assert y[5] == inf and y[6] == inf and y[7] == 0 and y[8] == 0
    assert 0 < float(y[9]) < 2e-45 and 0 < float(y[10]) < 2.0**-126 and y[12] == 1.0


@pytest.mark.parametrize("name", ["sigmoid", "silu"])
def test_the_gates_are_right_to_a_few_units(native: NativeCpu, name: str) -> None:
    x = torch.linspace(-60, 60, 1 << 16)
    exact = torch.sigmoid(x.double()) * (x.double() if name == "silu" else 1)
    assert units_in_the_last_place(apply(native, name, x), exact) <= 4
    assert bool(apply(native, name, torch.linspace(-200, 200, 64)).isfinite().all())


def test_square_root_is_correctly_rounded(native: NativeCpu) -> None:
    x = torch.rand(1 << 14, generator=torch.Generator().manual_seed(0)) * 1e9
    assert same_bits(apply(native, "sqrt", x), x.double().sqrt().float())


@pytest.mark.parametrize(("dtype", "code"), [(torch.float16, 1), (torch.bfloat16, 2)])
def test_every_half_value_is_widened_exactly(native: NativeCpu, dtype: torch.dtype, code: int) -> None:
    words = torch.arange(1 << 16, dtype=torch.int32).to(torch.uint16)
    out = torch.empty(1 << 16)
    call = native.library.function(
        "hb_test_to_f32", [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64], None
    )
    call(words.data_ptr(), code, out.data_ptr(), 1 << 16)
    expected = words.view(dtype).float()
    number = ~expected.isnan()
    assert same_bits(out[number], expected[number])
    assert bool(out[~number].isnan().all())


def test_bfloat16_rounds_to_nearest_even(native: NativeCpu) -> None:
    low = torch.tensor([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=torch.int64)
    high = torch.arange(1 << 16, dtype=torch.int64) << 16
    x = (high[:, None] + low).flatten().to(torch.uint32).view(torch.float32)
    x = torch.cat([x, torch.zeros(-len(x) % 16)])
    out = torch.empty(len(x), dtype=torch.bfloat16)
    call = native.library.function("hb_test_to_bf16", [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64], None)
    call(x.data_ptr(), out.data_ptr(), len(x))
    number = ~x.isnan()
    assert same_bits(out[number], x.bfloat16()[number])
    assert bool(out[~number].isnan().all())


def test_a_block_is_transposed(native: NativeCpu) -> None:
    x, out = torch.arange(256.0).view(16, 16), torch.empty(16, 16)
    native.library.function("hb_test_transpose", [ctypes.c_void_p, ctypes.c_void_p], None)(x.data_ptr(), out.data_ptr())
    assert same_bits(out, x.T.contiguous())


def test_lanes_are_summed_in_the_documented_tree_and_masked_in_order(native: NativeCpu) -> None:
    x = torch.randn(64, 16, generator=torch.Generator().manual_seed(4)) * 1e3
    sums, masks = torch.empty(64), torch.empty(64, dtype=torch.int32)
    call = native.library.function("hb_test_reduce", [ctypes.c_void_p] * 3 + [ctypes.c_int64], None)
    call(x.data_ptr(), sums.data_ptr(), masks.data_ptr(), 64)
    tree = x
    while tree.shape[1] > 1:
        half = tree.shape[1] // 2
        tree = tree[:, :half] + tree[:, half:]
    assert same_bits(sums, tree[:, 0])
    assert torch.equal(masks, ((x > 0) * 2 ** torch.arange(16)).sum(dim=1).int())
