"""Loads kernels for a device and launches them with torch tensors on torch's current stream.

`Launcher` is made once for a device by engine.backends (or a test) and used on the engine's worker thread. Arguments
go by name and are checked against the kernel's own signature: element type, contiguity and device of every tensor.
Buffer sizes are the business of kernels.ops, which knows the shapes.
"""

import ctypes
import os
import struct
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from kernels.builder import Builder
from kernels.cache import CodeCache
from kernels.errors import KernelArgumentError
from kernels.source import KernelSource, Parameter

Argument = torch.Tensor | int | float | None
Grid = tuple[int, int, int]

_ELEMENT_TYPES: dict[str, tuple[torch.dtype, ...]] = {
    "float": (torch.float32,),
    "u8": (torch.uint8,),
    "u16": (torch.float16, torch.int16),
    "i32": (torch.int32,),
    "u32": (torch.int32,),
    "u64": (torch.int64,),
}
_SCALAR_FORMATS = {"float": "f", "u32": "I", "i32": "i", "u64": "Q"}


class Device(Protocol):
    """A machine that runs code objects: a HIP or CUDA device, or the tests' CPU emulator."""

    @property
    def target(self) -> str:
        """The instruction set its kernels are built for."""

    @property
    def description(self) -> str:
        """Its name for messages."""

    @property
    def compute_units(self) -> int:
        """How many workgroups it runs side by side at least; grids are shaped by it, results never."""

    @property
    def tensor_device(self) -> torch.device:
        """Where the tensors of a launch must live."""

    def load(self, image: bytes, source: KernelSource) -> Any:
        """The entry function out of a code object. Raises KernelLaunchError."""

    def launch(self, function: Any, source: KernelSource, grid: Grid, arguments: "PackedArguments") -> None:
        """Queue a launch on the current stream. Raises KernelLaunchError."""

    def synchronise(self) -> None:
        """Wait for all queued work. Raises KernelLaunchError if any of it failed."""


@dataclass(frozen=True, slots=True)
class PackedArguments:
    """Arguments in memory, each at its natural alignment, and where each one begins."""

    buffer: ctypes.Array[ctypes.c_char]
    offsets: tuple[int, ...]


@dataclass(slots=True)
class Launcher:
    """The kernels of one device, built on first use."""

    device: Device
    builder: Builder
    cache: CodeCache
    _loaded: dict[KernelSource, "LoadedKernel"] = field(default_factory=dict)
    _noted: dict[KernelSource, None] | None = None

    def kernel(self, source: KernelSource) -> "LoadedKernel | UnlaunchedKernel":
        """The loaded kernel. Raises KernelBuildError or KernelLaunchError, which name it and the device."""
        if self._noted is not None:
            self._noted[source] = None
            return UnlaunchedKernel()
        loaded = self._loaded.get(source)
        if loaded is None:
            function = self.device.load(self.cache.get(source, self.builder), source)
            loaded = self._loaded[source] = LoadedKernel(self.device, source, function)
        return loaded

    @contextmanager
    def noting(self) -> Iterator[dict[KernelSource, None]]:
        """Inside, kernels are noted in order instead of built and launched: what a piece of work will need."""
        self._noted = {}
        try:
            yield self._noted
        finally:
            self._noted = None

    def build(self, sources: Iterable[KernelSource]) -> None:
        """Compile what the cache lacks, on all processors. Raises KernelBuildError."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda source: self.cache.get(source, self.builder), sources))


class UnlaunchedKernel:
    """Stands for a kernel that is only noted."""

    def __call__(self, grid: Grid, /, **arguments: Argument) -> None:
        """Nothing."""


class LoadedKernel:
    """A callable kernel: `kernel((x, y, z), values=tensor, rows=5, ...)`."""

    def __init__(self, device: Device, source: KernelSource, function: Any) -> None:
        self.source = source
        self._device = device
        self._function = function
        self._parameters = source.parameters()
        self._struct, self._offsets = _layout(self._parameters)

    def __call__(self, grid: Grid, /, **arguments: Argument) -> None:
        """Launch over `grid` workgroups; an empty grid is no launch. Raises KernelArgumentError, KernelLaunchError."""
        if len(arguments) != len(self._parameters):
            raise KernelArgumentError(f"{self.source.label} takes {[p.name for p in self._parameters]}")
        values = [self._value(parameter, arguments) for parameter in self._parameters]
        if 0 in grid:
            return
        buffer = ctypes.create_string_buffer(self._struct.pack(*values), self._struct.size)
        self._device.launch(self._function, self.source, grid, PackedArguments(buffer, self._offsets))

    def _value(self, parameter: Parameter, arguments: dict[str, Argument]) -> int | float:
        try:
            value = arguments[parameter.name]
        except KeyError:
            raise KernelArgumentError(f"{self.source.label} misses {parameter.name}") from None
        if not parameter.is_pointer:
            if isinstance(value, int | float):
                return value
            raise KernelArgumentError(f"{self.source.label}: {parameter.name} is a number")
        if value is None:
            return 0
        if not isinstance(value, torch.Tensor) or value.dtype not in _ELEMENT_TYPES[parameter.kind]:
            got = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
            raise KernelArgumentError(f"{self.source.label}: {parameter.name} is {parameter.kind}, not {got}")
        if not value.is_contiguous() or value.device.type != self._device.tensor_device.type:
            where = f"contiguous and on {self._device.tensor_device}"
            raise KernelArgumentError(f"{self.source.label}: {parameter.name} must be {where}")
        return value.data_ptr()


def _layout(parameters: tuple[Parameter, ...]) -> tuple[struct.Struct, tuple[int, ...]]:
    """The packed form of an argument list, as HIP's launch interface and C compilers lay it out."""
    layout, at, offsets = "<", 0, []
    for parameter in parameters:
        code = "Q" if parameter.is_pointer else _SCALAR_FORMATS[parameter.kind]
        size = struct.calcsize(f"<{code}")
        padding = -at % size
        offsets.append(at + padding)
        layout += f"{padding}x{code}" if padding else code
        at += padding + size
    return struct.Struct(layout), tuple(offsets)
