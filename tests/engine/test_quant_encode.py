"""The encoders: never a larger squared error than plain scaling, exact where exactness is possible, and refusals."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.quant.codecs import codec_for, decode, encode
from engine.quant.ggml import MXFP4_LEVELS, e8m0_scales
from engine.quant.rocmfp import FP3_LEVELS, FP4_LEVELS, scale_table
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here

CPU = torch.device("cpu")


def nearest_level(ratio: torch.Tensor, levels: tuple[int, ...]) -> torch.Tensor:
    table = torch.tensor(sorted({*levels, *(-level for level in levels)}), dtype=torch.float64)
    return table[(ratio[..., None] - table).abs().argmin(dim=-1)]


def plain_q8_0(weights: torch.Tensor) -> torch.Tensor:
    scale = (weights.abs().amax(dim=-1, keepdim=True) / 127).clamp(max=65504).half().double()
    ratio = torch.where(scale > 0, weights / scale, 0)
    return ratio.round().clamp(-127, 127) * scale


def plain_levels(levels: tuple[int, ...], table: torch.Tensor, group: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """The scale nearest to largest weight over largest level, in each group of weights."""

    def encode_plainly(weights: torch.Tensor) -> torch.Tensor:
        groups = weights.reshape(-1, group)
        wanted = groups.abs().amax(dim=1, keepdim=True) / levels[-1]
        scale = table.double()[(wanted - table.double()).abs().argmin(dim=1)][:, None]
        ratio = torch.where(scale > 0, groups / scale, 0)
        return (nearest_level(ratio, levels) * scale).reshape(weights.shape)

    return encode_plainly


UE4M3 = scale_table(CPU)[:127]
PLAIN: dict[int, Callable[[torch.Tensor], torch.Tensor]] = {
    8: plain_q8_0,
    39: plain_levels(MXFP4_LEVELS, e8m0_scales(CPU)[:255], 32),
    100: plain_levels(FP4_LEVELS, UE4M3, 16),
    101: plain_levels(FP4_LEVELS, UE4M3, 32),
    104: plain_levels(FP3_LEVELS, UE4M3, 16),
}
ENCODED = sorted(PLAIN)


def block_errors(type_id: int, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Squared error of every block of 32: (searched, plain), in float64."""
    wide = weights.double()
    searched = decode(type_id, encode(type_id, weights), weights.shape).double()
    plain = PLAIN[type_id](wide.reshape(-1, 32)).reshape(weights.shape)
    return (searched - wide).square().sum(dim=-1), (plain - wide).square().sum(dim=-1)


@pytest.mark.parametrize("type_id", ENCODED)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    exponent=st.integers(-30, 24),
    tail=st.sampled_from([0.0, 1.0, 3.0]),
    sparse=st.booleans(),
)
def test_search_is_never_worse_than_plain_scaling(
    type_id: int, seed: int, exponent: int, tail: float, sparse: bool
) -> None:
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(12, 32, generator=generator)
    weights = weights * weights.abs() ** tail * 2.0**exponent
    if sparse:
        weights = weights * (torch.rand(12, 32, generator=generator) < 0.2)
    searched, plain = block_errors(type_id, weights)
    # Candidates are compared in float32, so near-ties may differ in the last digits.
    assert bool((searched <= plain * (1 + 1e-5) + 1e-60).all())


@pytest.mark.parametrize(("type_id", "gain"), [(8, 0.99), (39, 0.97), (100, 0.97), (101, 0.97), (104, 0.9)])
def test_search_gains_on_ordinary_weights(type_id: int, gain: float) -> None:
    weights = torch.randn(512, 32, generator=torch.Generator().manual_seed(7)) * 0.02
    searched, plain = block_errors(type_id, weights)
    assert float(searched.sum()) < gain * float(plain.sum())


@pytest.mark.parametrize("type_id", ENCODED)
def test_what_the_format_can_hold_comes_back_exactly(type_id: int) -> None:
    codec = codec_for(type_id)
    generator = torch.Generator().manual_seed(11)
    raw = torch.randint(0, 256, (200, codec.bytes), generator=generator, dtype=torch.uint8)
    scales = {8: [0, 1], 39: [0], 100: [16, 17], 101: [16], 104: [12, 13]}[type_id]
    for place in scales:  # scales of ordinary size: fp16 near 1, the middle of the other ranges
        low, high = (0x38, 0x40) if type_id == 8 else (40, 100)
        raw[:, place] = torch.randint(low, high, (200,), generator=generator, dtype=torch.uint8)
    if type_id == 8:
        raw[:, 2:][raw[:, 2:] == 128] = 0  # -128 is never written
        raw[:, 2] = 127  # with the largest level in use the scale is determined
    weights = decode(type_id, raw, (200, 32))
    assert torch.equal(decode(type_id, encode(type_id, weights), weights.shape), weights)


@pytest.mark.parametrize("type_id", ENCODED)
def test_zeros_and_extremes(type_id: int) -> None:
    assert not decode(type_id, encode(type_id, torch.zeros(2, 64)), (2, 64)).any()
    huge = torch.full((1, 32), 1e38)
    decoded = decode(type_id, encode(type_id, huge), (1, 32))
    assert bool(torch.isfinite(decoded).all()) and bool((decoded > 0).all())


@pytest.mark.parametrize("type_id", ENCODED)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused(type_id: int, bad: float) -> None:
    weights = torch.zeros(1, 32)
    weights[0, 3] = bad
    with pytest.raises(ValueError, match="not finite"):
        encode(type_id, weights)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="whole Q8_0 blocks"):
        encode(8, torch.zeros(2, 33))
    with pytest.raises(ValueError, match="read but not written"):
        encode(12, torch.zeros(1, 256))
    assert encode(8, torch.zeros(0, 32)).shape == (0,)


def test_half_precision_weights_are_encoded_like_wide_ones() -> None:
    weights = torch.randn(8, 64, generator=torch.Generator().manual_seed(3)).half()
    for type_id in ENCODED:
        assert torch.equal(encode(type_id, weights), encode(type_id, weights.float()))
