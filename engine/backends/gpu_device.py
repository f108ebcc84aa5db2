"""Finds a GPU and makes what runs kernels on it: a device, its compiler, the cache of code objects.

Called once a load; raises with the reason where there is none, so that the engine can say which path it took instead.
"""

import torch

from engine.backends.gpu import GpuBackend
from engine.backends.gpu_products import DenseProducts, KernelProducts, LibraryProducts, library_is_usable
from engine.config import ModelConfig
from kernels.cache import CodeCache, default_folder
from kernels.errors import KernelUnavailableError
from kernels.launch import Launcher


def on_launcher(config: ModelConfig, launcher: Launcher) -> GpuBackend:
    """A backend for one model of this shape on a device that is there."""
    products, dense = dense_products(launcher)
    return GpuBackend(config, launcher, products, f"HIP kernels by {launcher.builder.identity}; {dense}")


def gpu_launcher() -> Launcher:
    """Kernels on torch's GPU: ROCm through hip-python, CUDA through cuda-bindings. Raises KernelUnavailableError."""
    if not torch.cuda.is_available():
        raise KernelUnavailableError("no GPU: this torch sees none")
    cache = CodeCache(default_folder())
    if torch.version.hip is not None:
        from kernels.hip_device import HipDevice
        from kernels.hiprtc_builder import HiprtcBuilder

        amd = HipDevice()
        return Launcher(amd, HiprtcBuilder(amd.target), cache)
    from kernels.cuda_device import CudaDevice
    from kernels.nvrtc_builder import NvrtcBuilder

    nvidia = CudaDevice()
    return Launcher(nvidia, NvrtcBuilder(nvidia.target), cache)


def dense_products(launcher: Launcher) -> tuple[DenseProducts, str]:
    """The library where it keeps the row contract of gpu_products on this device, our kernels elsewhere; in words."""
    if library_is_usable(launcher.device.tensor_device):
        return LibraryProducts(launcher), "dense products by the torch library"
    return KernelProducts(launcher), "dense products by the same kernels"
