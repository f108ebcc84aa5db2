"""The CPU backends that can run here: plain torch always, native kernels where they were built."""

import torch

from engine.backends.base import Backend
from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig


def cpu_backends(config: ModelConfig) -> list[Backend]:
    """Every CPU backend in float32 for models of this shape."""
    return [CpuBackend(config, torch.float32)]
