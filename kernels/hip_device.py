"""An AMD GPU through hip-python: loads code objects and launches them on torch's current stream, every status checked.

hip-python imports without ROCm and raises RuntimeError on the first call when libamdhip64 is missing, so the order of
questions is: is it installed, can it be loaded, is there a device, which instruction set. Used on one thread.
"""

import ctypes
import importlib
from typing import Any

import torch

from kernels.errors import KernelLaunchError, KernelUnavailableError
from kernels.launch import Grid, PackedArguments
from kernels.source import KernelSource

# hipModuleLaunchKernel's `extra` list: the argument buffer, its size, and an end mark.
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3


class HipDevice:
    """Device `index`. Raises KernelUnavailableError with the reason when there is none.

    `tensor_device` is where torch keeps the tensors: "cuda" with a ROCm torch; the tests' stand-in uses "cpu".
    """

    def __init__(self, index: int = 0, tensor_device: str = "cuda") -> None:
        self._hip = _load_hip()
        self._index = index
        self.tensor_device = torch.device(tensor_device)
        properties = self._properties()
        self.target = _text(properties.gcnArchName).split(":")[0]
        self.compute_units = int(properties.multiProcessorCount) or 1
        self.description = f"{_text(properties.name) or 'AMD GPU'} ({self.target})"
        self._last_kernel = "none"
        self._check("hipSetDevice", self._hip.hipSetDevice(index)[0])

    def load(self, image: bytes, source: KernelSource) -> Any:
        self._last_kernel = source.label
        status, module = self._hip.hipModuleLoadData(image)
        self._check("hipModuleLoadData", status)
        status, function = self._hip.hipModuleGetFunction(module, source.name.encode())
        self._check("hipModuleGetFunction", status)
        return _Function(module, function)

    def launch(self, function: "_Function", source: KernelSource, grid: Grid, arguments: PackedArguments) -> None:
        self._last_kernel = source.label
        size = ctypes.c_size_t(len(arguments.buffer))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER_POINTER, ctypes.addressof(arguments.buffer), _BUFFER_SIZE, ctypes.addressof(size), _END
        )
        # The pool of a kernel is static LDS on AMD, so no dynamic bytes are asked for.
        (status,) = self._hip.hipModuleLaunchKernel(
            function.handle, *grid, source.threads, 1, 1, 0, self._stream(), None, extra
        )
        self._check("hipModuleLaunchKernel", status)

    def synchronise(self) -> None:
        self._check("hipDeviceSynchronize", self._hip.hipDeviceSynchronize()[0])

    def _stream(self) -> int:
        return int(torch.cuda.current_stream(self._index).cuda_stream) if torch.cuda.is_available() else 0

    def _properties(self) -> Any:
        status, count = self._hip.hipGetDeviceCount()
        if status != self._hip.hipError_t.hipSuccess or count <= self._index:
            raise KernelUnavailableError(f"no AMD GPU: hipGetDeviceCount returned {status.name}, {count} devices")
        try:
            status, properties = self._hip.hipGetDeviceProperties(self._index)
        except TypeError:  # hip-python before 10 fills a structure of the caller's
            properties = self._hip.hipDeviceProp_t()
            (status,) = self._hip.hipGetDeviceProperties(properties, self._index)
        if status != self._hip.hipError_t.hipSuccess:
            raise KernelUnavailableError(f"no AMD GPU: hipGetDeviceProperties returned {status.name}")
        return properties

    def _check(self, call: str, status: Any) -> None:
        if status != self._hip.hipError_t.hipSuccess:
            raise KernelLaunchError(self._last_kernel, self.description, call, getattr(status, "name", str(status)))


class _Function:
    """An entry function and the module that must outlive it."""

    __slots__ = ("handle", "module")

    def __init__(self, module: Any, handle: Any) -> None:
        self.module, self.handle = module, handle


def _load_hip() -> Any:
    try:
        hip = importlib.import_module("hip").hip
        hip.hipGetDeviceCount()
    except ImportError as missing:
        raise KernelUnavailableError(f"no AMD GPU: hip-python is not installed ({missing})") from missing
    except RuntimeError as missing:
        raise KernelUnavailableError(f"no AMD GPU: the HIP runtime cannot be loaded ({missing})") from missing
    return hip


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
