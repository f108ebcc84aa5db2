"""Residual mixing on the emulator against float64: logits, Sinkhorn passes, collapse, expand, odd token counts."""

import pytest
import torch

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops import residual
from kernels.ops.residual import MixerWeights, MixOutputs, ResidualShape, WayBack
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay


def mixer(random: torch.Generator, hidden: int, outputs: int) -> MixerWeights:
    fn = torch.randn(outputs, 4 * hidden, generator=random) * (4 * hidden) ** -0.5
    scale = torch.rand(3 if outputs == 24 else 1, generator=random) + 0.6
    norm = torch.rand(hidden, generator=random) + 0.5
    return MixerWeights(fn, scale, torch.randn(outputs, generator=random), norm)


def normed(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * (x.square().mean(dim=-1, keepdim=True) + 1e-6).rsqrt() * weight.double()


def logits(streams: torch.Tensor, fn: torch.Tensor) -> torch.Tensor:
    v = streams.double().flatten(1)
    return (v @ fn.double().T) * (v.square().mean(dim=1, keepdim=True) + 1e-6).rsqrt()


def reference_mix(
    streams: torch.Tensor, w: MixerWeights, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    m, scale, base = logits(streams, w.fn), w.scale.double(), w.base.double()
    pre = torch.sigmoid(scale[0] * m[:, :4] + base[:4]) + epsilon
    post = 2 * torch.sigmoid(scale[1] * m[:, 4:8] + base[4:8])
    a = (scale[2] * m[:, 8:] + base[8:]).view(-1, 4, 4).softmax(dim=2) + epsilon
    a = a / (a.sum(dim=1, keepdim=True) + epsilon)
    for _ in range(19):
        a = a / (a.sum(dim=2, keepdim=True) + epsilon)
        a = a / (a.sum(dim=1, keepdim=True) + epsilon)
    return normed(torch.einsum("tj,tjd->td", pre, streams.double()), w.norm), post, a


@pytest.mark.parametrize(
    ("hidden", "tokens", "epsilon"),
    [(384, 1, 1e-6), (384, 1, 0.01), (384, 19, 0.01), (384, 19, 1e-6), (4096, 3, 1e-6), (64, 19, 0.01)],
)
def test_mix_matches_float64(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hidden: int, tokens: int, epsilon: float
) -> None:
    """The larger epsilon shows where it is added; the model's own would be lost in the bound."""
    shape, weights = ResidualShape(hidden), mixer(random, hidden, 24)
    streams = torch.randn(tokens, 4, hidden, generator=random) * 3

    def run() -> tuple[torch.Tensor, ...]:
        out = MixOutputs(buffers.new(tokens, hidden), buffers.new(tokens, 4), buffers.new(tokens, 4, 4))
        partial = buffers.new(*shape.partial_shape(tokens))
        residual.mix(launcher, shape, streams, weights, partial, out, mix_epsilon=epsilon)
        return out.x, out.post, out.comb

    for found, wanted in zip(replay(launcher, run), reference_mix(streams, weights, epsilon), strict=True):
        assert nmse(found, wanted) <= 1e-10


@pytest.mark.parametrize(("hidden", "tokens"), [(384, 27), (4096, 6)])
def test_a_tokens_mix_does_not_depend_on_its_batch(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hidden: int, tokens: int
) -> None:
    """Single tokens, a few and many take different workgroups, and must not show it."""
    shape, weights = ResidualShape(hidden), mixer(random, hidden, 24)
    streams = torch.randn(tokens, 4, hidden, generator=random)

    def run(part: torch.Tensor) -> torch.Tensor:
        n = part.shape[0]
        out = MixOutputs(buffers.new(n, hidden), buffers.new(n, 4), buffers.new(n, 4, 4))
        residual.mix(launcher, shape, part, weights, buffers.new(*shape.partial_shape(n)), out)
        return torch.cat([out.x, out.post, out.comb.flatten(1)], dim=1)

    parts = [run(streams[:1]), run(streams[1:3]), run(streams[3:])]
    assert torch.equal(torch.cat(parts), run(streams))


@pytest.mark.parametrize(("hidden", "tokens"), [(384, 1), (384, 21), (4096, 1), (4096, 5)])
def test_expand_mix_gives_the_bits_of_its_two_parts(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hidden: int, tokens: int
) -> None:
    """Also where the new way back and the new input take the places of the old ones."""
    shape, weights = ResidualShape(hidden), mixer(random, hidden, 24)
    before, y = torch.randn(tokens, 4, hidden, generator=random), torch.randn(tokens, hidden, generator=random)
    post, comb = torch.rand(tokens, 4, generator=random), torch.rand(tokens, 4, 4, generator=random)

    wanted = MixOutputs(buffers.new(tokens, hidden), buffers.new(tokens, 4), buffers.new(tokens, 4, 4))
    expanded = buffers.new(tokens, 4, hidden)
    residual.expand(launcher, shape, before, y, post, comb, expanded)
    residual.mix(launcher, shape, expanded, weights, buffers.new(*shape.partial_shape(tokens)), wanted)

    def run() -> tuple[torch.Tensor, ...]:
        streams = buffers.new(tokens, 4, hidden).copy_(before)
        out = MixOutputs(
            buffers.new(tokens, hidden).copy_(y),
            buffers.new(tokens, 4).copy_(post),
            buffers.new(tokens, 4, 4).copy_(comb),
        )
        back, partial = WayBack(out.x, out.post, out.comb), buffers.new(*shape.partial_shape(tokens))
        residual.expand_mix(launcher, shape, streams, back, weights, partial, out)
        return streams, out.x, out.post, out.comb

    for found, want in zip(replay(launcher, run), (expanded, wanted.x, wanted.post, wanted.comb), strict=True):
        assert torch.equal(found, want)


@pytest.mark.parametrize(("hidden", "tokens"), [(384, 9), (4096, 1)])
def test_collapse_matches_float64(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hidden: int, tokens: int
) -> None:
    shape, weights = ResidualShape(hidden), mixer(random, hidden, 4)
    streams = torch.randn(tokens, 4, hidden, generator=random)
    x = buffers.new(tokens, hidden)
    residual.collapse(launcher, shape, streams, weights, buffers.new(*shape.partial_shape(tokens, 4)), x)
    share = torch.sigmoid(weights.scale.double() * logits(streams, weights.fn) + weights.base.double()) + 1e-6
    assert nmse(x, normed(torch.einsum("tj,tjd->td", share, streams.double()), weights.norm)) <= 1e-10


@pytest.mark.parametrize(("hidden", "tokens"), [(384, 5), (4096, 2)])
def test_expand_matches_float64_also_in_place(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hidden: int, tokens: int
) -> None:
    streams, y = torch.randn(tokens, 4, hidden, generator=random), torch.randn(tokens, hidden, generator=random)
    post, comb = torch.rand(tokens, 4, generator=random), torch.rand(tokens, 4, 4, generator=random)
    wanted = torch.einsum("tjk,tjd->tkd", comb.double(), streams.double())
    wanted += post.double()[:, :, None] * y.double()[:, None]
    out = buffers.new(tokens, 4, hidden)
    residual.expand(launcher, ResidualShape(hidden), streams, y, post, comb, out)
    assert nmse(out, wanted) <= 1e-10
    residual.expand(launcher, ResidualShape(hidden), streams, y, post, comb, streams)
    assert torch.equal(streams, out)


def test_wrong_extents_are_refused(launcher: Launcher, random: torch.Generator) -> None:
    shape, weights = ResidualShape(384), mixer(random, 384, 24)
    out = MixOutputs(torch.empty(3, 384), torch.empty(3, 4), torch.empty(2, 4, 4))
    with pytest.raises(KernelArgumentError, match="comb"):
        residual.mix(launcher, shape, torch.zeros(3, 4, 384), weights, torch.empty(3, 32, 25), out)
    with pytest.raises(KernelArgumentError, match="partial"):
        good = MixOutputs(torch.empty(3, 384), torch.empty(3, 4), torch.empty(3, 4, 4))
        residual.mix(launcher, shape, torch.zeros(3, 4, 384), weights, torch.empty(2, 32, 25), good)
    with pytest.raises(KernelArgumentError, match="y has shape"):
        back = WayBack(torch.empty(2, 384), good.post, good.comb)
        residual.expand_mix(launcher, shape, torch.zeros(3, 4, 384), back, weights, torch.empty(3, 32, 25), good)
