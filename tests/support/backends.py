"""The CPU backends that can run here: plain torch always, native kernels where they were built."""

import torch

from engine.backends import cpu_backend
from engine.backends.base import Backend
from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig


def cpu_backends(config: ModelConfig) -> list[Backend]:
    """Every CPU backend in float32 for models of this shape."""
    backends: list[Backend] = [CpuBackend(config, torch.float32)]
    best = cpu_backend(config, torch.float32)
    return [*backends, best] if type(best) is not CpuBackend else backends
