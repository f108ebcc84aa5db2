"""Native hyper-connections against float64 torch, and their bits under every way of cutting the tokens."""

import dataclasses
from itertools import pairwise

import pytest
import torch

from kernels.cpu import MixedTokens, MixerWeights, NativeCpu
from tests.kernels.cpu import reference
from tests.kernels.cpu.reference import same_bits

SIZES = [(1, 16), (3, 64), (15, 48), (16, 384), (17, 64), (33, 112), (50, 384), (2, 4096)]


def make_mixer(
    width: int, *, outputs: int = 24, norm: bool = True, seed: int = 1, iterations: int = 20
) -> MixerWeights:
    g = torch.Generator().manual_seed(seed)
    return MixerWeights(
        fn=torch.randn(outputs, 4 * width, generator=g) * 0.3,
        scale=torch.randn(3 if outputs == 24 else 1, generator=g),
        base=torch.randn(outputs, generator=g),
        norm=torch.rand(width, generator=g) + 0.5 if norm else None,
        rms_eps=1e-6,
        hc_eps=1e-6,
        iterations=iterations,
    )


def make_streams(tokens: int, width: int, seed: int = 2) -> torch.Tensor:
    return torch.randn(tokens, 4, width, generator=torch.Generator().manual_seed(seed))


def parts(mixed: MixedTokens) -> tuple[torch.Tensor, ...]:
    return mixed.x, mixed.post, mixed.comb


def close(got: torch.Tensor, expected: torch.Tensor, bound: float) -> bool:
    return bool((got.double() - expected).abs().max() <= bound * max(1.0, float(expected.abs().max())))


@pytest.mark.parametrize(("tokens", "width"), SIZES)
@pytest.mark.parametrize("norm", [True, False])
def test_mixing_equals_the_formula(native: NativeCpu, tokens: int, width: int, norm: bool) -> None:
    streams, mixer = make_streams(tokens, width), make_mixer(width, norm=norm)
    got = native.hc_mix(streams, mixer)
    for mine, expected in zip(parts(got), reference.hc_mix(streams, mixer), strict=True):
        assert close(mine, expected, 3e-5)


def test_the_matrix_is_applied_by_its_first_index_and_is_not_symmetric(native: NativeCpu) -> None:
    streams, mixer = make_streams(20, 32), make_mixer(32)
    comb = native.hc_mix(streams, mixer).comb
    assert float((comb - comb.transpose(1, 2)).abs().max()) > 0.05
    assert close(comb.sum(dim=1), torch.ones(20, 4, dtype=torch.float64), 1e-5)


@pytest.mark.parametrize("iterations", [1, 2, 7, 20])
def test_every_sinkhorn_pass_counts(native: NativeCpu, iterations: int) -> None:
    streams, mixer = make_streams(18, 32), make_mixer(32, iterations=iterations)
    assert close(native.hc_mix(streams, mixer).comb, reference.hc_mix(streams, mixer)[2], 3e-6)


def test_extreme_mixing_logits_stay_finite(native: NativeCpu) -> None:
    mixer = make_mixer(32)
    loud = dataclasses.replace(mixer, fn=mixer.fn * 1e4, scale=torch.tensor([50.0, -50.0, 50.0]))
    streams = make_streams(40, 32)
    streams[7] = 0
    got = native.hc_mix(streams, loud)
    assert all(bool(part.isfinite().all()) for part in parts(got))
    assert close(got.post, reference.hc_mix(streams, loud)[1], 1e-3)


@pytest.mark.parametrize(("tokens", "width"), SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_expansion_equals_the_formula_and_touches_nothing_else(
    native: NativeCpu, tokens: int, width: int, dtype: torch.dtype
) -> None:
    around = torch.full((tokens + 2, 4, width), 7.25)
    streams = around[1:-1]
    streams.copy_(make_streams(tokens, width))
    mixed = native.hc_mix(streams, make_mixer(width))
    y = torch.randn(tokens, width, generator=torch.Generator().manual_seed(3)).to(dtype)
    expected = reference.hc_expand(streams, y, mixed.post, mixed.comb)
    native.hc_expand(streams, y, mixed)
    assert close(streams, expected, 1e-6)
    assert bool((around[0] == 7.25).all()) and bool((around[-1] == 7.25).all())


@pytest.mark.parametrize(("tokens", "width"), SIZES)
def test_expanding_and_mixing_in_one_pass_gives_the_bits_of_two(native: NativeCpu, tokens: int, width: int) -> None:
    streams, first, second = make_streams(tokens, width), make_mixer(width), make_mixer(width, seed=9)
    mixed = native.hc_mix(streams, first)
    y = torch.randn(tokens, width, generator=torch.Generator().manual_seed(3)).bfloat16()
    apart, fused = streams.clone(), streams.clone()
    native.hc_expand(apart, y, mixed)
    expected = native.hc_mix(apart, second)
    got = native.hc_expand_mix(fused, y, mixed, second)
    assert same_bits(fused, apart)
    assert all(map(same_bits, parts(got), parts(expected)))


@pytest.mark.parametrize(("tokens", "width"), SIZES)
@pytest.mark.parametrize("norm", [True, False])
def test_the_final_collapse_equals_the_formula(native: NativeCpu, tokens: int, width: int, norm: bool) -> None:
    streams, mixer = make_streams(tokens, width), make_mixer(width, outputs=4, norm=norm)
    got = native.hc_head(streams, mixer)
    assert close(got, reference.hc_head(streams, mixer), 3e-5)
    assert same_bits(native.hc_head(streams, mixer, out_dtype=torch.bfloat16), got.bfloat16())


def test_bfloat16_output_is_the_rounded_float32_output(native: NativeCpu) -> None:
    streams, mixer = make_streams(35, 96), make_mixer(96)
    assert same_bits(
        native.hc_mix(streams, mixer, out_dtype=torch.bfloat16).x, native.hc_mix(streams, mixer).x.bfloat16()
    )


@pytest.mark.parametrize("cuts", [(1,), (16, 32), (5, 6, 7, 30), tuple(range(1, 41))], ids=len)
def test_any_split_and_any_number_of_threads_give_the_same_bits(
    native: NativeCpu, native_alone: NativeCpu, cuts: tuple[int, ...]
) -> None:
    streams, mixer, head = make_streams(41, 64), make_mixer(64), make_mixer(64, outputs=4)
    whole, alone = native.hc_mix(streams, mixer), native_alone.hc_mix(streams, mixer)
    assert all(map(same_bits, parts(whole), parts(alone)))
    edges = [0, *cuts, 41]
    spans = list(pairwise(edges))
    pieces = [native.hc_mix(streams[a:b], mixer) for a, b in spans]
    for want, *got in zip(parts(whole), *map(parts, pieces), strict=True):
        assert same_bits(torch.cat(got), want)
    collapsed = torch.cat([native.hc_head(streams[a:b], head) for a, b in spans])
    assert same_bits(collapsed, native.hc_head(streams, head))


def test_fifty_replays_give_the_same_bits(native: NativeCpu) -> None:
    streams, mixer = make_streams(45, 64), make_mixer(64)
    first = native.hc_mix(streams, mixer)
    for _ in range(50):
        assert all(map(same_bits, parts(native.hc_mix(streams, mixer)), parts(first)))


def test_a_tensor_that_does_not_fit_is_refused_by_name(native: NativeCpu) -> None:
    streams, mixer = make_streams(3, 32), make_mixer(32)
    mixed = native.hc_mix(streams, mixer)
    with pytest.raises(ValueError, match="streams has shape"):
        native.hc_mix(torch.zeros(3, 5, 32), mixer)
    with pytest.raises(ValueError, match="multiple of 16"):
        native.hc_mix(torch.zeros(3, 4, 24), make_mixer(24))
    with pytest.raises(ValueError, match="fn has shape"):
        native.hc_mix(streams, make_mixer(48))
    with pytest.raises(ValueError, match="scale has shape"):
        native.hc_head(streams, dataclasses.replace(make_mixer(32, outputs=4), scale=torch.zeros(3)))
    with pytest.raises(ValueError, match="at least one iteration"):
        native.hc_mix(streams, dataclasses.replace(mixer, iterations=0))
    with pytest.raises(ValueError, match="cannot write"):
        native.hc_mix(streams, mixer, out_dtype=torch.float16)
    with pytest.raises(ValueError, match="y has type"):
        native.hc_expand(streams, torch.zeros(3, 32).half(), mixed)
    with pytest.raises(ValueError, match="comb has shape"):
        native.hc_expand(streams, torch.zeros(3, 32), dataclasses.replace(mixed, comb=torch.zeros(3, 16)))
