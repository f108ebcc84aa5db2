"""An NVIDIA GPU through cuda-bindings: the proxy on which the GPU path is checked and timed. Used on one thread.

torch owns the context: its primary context is made current first, and launches go to torch's current stream.
"""

import ctypes
import importlib
import os
from dataclasses import dataclass
from typing import Any

import torch

from kernels.errors import KernelLaunchError, KernelUnavailableError
from kernels.launch import Grid, PackedArguments
from kernels.source import KernelSource


@dataclass(frozen=True, slots=True)
class _Function:
    """An entry function and the attributes of its launches."""

    handle: Any
    attributes: list[Any]


class CudaDevice:
    """Device `index`. Raises KernelUnavailableError with the reason when there is none."""

    def __init__(self, index: int = 0) -> None:
        if not torch.cuda.is_available() or torch.version.cuda is None:
            raise KernelUnavailableError("no NVIDIA GPU: this torch sees no CUDA device")
        try:
            self._driver = importlib.import_module("cuda.bindings.driver")
        except ImportError as missing:
            raise KernelUnavailableError(f"no NVIDIA GPU: cuda-bindings is not installed ({missing})") from missing
        self._index = index
        self.tensor_device = torch.device("cuda", index)
        torch.empty(1, device=self.tensor_device)  # makes torch's context current
        major, minor = torch.cuda.get_device_capability(index)
        self.target = f"sm_{major}{minor}"
        self.compute_units = torch.cuda.get_device_properties(index).multi_processor_count
        self.description = f"{torch.cuda.get_device_name(index)} ({self.target})"
        self._last_kernel = "none"

    def load(self, image: bytes, source: KernelSource) -> Any:
        self._last_kernel = source.label
        status, module = self._driver.cuModuleLoadData(image)
        self._check("cuModuleLoadData", status)
        status, function = self._driver.cuModuleGetFunction(module, source.name.encode())
        self._check("cuModuleGetFunction", status)
        if source.pool_bytes:
            attribute = self._driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            (status,) = self._driver.cuFuncSetAttribute(function, attribute, source.pool_bytes)
            self._check("cuFuncSetAttribute", status)
        return _Function(function, self._overlap(source))

    def launch(self, function: "_Function", source: KernelSource, grid: Grid, arguments: PackedArguments) -> None:
        self._last_kernel = source.label
        base = ctypes.addressof(arguments.buffer)
        addresses = (ctypes.c_void_p * len(arguments.offsets))(*(base + offset for offset in arguments.offsets))
        stream = torch.cuda.current_stream(self._index).cuda_stream
        if not function.attributes:
            (status,) = self._driver.cuLaunchKernel(
                function.handle, *grid, source.threads, 1, 1, source.pool_bytes, stream, ctypes.addressof(addresses), 0
            )
            self._check("cuLaunchKernel", status)
            return
        config = self._driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = source.threads, 1, 1
        config.sharedMemBytes = source.pool_bytes
        config.hStream = stream
        config.attrs, config.numAttrs = function.attributes, len(function.attributes)
        (status,) = self._driver.cuLaunchKernelEx(config, function.handle, ctypes.addressof(addresses), 0)
        self._check("cuLaunchKernelEx", status)

    def _overlap(self, source: KernelSource) -> list[Any]:
        """Launch attributes of a kernel that may be brought in while the one before it ends (device/overlap.h).

        HALOBAND_OVERLAP=off launches strictly one after another, to tell a fault of overlapping from others.
        """
        if not source.overlaps or os.environ.get("HALOBAND_OVERLAP") == "off":
            return []
        attribute = self._driver.CUlaunchAttribute()
        attribute.id = self._driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        return [attribute]

    def synchronise(self) -> None:
        self._check("cuCtxSynchronize", self._driver.cuCtxSynchronize()[0])

    def _check(self, call: str, status: Any) -> None:
        if status != self._driver.CUresult.CUDA_SUCCESS:
            raise KernelLaunchError(self._last_kernel, self.description, call, status.name)
