"""Residual streams: mixing with all Sinkhorn passes, the way back, and the final collapse (device/residual_*.hip)."""

import math
from dataclasses import dataclass

import torch

from kernels.launch import Launcher
from kernels.ops.checks import require_rows, require_shape
from kernels.source import KernelSource

STREAMS = 4
MOST_SPLITS = 32  # pieces of the channels
TOKENS_A_GROUP = 16
FEW_TOKENS = 4  # up to here every token has workgroups of its own
WAYS_BACK_A_GROUP = 8
MIXER_OUTPUTS, COLLAPSE_OUTPUTS = 24, 4


def tokens_a_group(tokens: int) -> int:
    """How many of a step's tokens share a workgroup of the first half."""
    return 1 if tokens <= FEW_TOKENS else TOKENS_A_GROUP


@dataclass(frozen=True, slots=True)
class ResidualShape:
    """Width of a stream and the number of Sinkhorn iterations. There are always four streams."""

    hidden: int
    iterations: int = 20

    @property
    def splits(self) -> int:
        """Pieces of the channels; the width alone decides, so that a token's bits do not depend on the batch."""
        return math.gcd(MOST_SPLITS, self.hidden // 4)

    @property
    def lds_bytes(self) -> int:
        """The most that a workgroup holds: a piece of the streams of all its tokens, in float32."""
        return TOKENS_A_GROUP * STREAMS * (self.hidden // self.splits) * 4

    def project_source(self, outputs: int = MIXER_OUTPUTS, tokens: int = 1, expands: bool = False) -> KernelSource:
        """The first half for a step of `tokens`; with `expands` it also takes the streams back from a sublayer."""
        defines = (*self._defines(outputs), ("TOKENS", tokens_a_group(tokens)), ("EXPANDS", int(expands)))
        return KernelSource("residual_project", "residual_project", defines, 256)

    def finish_source(self, outputs: int = MIXER_OUTPUTS) -> KernelSource:
        defines = (*self._defines(outputs), ("ITERATIONS", self.iterations))
        return KernelSource("residual_finish", "residual_finish", defines, 32 * WAYS_BACK_A_GROUP)

    def _defines(self, outputs: int) -> tuple[tuple[str, int], ...]:
        return ("STREAMS", STREAMS), ("HIDDEN", self.hidden), ("OUTPUTS", outputs), ("SPLITS", self.splits)

    def expand_source(self) -> KernelSource:
        defines = (("STREAMS", STREAMS), ("HIDDEN", self.hidden))
        return KernelSource("residual_expand", "residual_expand", defines, 256)

    def partial_shape(self, tokens: int, outputs: int = MIXER_OUTPUTS) -> tuple[int, int, int]:
        """Shape of the float32 work buffer of `mix` and `collapse`."""
        return tokens, self.splits, outputs + 1


@dataclass(frozen=True, slots=True)
class MixerWeights:
    """fn [outputs, 4 hidden], scale [3] (collapse: [1]), base [outputs], norm [hidden]; all float32."""

    fn: torch.Tensor
    scale: torch.Tensor
    base: torch.Tensor
    norm: torch.Tensor


@dataclass(frozen=True, slots=True)
class MixOutputs:
    """Where `mix` writes: x [N, hidden] normed, post [N, 4], comb [N, 4, 4]; all float32."""

    x: torch.Tensor
    post: torch.Tensor
    comb: torch.Tensor


@dataclass(frozen=True, slots=True)
class WayBack:
    """A sublayer's answer y [N, hidden], and post [N, 4] and comb [N, 4, 4] from its `mix`; all float32."""

    y: torch.Tensor
    post: torch.Tensor
    comb: torch.Tensor


def mix(
    launcher: Launcher,
    shape: ResidualShape,
    streams: torch.Tensor,
    weights: MixerWeights,
    partial: torch.Tensor,
    out: MixOutputs,
    rms_epsilon: float = 1e-6,
    mix_epsilon: float = 1e-6,
) -> None:
    """streams float32 [N, 4, hidden] to a sublayer's normed input and the weights of its way back."""
    _check_mixer(weights, out, streams.shape[0])
    _run(launcher, shape, MIXER_OUTPUTS, streams, None, weights, partial, out, (rms_epsilon, mix_epsilon))


def expand_mix(
    launcher: Launcher,
    shape: ResidualShape,
    streams: torch.Tensor,
    back: WayBack,
    weights: MixerWeights,
    partial: torch.Tensor,
    out: MixOutputs,
    rms_epsilon: float = 1e-6,
    mix_epsilon: float = 1e-6,
) -> None:
    """`expand` of one sublayer in place and `mix` for the next, with the bits of both; streams are read once less.

    `out.post` and `out.comb` may be `back.post` and `back.comb`, and `out.x` may be `back.y`.
    """
    _check_back(shape, back, streams.shape[0])
    _check_mixer(weights, out, streams.shape[0])
    _run(launcher, shape, MIXER_OUTPUTS, streams, back, weights, partial, out, (rms_epsilon, mix_epsilon))


def collapse(
    launcher: Launcher,
    shape: ResidualShape,
    streams: torch.Tensor,
    weights: MixerWeights,
    partial: torch.Tensor,
    x: torch.Tensor,
    rms_epsilon: float = 1e-6,
    mix_epsilon: float = 1e-6,
) -> None:
    """The final collapse with the output norm: streams [N, 4, hidden] to x [N, hidden]."""
    require_shape("scale", weights.scale, 1)
    out = MixOutputs(x, x, x)  # the kernel of four outputs writes neither post nor comb
    _run(launcher, shape, COLLAPSE_OUTPUTS, streams, None, weights, partial, out, (rms_epsilon, mix_epsilon))


def expand(
    launcher: Launcher,
    shape: ResidualShape,
    streams: torch.Tensor,
    y: torch.Tensor,
    post: torch.Tensor,
    comb: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """S'[k] = post[k] y + sum_j comb[j, k] S[j]; streams and out [N, 4, hidden] (may be one tensor), y [N, hidden]."""
    tokens = streams.shape[0]
    require_shape("streams", streams, tokens, STREAMS, shape.hidden)
    require_shape("out", out, tokens, STREAMS, shape.hidden)
    _check_back(shape, WayBack(y, post, comb), tokens)
    grid = (-(-shape.hidden // 4 // 256), tokens, 1)
    launcher.kernel(shape.expand_source())(grid, streams=streams, y=y, post=post, comb=comb, out=out)


def _check_mixer(weights: MixerWeights, out: MixOutputs, tokens: int) -> None:
    require_shape("post", out.post, tokens, STREAMS)
    require_shape("comb", out.comb, tokens, STREAMS, STREAMS)
    require_shape("scale", weights.scale, 3)


def _check_back(shape: ResidualShape, back: WayBack, tokens: int) -> None:
    require_shape("y", back.y, tokens, shape.hidden)
    require_shape("post", back.post, tokens, STREAMS)
    require_shape("comb", back.comb, tokens, STREAMS, STREAMS)


def _run(
    launcher: Launcher,
    shape: ResidualShape,
    outputs: int,
    streams: torch.Tensor,
    back: WayBack | None,
    weights: MixerWeights,
    partial: torch.Tensor,
    out: MixOutputs,
    epsilons: tuple[float, float],
) -> None:
    tokens = streams.shape[0]
    require_shape("streams", streams, tokens, STREAMS, shape.hidden)
    require_shape("fn", weights.fn, outputs, STREAMS * shape.hidden)
    require_shape("base", weights.base, outputs)
    require_shape("norm", weights.norm, shape.hidden)
    require_rows("partial", partial, tokens, shape.splits, outputs + 1)
    require_shape("x", out.x, tokens, shape.hidden)
    project = shape.project_source(outputs, tokens, expands=back is not None)
    launcher.kernel(project)(
        (-(-tokens // tokens_a_group(tokens)), shape.splits, 1),
        streams=streams,
        y=None if back is None else back.y,
        post=None if back is None else back.post,
        comb=None if back is None else back.comb,
        fn=weights.fn,
        partial=partial,
        tokens=tokens,
    )
    ways_back = -(-tokens // WAYS_BACK_A_GROUP) if outputs == MIXER_OUTPUTS else 0
    launcher.kernel(shape.finish_source(outputs))(
        (tokens + ways_back, 1, 1),
        partial=partial,
        streams=streams,
        scale=weights.scale,
        base=weights.base,
        norm=weights.norm,
        x=out.x,
        post=out.post,
        comb=out.comb,
        tokens=tokens,
        rms_epsilon=epsilons[0],
        mix_epsilon=epsilons[1],
    )
