"""One token through the whole model on a GPU as one recorded graph: every launch of a token is replayed as it is.

What changes between tokens (position, id, rotations) lies in a small device buffer that one copy fills; positions, ring
slots, row counts and expert choices are read there or computed on the device. Built for one session's state, used on
the session's thread.
"""

from collections.abc import Callable

import torch

from engine.backends.gpu_machine import GpuMachine
from engine.backends.gpu_token import TokenInputs
from engine.backends.gpu_token_layers import TokenLayers
from engine.state import SessionState
from engine.weights import ModelWeights

_FIRST_SPAN = 4096  # tokens that the first graph of a session covers; the next ones cover twice as many each


class DecodeProgram:
    """See engine.backends.base.TokenProgram. Logits stay on the device."""

    def __init__(self, machine: GpuMachine, weights: ModelWeights, state: SessionState, selects: bool) -> None:
        self._state, self._device = state, machine.tensor_device
        self._inputs = TokenInputs(machine.config, weights, self._device)
        self._layers = TokenLayers(machine, weights, state, selects, self._inputs)
        self._span = 0
        self._replay: Callable[[], None] | None = None

    def run(self, token_id: int, position: int) -> torch.Tensor:
        """Logits float32 [vocab] after `token_id` at `position`."""
        logits = torch.empty_like(self._layers.logits[0])  # before the state moves: it may find no memory
        self._inputs.set(token_id, position)
        span = span_for(position + 1)
        if span != self._span:
            self._run_unrecorded(span)
            self._span, self._replay = span, None
        else:
            self._replay = self._replay or self._recorded(span)
            self._replay()
        logits.copy_(self._layers.logits[0])
        self._inputs.make_ready(position + 1)
        return logits

    def _run_unrecorded(self, span: int) -> None:
        """The token launch by launch, which loads every kernel that is not loaded yet. Any launch may fail, and so may
        any allocation; the state is then as it was before.
        """
        before = self._state.checkpoint()
        try:
            self._layers.run(span)
        except BaseException:
            self._layers.settle()
            self._state.restore_volatile(before)
            raise

    def _recorded(self, span: int) -> Callable[[], None]:
        """The launches of a token for contexts of up to `span` tokens. Recording runs nothing."""
        if self._device.type != "cuda":
            return lambda: self._layers.run(span)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._layers.run(span)
        return graph.replay


def span_for(tokens: int) -> int:
    """The context that the graph for a context of so many tokens covers."""
    span = _FIRST_SPAN
    while span < tokens:
        span *= 2
    return span
