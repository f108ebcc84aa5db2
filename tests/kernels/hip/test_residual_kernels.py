"""Residual mixing on the emulator against float64: logits, Sinkhorn passes, collapse, expand, odd token counts."""

import pytest
import torch

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops import residual
from kernels.ops.residual import MixerWeights, MixOutputs, ResidualShape
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


def reference_mix(streams: torch.Tensor, w: MixerWeights) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    m, scale, base = logits(streams, w.fn), w.scale.double(), w.base.double()
    pre = torch.sigmoid(scale[0] * m[:, :4] + base[:4]) + 1e-6
    post = 2 * torch.sigmoid(scale[1] * m[:, 4:8] + base[4:8])
    a = (scale[2] * m[:, 8:] + base[8:]).view(-1, 4, 4).softmax(dim=2) + 1e-6
    a = a / (a.sum(dim=1, keepdim=True) + 1e-6)
    for _ in range(19):
        a = a / (a.sum(dim=2, keepdim=True) + 1e-6)
        a = a / (a.sum(dim=1, keepdim=True) + 1e-6)
    return normed(torch.einsum("tj,tjd->td", pre, streams.double()), w.norm), post, a


@pytest.mark.parametrize(("hidden", "tokens"), [(384, 1), (384, 19), (4096, 3)])
def test_mix_matches_float64(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hidden: int, tokens: int
) -> None:
    shape, weights = ResidualShape(hidden), mixer(random, hidden, 24)
    streams = torch.randn(tokens, 4, hidden, generator=random) * 3

    def run() -> tuple[torch.Tensor, ...]:
        out = MixOutputs(buffers.new(tokens, hidden), buffers.new(tokens, 4), buffers.new(tokens, 4, 4))
        residual.mix(launcher, shape, streams, weights, buffers.new(*shape.partial_shape(tokens)), out)
        return out.x, out.post, out.comb

    for found, wanted in zip(replay(launcher, run), reference_mix(streams, weights), strict=True):
        assert nmse(found, wanted) <= 1e-10


def test_a_tokens_mix_does_not_depend_on_its_batch(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    shape, weights = ResidualShape(384), mixer(random, 384, 24)
    streams = torch.randn(11, 4, 384, generator=random)

    def run(part: torch.Tensor) -> torch.Tensor:
        n = part.shape[0]
        out = MixOutputs(buffers.new(n, 384), buffers.new(n, 4), buffers.new(n, 4, 4))
        residual.mix(launcher, shape, part, weights, buffers.new(*shape.partial_shape(n)), out)
        return torch.cat([out.x, out.post, out.comb.flatten(1)], dim=1)

    assert torch.equal(torch.cat([run(streams[:1]), run(streams[1:10]), run(streams[10:])]), run(streams))


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
        residual.mix(launcher, shape, torch.zeros(3, 4, 384), weights, torch.empty(3, 16, 25), out)
    with pytest.raises(KernelArgumentError, match="partial"):
        good = MixOutputs(torch.empty(3, 384), torch.empty(3, 4), torch.empty(3, 4, 4))
        residual.mix(launcher, shape, torch.zeros(3, 4, 384), weights, torch.empty(2, 16, 25), good)
