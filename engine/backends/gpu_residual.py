"""The residual streams of a prefill step on a GPU: into a sublayer, back out of it, and the final collapse.

Called by engine.backends.gpu, whose methods of the same names say what goes in and out (engine.backends.base.Backend).
"""

import torch

from engine.backends.gpu_machine import GpuMachine
from engine.layers.hyper_connection import Mixed, Mixer
from kernels.ops import residual
from kernels.ops.residual import MixerWeights, MixOutputs, WayBack


class ResidualStreams:
    """Stateless but for the machine; streams are float32 [N, streams, hidden]."""

    def __init__(self, machine: GpuMachine) -> None:
        self._launcher, self._shape, self._device = machine.launcher, machine.shapes.residual, machine.tensor_device
        self._epsilons = machine.config.rms_eps, machine.config.hc_eps

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        tokens, n, width = streams.shape
        found = Mixed(self._new(tokens, width), self._new(tokens, n), self._new(tokens, n, n))
        outputs = MixOutputs(found.x, found.post, found.comb)
        residual.mix(
            self._launcher, self._shape, streams, _weights(mixer, norm), self._partial(tokens), outputs, *self._epsilons
        )
        return found

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        residual.expand(self._launcher, self._shape, streams, y, mixed.post, mixed.comb, streams)

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        """The next sublayer's input takes the place of y."""
        residual.expand_mix(
            self._launcher,
            self._shape,
            streams,
            WayBack(y, mixed.post, mixed.comb),
            _weights(mixer, norm),
            self._partial(len(streams)),
            MixOutputs(y, mixed.post, mixed.comb),
            *self._epsilons,
        )
        return Mixed(y, mixed.post, mixed.comb)

    def collapse(self, streams: torch.Tensor, head: Mixer, norm: torch.Tensor) -> torch.Tensor:
        out = self._new(len(streams), streams.shape[-1])
        partial = self._new(*self._shape.partial_shape(len(streams), residual.COLLAPSE_OUTPUTS))
        residual.collapse(self._launcher, self._shape, streams, _weights(head, norm), partial, out, *self._epsilons)
        return out

    def _partial(self, tokens: int) -> torch.Tensor:
        return self._new(*self._shape.partial_shape(tokens))

    def _new(self, *shape: int) -> torch.Tensor:
        return torch.empty(shape, device=self._device)


def _weights(mixer: Mixer, norm: torch.Tensor) -> MixerWeights:
    return MixerWeights(mixer.fn, mixer.scale, mixer.base, norm)
