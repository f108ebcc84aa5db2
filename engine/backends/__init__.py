"""The machines that can run layers; `cpu_backend` picks the best CPU one. The only room that imports kernels."""

import torch

from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig
from engine.threads import cpu_threads


def cpu_backend(config: ModelConfig, compute_dtype: torch.dtype) -> CpuBackend:
    """Compiled kernels where they load and fit the model's widths, plain torch elsewhere (`native` says which)."""
    import kernels.cpu as native_cpu
    from engine.backends.cpu_native import NativeCpuBackend

    native = native_cpu.load(cpu_threads())
    if isinstance(native, native_cpu.NativeUnavailable):
        plain = CpuBackend(config, compute_dtype)
        plain.native_note = f"plain torch: {native.reason}"
        return plain
    return NativeCpuBackend(config, compute_dtype, native)
