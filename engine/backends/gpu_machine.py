"""What every part of the GPU backend works with: a model's configuration, its kernels' shapes, and the launcher."""

from dataclasses import dataclass

import torch

from engine.backends.gpu_shapes import KernelShapes
from engine.config import ModelConfig
from kernels.launch import Launcher


@dataclass(frozen=True, slots=True)
class GpuMachine:
    """One device, ready for models of one shape."""

    config: ModelConfig
    launcher: Launcher
    shapes: KernelShapes

    @classmethod
    def of(cls, config: ModelConfig, launcher: Launcher) -> "GpuMachine":
        return cls(config, launcher, KernelShapes(config, launcher.device.target))

    @property
    def tensor_device(self) -> torch.device:
        return self.launcher.device.tensor_device
