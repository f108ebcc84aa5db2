"""Whether this machine has compiled CPU kernels, for the doctor: the app does not reach into `kernels` itself."""

from dataclasses import dataclass

import kernels.cpu as native_cpu
from engine.threads import cpu_threads


@dataclass(frozen=True, slots=True)
class CpuKernels:
    """The compiled build that models on the CPU use, None if there is none; and why that one, or why none."""

    variant: str | None
    reason: str


def cpu_kernels() -> CpuKernels:
    """Opens the kernels as a load on the CPU does, whatever machine a model runs on. Any thread."""
    native = native_cpu.load(cpu_threads())
    return CpuKernels(native.variant, native.reason)
