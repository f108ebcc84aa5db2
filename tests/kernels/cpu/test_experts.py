"""The mixture of experts around its products: against float64 torch, odd sizes, ties, bits equal for any threads."""

import pytest
import torch
from torch.nn import functional

import kernels.cpu as native_cpu
from kernels.cpu import NativeCpu


def kernels(threads: int) -> NativeCpu:
    loaded = native_cpu.load(threads)
    if isinstance(loaded, native_cpu.NativeUnavailable):
        pytest.skip(f"no compiled kernels here: {loaded.reason}")
    return loaded


@pytest.fixture(params=(1, 2), ids=("1 thread", "2 threads"))
def native(request: pytest.FixtureRequest) -> NativeCpu:
    return kernels(request.param)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("tokens", "experts", "used"), [(1, 16, 6), (33, 16, 6), (257, 5, 5), (100, 256, 6)])
def test_routing_is_the_unbiased_softplus_of_the_largest_biased_scores(
    native: NativeCpu, tokens: int, experts: int, used: int
) -> None:
    logits = 3 * torch.randn(tokens, experts, generator=seeded(tokens))
    bias = torch.randn(experts, generator=seeded(1))
    chosen, weights = native.route(logits, bias, used, 1.5)
    scores = functional.softplus(logits.double()).sqrt()
    expected = (scores + bias).sort(dim=1, descending=True, stable=True).indices[:, :used]
    assert torch.equal(chosen, expected)
    picked = scores.gather(1, chosen)
    torch.testing.assert_close(weights.double(), picked / picked.sum(1, keepdim=True) * 1.5, atol=1e-6, rtol=1e-6)


def test_equal_scores_go_to_the_lower_expert_and_nan_to_nobody(native: NativeCpu) -> None:
    logits = torch.zeros(2, 8)
    logits[1, 0] = float("nan")
    chosen, _ = native.route(logits, None, 3, 1.0)
    assert chosen.tolist() == [[0, 1, 2], [1, 2, 3]]


def test_extreme_logits_stay_finite(native: NativeCpu) -> None:
    logits = torch.tensor([[-200.0, 200.0, 0.0, 88.0, -88.0, 1e-30]])
    _, weights = native.route(logits, None, 6, 1.0)
    assert weights.isfinite().all()


def test_the_table_chooses_and_the_scores_weigh(native: NativeCpu) -> None:
    table = torch.randint(0, 16, (50, 6), generator=seeded(3))
    ids = torch.randint(0, 50, (40,), generator=seeded(4))
    logits = torch.randn(40, 16, generator=seeded(5))
    chosen, weights = native.route_by_table(logits, table, ids, 1.5)
    assert torch.equal(chosen, table[ids])
    picked = functional.softplus(logits.double()).sqrt().gather(1, chosen)
    torch.testing.assert_close(weights.double(), picked / picked.sum(1, keepdim=True) * 1.5, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("tokens", (1, 7, 300))
def test_grouping_is_a_stable_sort_with_its_inverse(native: NativeCpu, tokens: int) -> None:
    chosen = torch.randint(0, 9, (tokens, 6), generator=seeded(tokens))
    groups = native.group(chosen, 9)
    order = chosen.flatten().argsort(stable=True)
    assert groups.counts == torch.bincount(chosen.flatten(), minlength=9).tolist()
    assert torch.equal(groups.source, order // 6)
    assert torch.equal(groups.place.flatten()[order], torch.arange(6 * tokens))


@pytest.mark.parametrize("grain", (1, 8, 64))
def test_groups_are_filled_up_to_whole_grains(native: NativeCpu, grain: int) -> None:
    chosen = torch.randint(0, 5, (77, 3), generator=seeded(9))
    groups = native.group(chosen, 7, grain)
    pairs = torch.bincount(chosen.flatten(), minlength=7)
    assert groups.counts == [-(-count // grain) * grain for count in pairs.tolist()]
    assert len(groups.source) == sum(groups.counts)
    assert torch.equal(groups.source[groups.place], torch.arange(77)[:, None].expand(-1, 3))
    first = torch.tensor([0, *groups.counts]).cumsum(0)
    assert ((first[chosen] <= groups.place) & (groups.place < first[chosen] + pairs[chosen])).all()


def test_an_expert_that_does_not_exist_is_refused(native: NativeCpu) -> None:
    for wrong in (-1, 9):
        with pytest.raises(ValueError, match="no such expert"):
            native.group(torch.tensor([[0, wrong]]), 9)


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
@pytest.mark.parametrize(("rows", "width"), [(1, 16), (33, 128), (70, 48)])
def test_swiglu_clamps_the_gate_above_and_the_up_on_both_sides(
    native: NativeCpu, rows: int, width: int, dtype: torch.dtype
) -> None:
    gate_up = (6 * torch.randn(rows, 2 * width, generator=seeded(rows))).to(dtype)
    gate, up = gate_up.double().chunk(2, dim=1)
    expected = functional.silu(gate.clamp(max=2.0)) * up.clamp(-2.0, 2.0)
    tolerance = 1e-6 if dtype is torch.float32 else 2**-7
    torch.testing.assert_close(native.swiglu(gate_up, 2.0).double(), expected, atol=1e-6, rtol=tolerance)


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
@pytest.mark.parametrize("tokens", (1, 33, 130))
def test_combining_sums_slots_and_adds_the_shared_expert(native: NativeCpu, tokens: int, dtype: torch.dtype) -> None:
    outputs = torch.randn(6 * tokens, 48, generator=seeded(1)).to(dtype)
    place = torch.randperm(6 * tokens, generator=seeded(2)).view(tokens, 6)
    weights, shared = torch.rand(tokens, 6, generator=seeded(3)), torch.randn(tokens, 48, generator=seeded(4)).to(dtype)
    y = native.combine(outputs, place, weights, shared)
    expected = (outputs.double()[place] * weights.double()[:, :, None]).sum(dim=1) + shared.double()
    torch.testing.assert_close(y.double(), expected, atol=1e-5, rtol=1e-5)


def test_rows_do_not_depend_on_the_number_of_threads_or_rows() -> None:
    one, two = kernels(1), kernels(2)
    gate_up = torch.randn(100, 96, generator=seeded(8))
    whole = one.swiglu(gate_up, 3.0)
    assert torch.equal(two.swiglu(gate_up, 3.0), whole)
    assert torch.equal(torch.cat([two.swiglu(part.contiguous(), 3.0) for part in gate_up.split(7)]), whole)
