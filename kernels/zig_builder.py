"""Compiles kernels for AMD GPUs with the clang inside the ziglang package: no ROCm and no GPU needed.

Used by `haloband kernels` and by the tests; what runs on an AMD GPU is built by hiprtc alone. `assembly` gives the text
with the resource figures in it; `build` assembles and links it into a code object that the HIP runtime loads.
"""

import importlib.metadata
import importlib.util
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernels.builder import COMMON_OPTIONS
from kernels.errors import KernelBuildError, KernelUnavailableError
from kernels.source import KernelSource

_DEVICE_ONLY = ("-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-nostdinc++")
_STRICT = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable")
_TIMEOUT_S = 120


def find_zig() -> Path:
    """The zig program of the installed ziglang package. Raises KernelUnavailableError if there is none."""
    package = importlib.util.find_spec("ziglang")
    if package is None or not package.submodule_search_locations:
        raise KernelUnavailableError("no gfx compiler: the ziglang package is not installed (pip install ziglang)")
    program = Path(package.submodule_search_locations[0]) / "zig"
    return program if program.exists() else program.with_suffix(".exe")


@dataclass(frozen=True, slots=True)
class ZigBuilder:
    """The clang of ziglang, for one gfx target. `strict` turns every warning into an error (the tests' setting)."""

    target: str = "gfx1151"
    strict: bool = False

    @property
    def identity(self) -> str:
        return f"ziglang {importlib.metadata.version('ziglang')}"

    @property
    def options(self) -> tuple[str, ...]:
        return (
            *COMMON_OPTIONS,
            "-O3",
            f"--offload-arch={self.target}",
            *_DEVICE_ONLY,
            *(_STRICT if self.strict else ()),
        )

    def assembly(self, source: KernelSource) -> str:
        """The kernel as gfx assembly text with its metadata."""
        with tempfile.TemporaryDirectory(prefix="haloband-") as scratch:
            return self._compile(source, Path(scratch)).read_text(encoding="utf-8")

    def build(self, source: KernelSource) -> bytes:
        """The kernel as a code object (an ELF shared object of amdgcn-amd-amdhsa)."""
        with tempfile.TemporaryDirectory(prefix="haloband-") as scratch:
            folder = Path(scratch)
            text = self._compile(source, folder)
            target = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={self.target}")
            self._run(source, "clang", *target, "-c", text, "-o", folder / "kernel.o")
            self._run(source, "ld.lld", "-shared", folder / "kernel.o", "-o", folder / "kernel.co")
            return (folder / "kernel.co").read_bytes()

    def _compile(self, source: KernelSource, folder: Path) -> Path:
        unit, text = folder / "kernel.hip", folder / "kernel.s"
        unit.write_text(source.text(), encoding="utf-8")
        self._run(source, "clang", *self.options, "-S", unit, "-o", text)
        return text

    def _run(self, source: KernelSource, tool: str, *arguments: str | Path) -> None:
        command = [str(find_zig()), tool, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired as late:
            raise KernelBuildError(source.label, self.target, self.identity, f"error: {late}") from late
        if done.returncode != 0:
            raise KernelBuildError(source.label, self.target, self.identity, done.stderr)
