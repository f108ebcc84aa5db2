"""Readies a model's kernels while it loads: builds them side by side, then sends one short step and token through them.

Without it the first question would wait for the compiler, and a kernel that does not build would fail an answer
instead of a load. Called once a load, by engine.backends.gpu.
"""

import torch

from engine.backends.base import Backend
from engine.backends.gpu_machine import GpuMachine
from engine.layers.rounding import KvRounding
from engine.model import Network
from engine.plan import Step
from engine.state import SessionState
from engine.weights import ModelWeights
from kernels.source import KernelSource

_TOKENS = 16  # enough for the products of many rows, and for windows of ratio 4 to close
_CONTEXT = 4096


def rehearse(backend: Backend, machine: GpuMachine, weights: ModelWeights) -> None:
    """Raises KernelError where a kernel does not build or run on this device."""
    with machine.launcher.noting() as sources:
        _run(backend, weights)
    sources |= dict.fromkeys(_of_long_prompts(machine))
    machine.launcher.build(sources)
    for source in sources:
        machine.launcher.kernel(source)
    _run(backend, weights)
    machine.launcher.device.synchronise()


def _run(backend: Backend, weights: ModelWeights) -> None:
    """A step and one token in a session of its own."""
    config = backend.config
    state = SessionState(config, _CONTEXT, KvRounding(config.default_kv_rounding), backend.tensor_device)
    network = Network(config, weights, backend)
    for _ in network.run_step(torch.zeros(_TOKENS, dtype=torch.int64), state, Step(0, _TOKENS)):
        pass
    state.position = _TOKENS
    program = backend.token_program(state, selects=True)
    if program is not None:
        program.run(0, _TOKENS)


def _of_long_prompts(machine: GpuMachine) -> list[KernelSource]:
    """Kernels that only a prompt with more rows than a token may use comes to."""
    if not any(ratio == 4 for ratio in machine.config.ratios):
        return []
    shape = machine.shapes.indexer(machine.config.index_top_k)
    scores = [shape.scores_source(), shape.single_scores_source()]
    return [*scores, *(shape.select_source(few) for few in (True, False))]
