"""Hyper-connections of the native CPU kernels, as methods on torch tensors.

Part of NativeCpu (kernels/cpu/native.py). Formulas: DS4 specification section 2, restated in mixing.h.
"""

from dataclasses import dataclass

import torch

from kernels.cpu import arguments as args
from kernels.cpu.caller import Caller

STREAMS = 4
MIX_OUTPUTS = STREAMS * (2 + STREAMS)


@dataclass(frozen=True, slots=True)
class MixerWeights:
    """One mixer, float32: fn [24, 4 * D], scale [3], base [24]; for the final collapse fn [4, 4 * D], scale [1],
    base [4]. `norm` [D] is the weight of the RMS norm that follows the collapse. `iterations` counts Sinkhorn passes.
    """

    fn: torch.Tensor
    scale: torch.Tensor
    base: torch.Tensor
    norm: torch.Tensor | None
    rms_eps: float
    hc_eps: float
    iterations: int


@dataclass(frozen=True, slots=True)
class MixedTokens:
    """A sublayer's input x [N, D] (float32 or bfloat16) and its way back: post [N, 4], comb [N, 4, 4] float32."""

    x: torch.Tensor
    post: torch.Tensor
    comb: torch.Tensor


def _check_streams(streams: torch.Tensor) -> tuple[int, int]:
    args.check("streams", streams, args.FLOATS, (None, STREAMS, None))
    tokens, _, width = streams.shape
    args.require(width > 0 and width % 16 == 0, f"a width of {width} is no multiple of 16")
    return tokens, width


def _check_mixer(mixer: MixerWeights, width: int, outputs: int, scales: int) -> None:
    args.check("fn", mixer.fn, args.FLOATS, (outputs, STREAMS * width))
    args.check("scale", mixer.scale, args.FLOATS, (scales,))
    args.check("base", mixer.base, args.FLOATS, (outputs,))
    if mixer.norm is not None:
        args.check("norm", mixer.norm, args.FLOATS, (width,))


def _check_way_back(y: torch.Tensor, mixed: MixedTokens, tokens: int, width: int) -> None:
    args.check("y", y, args.ACTIVATIONS, (tokens, width))
    args.check("post", mixed.post, args.FLOATS, (tokens, STREAMS))
    args.check("comb", mixed.comb, args.FLOATS, (tokens, STREAMS, STREAMS))


class MixingKernels(Caller):
    """Mix four streams to a sublayer's input, expand them again, and collapse them at the end."""

    def hc_mix(
        self, streams: torch.Tensor, mixer: MixerWeights, *, out_dtype: torch.dtype = torch.float32
    ) -> MixedTokens:
        """streams float32 [N, 4, D] to a sublayer's normed input x [N, D] in `out_dtype`, with post and comb.

        D is a multiple of 16; x is not normed if mixer.norm is None. Raises ValueError.
        """
        return self._mix(streams, mixer, None, None, out_dtype)

    def hc_expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: MixedTokens) -> None:
        """In place: streams[:, k] = post[:, k] y + sum over j of comb[:, j, k] streams[:, j].

        y [N, D] float32 or bfloat16 is the sublayer's output, `mixed` what its hc_mix returned. Raises ValueError.
        """
        tokens, width = _check_streams(streams)
        _check_way_back(y, mixed, tokens, width)
        record = args.HbMix(
            streams=streams.data_ptr(), y=y.data_ptr(), y_format=args.FORMATS[y.dtype], y_post=mixed.post.data_ptr(),
            y_comb=mixed.comb.data_ptr(), tokens=tokens, width=width,
        )  # fmt: skip
        self.call("hb_mix", record)

    def hc_expand_mix(
        self,
        streams: torch.Tensor,
        y: torch.Tensor,
        mixed: MixedTokens,
        mixer: MixerWeights,
        *,
        out_dtype: torch.dtype = torch.float32,
    ) -> MixedTokens:
        """hc_expand followed by hc_mix of the next sublayer, in one pass over memory and with the same bits."""
        return self._mix(streams, mixer, y, mixed, out_dtype)

    def _mix(
        self,
        streams: torch.Tensor,
        mixer: MixerWeights,
        y: torch.Tensor | None,
        mixed: MixedTokens | None,
        out_dtype: torch.dtype,
    ) -> MixedTokens:
        tokens, width = _check_streams(streams)
        _check_mixer(mixer, width, MIX_OUTPUTS, 3)
        args.require(mixer.iterations > 0, "Sinkhorn needs at least one iteration")
        args.require(out_dtype in args.ACTIVATIONS, f"mixing cannot write {out_dtype}")
        result = MixedTokens(
            torch.empty(tokens, width, dtype=out_dtype),
            torch.empty(tokens, STREAMS),
            torch.empty(tokens, STREAMS, STREAMS),
        )
        record = args.HbMix(
            streams=streams.data_ptr(), fn=mixer.fn.data_ptr(), scale=mixer.scale.data_ptr(),
            base=mixer.base.data_ptr(), norm=args.pointer(mixer.norm), x=result.x.data_ptr(),
            x_format=args.FORMATS[out_dtype], post=result.post.data_ptr(), comb=result.comb.data_ptr(),
            tokens=tokens, width=width, iterations=mixer.iterations, rms_eps=mixer.rms_eps, hc_eps=mixer.hc_eps,
        )  # fmt: skip
        if y is not None and mixed is not None:
            _check_way_back(y, mixed, tokens, width)
            record.y, record.y_format = y.data_ptr(), args.FORMATS[y.dtype]
            record.y_post, record.y_comb = mixed.post.data_ptr(), mixed.comb.data_ptr()
        self.call("hb_mix", record)
        return result

    def hc_head(
        self, streams: torch.Tensor, mixer: MixerWeights, *, out_dtype: torch.dtype = torch.float32
    ) -> torch.Tensor:
        """The final collapse of streams float32 [N, 4, D] to [N, D] in `out_dtype`, normed if mixer.norm is given."""
        tokens, width = _check_streams(streams)
        _check_mixer(mixer, width, STREAMS, 1)
        args.require(out_dtype in args.ACTIVATIONS, f"the collapse cannot write {out_dtype}")
        x = torch.empty(tokens, width, dtype=out_dtype)
        record = args.HbHead(
            streams.data_ptr(), mixer.fn.data_ptr(), mixer.scale.data_ptr(), mixer.base.data_ptr(),
            args.pointer(mixer.norm), x.data_ptr(), args.FORMATS[out_dtype], tokens, width, mixer.rms_eps,
            mixer.hc_eps,
        )  # fmt: skip
        self.call("hb_head", record)
        return x
