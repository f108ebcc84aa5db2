"""The layer loop of DS4 and nothing else: one step of tokens through every layer, or one token's logits.

Only attention looks across tokens. What lies between two attentions runs band by band, so that a band's streams and
experts stay in the processor's cache; attention itself sees the whole step's rows.

A step is a generator that yields after each layer, so that its caller reports progress and looks at the stop event
between layers. Called by the session on its thread.
"""

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass

import torch

from engine.backends.base import Backend
from engine.config import ModelConfig
from engine.errors import Stopped
from engine.layers.attention import Projections, StepContext, attend_step, join, output_projection, project
from engine.layers.hyper_connection import Mixed
from engine.plan import BAND_TOKENS, Step
from engine.state import SessionState
from engine.weights import LayerWeights, ModelWeights

Observer = Callable[[int, torch.Tensor], None]


@dataclass(frozen=True, slots=True)
class _Pass:
    """A step on its way through the layers: per band the way back into the streams and the next projections."""

    token_ids: torch.Tensor
    bands: list[slice]
    streams: torch.Tensor
    ways: list[Mixed]
    parts: list[Projections]


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
            self.backend.pace()
            if stop is not None and stop.is_set():
                raise Stopped("the prompt was stopped")

        context = StepContext(self.config, step, state.rounding, selects, band_tokens, look_at_stop)
        look_at_stop()
        running = self._begin(token_ids.to(self.backend.tensor_device), context)
        for index in range(self.config.layers):
            self._run_layer(running, index, state, context)
            if observe is not None:
                observe(index, running.streams)
            yield index + 1
            look_at_stop()
        return running.streams

    def _begin(self, token_ids: torch.Tensor, context: StepContext) -> "_Pass":
        """Embed the tokens and project them for the first layer's attention."""
        first = self.weights.layers[0]
        size = context.band_tokens if self.backend.works_in_bands else context.step.tokens
        bands = [slice(band.start, band.stop) for band in context.step.bands(size)]
        streams = self.backend.embed(token_ids, self.weights.embedding)
        ways = [self.backend.mix(streams[band], first.attn_mixer, first.attn_norm) for band in bands]
        parts = [project(way.x, first.attention, context, self.backend) for way in ways]
        return _Pass(token_ids, bands, streams, ways, parts)

    def _run_layer(self, running: "_Pass", index: int, state: SessionState, context: StepContext) -> None:
        """Attention over the whole step, then band by band up to the projections of the next layer."""
        layer, layers = self.weights.layers[index], self.weights.layers
        following = layers[index + 1] if index + 1 < len(layers) else None
        attended = attend_step(join(running.parts), layer.attention, state.layers[index], context, self.backend)
        waiting = [attended[band] for band in running.bands]
        del attended  # the last band's experts run without it
        for number, band in enumerate(running.bands):
            context.between_bands()
            streams = running.streams[band]
            inner = self._attention_output(streams, waiting.pop(0), running.ways[number], layer)
            running.ways[number] = inner
            context.between_bands()
            way = self._feed_forward(streams, running.token_ids[band], inner, layer, following)
            running.ways[number] = way
            if following is not None:
                running.parts.append(project(way.x, following.attention, context, self.backend))

    def _attention_output(
        self, streams: torch.Tensor, attended: torch.Tensor, way: Mixed, layer: LayerWeights
    ) -> Mixed:
        """Bring a band's attention output into its streams and collapse them for the experts."""
        y = output_projection(attended, layer.attention, self.backend)
        return self.backend.expand_mix(streams, y, way, layer.ffn_mixer, layer.ffn_norm)

    def _feed_forward(
        self,
        streams: torch.Tensor,
        token_ids: torch.Tensor,
        way: Mixed,
        layer: LayerWeights,
        following: LayerWeights | None,
    ) -> Mixed:
        """Bring a band's experts into its streams and collapse them for the next layer's attention, if there is one."""
        ops = self.backend
        y = ops.run_experts(way.x, ops.route(way.x, token_ids, layer.router), layer.experts)
        if following is None:
            ops.expand(streams, y, way)
            return way
        return ops.expand_mix(streams, y, way, following.attn_mixer, following.attn_norm)

    def logits(self, streams: torch.Tensor) -> torch.Tensor:
        """Logits float32 [T, vocab] of streams [T, n, D]."""
        return self.backend.linear(self.final_hidden(streams), self.weights.output).float()

    def final_hidden(self, streams: torch.Tensor) -> torch.Tensor:
        """The collapsed and normed vector that the output matrix sees, float32 [T, D]."""
        return self.backend.collapse(streams, self.weights.head_mixer, self.weights.output_norm)
