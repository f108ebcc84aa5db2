"""The machines that can run layers: a GPU where there is one, else the CPU. The only room that imports kernels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig
from engine.threads import cpu_threads

if TYPE_CHECKING:
    from engine.backends.gpu import GpuBackend

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


@dataclass(frozen=True, slots=True)
class NoGpu:
    """Why a model does not run on a GPU here. `failed`: one is there, and should have worked."""

    reason: str
    failed: bool = False


def gpu_backend(config: ModelConfig) -> "GpuBackend | NoGpu":
    """The backend on this machine's GPU, where there is one, it works, and the kernels fit the model."""
    if not torch.cuda.is_available():
        return NoGpu("this torch sees no GPU")
    from engine.backends.failures import first_sentence
    from engine.backends.gpu_device import gpu_launcher, on_launcher
    from engine.backends.gpu_shapes import misfit
    from kernels.errors import KernelError

    if obstacle := misfit(config):
        return NoGpu(f"the GPU kernels do not fit this model: {obstacle}")
    try:
        return on_launcher(config, gpu_launcher())
    except KernelError as failure:
        return NoGpu(str(failure), failed=True)
    except RuntimeError as failure:  # a torch without code for this GPU, say
        return NoGpu(f"torch cannot use the GPU ({first_sentence(failure)})", failed=True)


def _misfit(config: ModelConfig) -> str:
    """Why the compiled kernels cannot run this model; empty if they can. They take rows in pieces of 16 values."""
    widths = {"hidden": config.hidden, "head_dim": config.head_dim, "expert_hidden": config.expert_hidden}
    if any(config.ratios):
        widths["index_dim"] = config.index_dim
    unfit = [f"{name} {width}" for name, width in widths.items() if width % _KERNEL_PIECE]
    return f"{', '.join(unfit)} is no multiple of {_KERNEL_PIECE}" if unfit else ""
