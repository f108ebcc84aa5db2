"""Compiles the same kernels for NVIDIA GPUs with NVRTC through cuda-bindings. Needs the NVRTC library, not a GPU."""

import importlib
from dataclasses import dataclass, field
from typing import Any

from kernels.builder import COMMON_OPTIONS
from kernels.errors import KernelBuildError, KernelUnavailableError
from kernels.source import KernelSource


@dataclass(frozen=True, slots=True)
class NvrtcBuilder:
    """NVRTC for one target (sm_90). Raises KernelUnavailableError if cuda-bindings or its library is missing."""

    target: str
    _nvrtc: Any = field(init=False, repr=False, compare=False)
    _version: str = field(init=False)

    def __post_init__(self) -> None:
        try:
            library = importlib.import_module("cuda.bindings.nvrtc")
            _, major, minor = library.nvrtcVersion()
        except (ImportError, RuntimeError) as missing:
            raise KernelUnavailableError(f"NVRTC cannot be loaded ({missing})") from missing
        object.__setattr__(self, "_nvrtc", library)
        object.__setattr__(self, "_version", f"{major}.{minor}")

    @property
    def identity(self) -> str:
        return f"nvrtc {self._version}"

    @property
    def options(self) -> tuple[str, ...]:
        # Helpers carry no execution space, so that the same text is HIP, CUDA and plain C++.
        return (*COMMON_OPTIONS, f"-arch={self.target}", "-default-device")

    def build(self, source: KernelSource) -> bytes:
        library = self._nvrtc
        status, program = library.nvrtcCreateProgram(source.text().encode(), source.name.encode(), 0, [], [])
        self._check(status, "nvrtcCreateProgram", source)
        try:
            options = [option.encode() for option in self.options]
            (status,) = library.nvrtcCompileProgram(program, len(options), options)
            if status != library.nvrtcResult.NVRTC_SUCCESS:
                raise KernelBuildError(source.label, self.target, self.identity, self._log(program))
            status, size = library.nvrtcGetCUBINSize(program)
            self._check(status, "nvrtcGetCUBINSize", source)
            image = bytes(size)
            (status,) = library.nvrtcGetCUBIN(program, image)
            self._check(status, "nvrtcGetCUBIN", source)
            return image
        finally:
            library.nvrtcDestroyProgram(program)

    def _log(self, program: Any) -> str:
        status, size = self._nvrtc.nvrtcGetProgramLogSize(program)
        if status != self._nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return "error: no log"
        text = bytes(size)
        self._nvrtc.nvrtcGetProgramLog(program, text)
        return text.split(b"\0", 1)[0].decode(errors="replace")

    def _check(self, status: Any, call: str, source: KernelSource) -> None:
        if status != self._nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise KernelBuildError(source.label, self.target, self.identity, f"error: {call} returned {status.name}")
