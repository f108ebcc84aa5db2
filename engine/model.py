"""The layer loop of DS4 and nothing else: one step of tokens through every layer, or one token's logits.

A step is a generator that yields after each layer, so that its caller reports progress and looks at the stop event
between layers. Called by the session on its thread.
"""

import threading
from collections.abc import Callable, Generator

import torch

from engine.backends.base import Backend
from engine.config import ModelConfig
from engine.errors import Stopped
from engine.layers.attention import StepContext, attend_step, output_projection, project
from engine.layers.norm import rms_norm
from engine.plan import BAND_TOKENS, Step
from engine.state import SessionState
from engine.weights import ModelWeights

Observer = Callable[[int, torch.Tensor], None]


class Network:
    """The weights, their backend, and the loop over layers. Holds no state of any session."""

    def __init__(self, config: ModelConfig, weights: ModelWeights, backend: Backend) -> None:
        self.config, self.weights, self.backend = config, weights, backend

    def run_step(
        self,
        token_ids: torch.Tensor,
        state: SessionState,
        step: Step,
        selects: bool = True,
        stop: threading.Event | None = None,
        band_tokens: int = BAND_TOKENS,
        observe: Observer | None = None,
    ) -> Generator[int, None, torch.Tensor]:
        """Run token_ids int64 [N] through all layers, yielding each layer's number from 1 when it is done.

        Returns the streams float32 [N, n, D]. Raises Stopped between layers or bands; the state is then half
        advanced and the caller must restore it. `observe` sees the streams after each layer.
        """

        def look_at_stop() -> None:
            if stop is not None and stop.is_set():
                raise Stopped("the prompt was stopped")

        context = StepContext(self.config, step, state.rounding, selects, band_tokens, look_at_stop)
        look_at_stop()
        ops, layers = self.backend, self.weights.layers
        embedded = self.weights.embedding[token_ids].float()
        streams = embedded[:, None, :].repeat(1, self.config.streams, 1)
        mixed = ops.mix(streams, layers[0].attn_mixer, layers[0].attn_norm)
        for index, layer in enumerate(layers):
            found = project(mixed.x, layer.attention, context, ops)
            attended = attend_step(found, layer.attention, state.layers[index], context, ops)
            y = output_projection(attended, layer.attention, ops)
            streams, mixed = ops.expand_mix(streams, y, mixed, layer.ffn_mixer, layer.ffn_norm)
            look_at_stop()
            y = ops.run_experts(mixed.x, ops.route(mixed.x, token_ids, layer.router), layer.experts)
            if index + 1 < len(layers):
                following = layers[index + 1]
                streams, mixed = ops.expand_mix(streams, y, mixed, following.attn_mixer, following.attn_norm)
            else:
                streams = ops.expand(streams, y, mixed)
            if observe is not None:
                observe(index, streams)
            yield index + 1
            look_at_stop()
        return streams

    def logits(self, streams: torch.Tensor) -> torch.Tensor:
        """Logits float32 [T, vocab] of streams [T, n, D]."""
        return self.backend.linear(self.final_hidden(streams), self.weights.output).float()

    def final_hidden(self, streams: torch.Tensor) -> torch.Tensor:
        """The collapsed and normed vector that the output matrix sees, float32 [T, D]."""
        collapsed = self.backend.collapse(streams, self.weights.head_mixer)
        return rms_norm(collapsed, self.weights.output_norm, self.config.rms_eps)
