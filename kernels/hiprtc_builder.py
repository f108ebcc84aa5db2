"""Compiles kernels with hiprtc through hip-python: the way on a ROCm machine. Needs the hiprtc library, not a GPU.

hip-python is imported on first use; its calls return tuples with the status first and raise RuntimeError when the
library behind them cannot be loaded.
"""

import importlib
from dataclasses import dataclass, field
from typing import Any

from kernels.builder import COMMON_OPTIONS
from kernels.errors import KernelBuildError, KernelUnavailableError
from kernels.source import KernelSource


@dataclass(frozen=True, slots=True)
class HiprtcBuilder:
    """hiprtc for one gfx target. Raises KernelUnavailableError if hip-python or its library is missing."""

    target: str
    _hiprtc: Any = field(init=False, repr=False, compare=False)
    _version: str = field(init=False)

    def __post_init__(self) -> None:
        try:
            library = importlib.import_module("hip").hiprtc
            status, major, minor = library.hiprtcVersion()
            runtime = _runtime_version()
        except ImportError as missing:
            raise KernelUnavailableError(f"hip-python is not installed ({missing})") from missing
        except RuntimeError as missing:
            raise KernelUnavailableError(f"hiprtc cannot be loaded ({missing})") from missing
        object.__setattr__(self, "_hiprtc", library)
        object.__setattr__(self, "_version", f"{major}.{minor}{runtime}")
        self._check(status, "hiprtcVersion", "")

    @property
    def identity(self) -> str:
        return f"hiprtc {self._version}"

    @property
    def options(self) -> tuple[str, ...]:
        return (*COMMON_OPTIONS, "-O3", f"--offload-arch={self.target}")

    def build(self, source: KernelSource) -> bytes:
        library = self._hiprtc
        status, program = library.hiprtcCreateProgram(source.text().encode(), source.name.encode(), 0, None, None)
        self._check(status, "hiprtcCreateProgram", source.label)
        try:
            options = [option.encode() for option in self.options]
            (status,) = library.hiprtcCompileProgram(program, len(options), options)
            if status != library.hiprtcResult.HIPRTC_SUCCESS:
                log = self._log(program) or f"error: hiprtcCompileProgram returned {status}"
                raise KernelBuildError(source.label, self.target, self.identity, log)
            status, size = library.hiprtcGetCodeSize(program)
            self._check(status, "hiprtcGetCodeSize", source.label)
            image = bytearray(size)
            (status,) = library.hiprtcGetCode(program, image)
            self._check(status, "hiprtcGetCode", source.label)
            return bytes(image)
        finally:
            library.hiprtcDestroyProgram(program.createRef())

    def _log(self, program: Any) -> str:
        status, size = self._hiprtc.hiprtcGetProgramLogSize(program)
        if status != self._hiprtc.hiprtcResult.HIPRTC_SUCCESS or size <= 1:
            return ""
        text = bytearray(size)
        self._hiprtc.hiprtcGetProgramLog(program, text)
        return text.split(b"\0", 1)[0].decode(errors="replace")

    def _check(self, status: Any, call: str, kernel: str) -> None:
        if status != self._hiprtc.hiprtcResult.HIPRTC_SUCCESS:
            log = f"error: {call} returned {getattr(status, 'name', status)}"
            raise KernelBuildError(kernel or "any", self.target, self.identity, log)


def _runtime_version() -> str:
    """Of the HIP runtime, which is another in every ROCm: hiprtc's own has stayed the same for years. Empty where the
    runtime does not say.
    """
    hip = importlib.import_module("hip").hip
    try:
        status, version = hip.hipRuntimeGetVersion()
    except RuntimeError:  # hiprtc is there and the runtime is not
        return ""
    if status != hip.hipError_t.hipSuccess:
        return ""
    return f" of HIP {version // 10_000_000}.{version // 100_000 % 100}.{version % 100_000}"
