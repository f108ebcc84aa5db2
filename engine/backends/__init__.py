"""The machines that can run layers; `cpu_backend` picks the best CPU one. The only room that imports kernels."""

import torch

from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig
from engine.threads import cpu_threads

_KERNEL_PIECE = 16  # values; kernels.cpu checks the same


def cpu_backend(config: ModelConfig, compute_dtype: torch.dtype) -> CpuBackend:
    """Compiled kernels where they load and fit the model's widths, plain torch elsewhere (`native` says which)."""
    import kernels.cpu as native_cpu
    from engine.backends.cpu_native import NativeCpuBackend

    native = native_cpu.load(cpu_threads())
    obstacle = native.reason if isinstance(native, native_cpu.NativeUnavailable) else _misfit(config)
    if obstacle or isinstance(native, native_cpu.NativeUnavailable):
        plain = CpuBackend(config, compute_dtype)
        plain.native_note = f"plain torch: {obstacle}"
        return plain
    return NativeCpuBackend(config, compute_dtype, native)


def _misfit(config: ModelConfig) -> str:
    """Why the compiled kernels cannot run this model; empty if they can. They take rows in pieces of 16 values."""
    widths = {"hidden": config.hidden, "head_dim": config.head_dim, "expert_hidden": config.expert_hidden}
    if any(config.ratios):
        widths["index_dim"] = config.index_dim
    unfit = [f"{name} {width}" for name, width in widths.items() if width % _KERNEL_PIECE]
    return f"{', '.join(unfit)} is no multiple of {_KERNEL_PIECE}" if unfit else ""
