"""A Device and a Builder on the CPU block emulator: the same kernel sources, ops and launch code, no GPU.

`replay` runs a call under several thread orders and insists on the same bits, which is how a missing barrier shows.
What was compiled before, from the same source by the same compiler, is not compiled again: build/kernel-emulator.
"""

import ctypes
import hashlib
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from kernels.cache import CodeCache
from kernels.errors import KernelBuildError, KernelLaunchError
from kernels.launch import Grid, Launcher, PackedArguments
from kernels.source import KernelSource

FOLDER = Path(__file__).parent / "emulator"
ORDERS = (0, 1, 12345)  # ascending, descending, shuffled
KEPT = CodeCache(Path(__file__).parents[3] / "build" / "kernel-emulator")
CXX = ("g++", "-std=c++17", "-fPIC", "-shared", "-fno-strict-aliasing")
PRECOMPILING = ("-O2", "-x", "c++-header")  # must fit the options of the builder, or the compiler refuses the result
INCLUDING = ("-include", "standard.h", "-Winvalid-pch")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-function", "-Wno-unused-parameter")
_precompiling = threading.Lock()


def compile_cxx(arguments: list[str | Path]) -> str:
    """Run g++; returns its messages, raises RuntimeError with them when it fails."""
    done = subprocess.run([*CXX, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stderr


@cache
def _compiler_version() -> str:
    return subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def compiler_identity(folder: Path) -> str:
    """The compiler's version and a digest of everything it is given besides the source and the builder's options: the
    headers of `folder`, wherever it is, how the standard ones are precompiled and included, and the common options."""
    given = [*CXX, *PRECOMPILING, *INCLUDING, *(header.read_text() for header in sorted(folder.glob("*.h")))]
    return f"{_compiler_version()}, emulator {hashlib.sha256(chr(0).join(given).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class EmulatorBuilder:
    """g++ for the emulator. `layout` is the vendor whose matrix instructions are modelled: amd or nvidia.

    `scratch` is where it keeps the standard headers precompiled, a quarter of the work of a kernel otherwise.
    """

    scratch: Path
    layout: str = "amd"

    @property
    def target(self) -> str:
        return f"emulator-{self.layout}"

    @property
    def identity(self) -> str:
        return compiler_identity(FOLDER)

    @property
    def options(self) -> tuple[str, ...]:
        return ("-O2", "-DHALOBAND_EMULATOR", f"-DHB_MATRIX_{self.layout.upper()}", *WARNINGS)

    def build(self, source: KernelSource) -> bytes:
        with tempfile.TemporaryDirectory() as scratch:
            unit, library = Path(scratch, "kernel.cpp"), Path(scratch, "kernel.so")
            unit.write_text(source.text())
            try:
                compile_cxx([*self.options, *self._headers(), unit, "-o", library])
            except RuntimeError as refused:
                raise KernelBuildError(source.label, self.target, "g++", str(refused)) from refused
            return library.read_bytes()

    def _headers(self) -> list[str]:
        """Where includes are looked for: first in precompiled form, which must fit the options, then as text."""
        with _precompiling:
            made = self.scratch / "standard.h.gch"
            if not made.exists():
                compile_cxx([*PRECOMPILING, FOLDER / "standard.h", "-o", made])
        return [f"-I{self.scratch}", *INCLUDING, f"-I{FOLDER}"]


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("threads", ctypes.c_uint32),
        ("seed", ctypes.c_uint32),
        ("error", ctypes.c_char * 256),
    )


class EmulatorDevice:
    """Runs workgroups one after another in this process. `seed` is the thread order of the next launches."""

    description = "CPU block emulator"
    tensor_device = torch.device("cpu")
    compute_units = 2

    def __init__(self, scratch: Path, layout: str) -> None:
        self.target = f"emulator-{layout}"
        self.seed = 0
        self._scratch = scratch
        runtime = scratch / "libemulator.so"
        if not runtime.exists():
            compile_cxx(["-O2", FOLDER / "emulator.cpp", "-o", runtime])
        ctypes.CDLL(str(runtime), mode=ctypes.RTLD_GLOBAL)

    def load(self, image: bytes, source: KernelSource) -> Any:
        with tempfile.NamedTemporaryFile(dir=self._scratch, suffix=".so", delete=False) as file:
            file.write(image)
        return getattr(ctypes.CDLL(file.name), f"emulated_{source.name}")

    def launch(self, function: Any, source: KernelSource, grid: Grid, arguments: PackedArguments) -> None:
        launch = _Launch(grid=grid, threads=source.threads, seed=self.seed)
        function(ctypes.byref(launch), arguments.buffer)
        if launch.error:
            raise KernelLaunchError(source.label, self.description, "run", launch.error.decode())

    def synchronise(self) -> None:
        """Nothing is queued."""


def emulated_launcher(scratch: Path, layout: str = "amd") -> Launcher:
    return Launcher(EmulatorDevice(scratch, layout), EmulatorBuilder(scratch, layout), KEPT)


def replay(launcher: Launcher, run: Callable[[], torch.Tensor | tuple[torch.Tensor, ...]]) -> Any:
    """What `run` returns, the same bits under every thread order. `run` makes its own outputs each time."""
    results = []
    for launcher.device.seed in ORDERS:  # type: ignore[misc, attr-defined]  # the emulator's own knob
        results.append(run())
    launcher.device.seed = 0  # type: ignore[attr-defined]  # as above
    for other in results[1:]:
        pairs = zip(_tensors(results[0]), _tensors(other), strict=True)
        assert all(torch.equal(bits(a), bits(b)) for a, b in pairs), "the result depends on the order of threads"
    return results[0]


def _tensors(result: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return (result,) if isinstance(result, torch.Tensor) else result


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, so that NaN equals NaN and -0 differs from 0."""
    return tensor.contiguous().view(torch.uint8)


def nmse(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Squared error over squared size, in float64. NaN anywhere gives NaN, which no bound accepts."""
    error = found.double() - wanted.double()
    return float(error.square().sum() / wanted.double().square().sum())


class GuardedBuffers:
    """Output tensors full of poison between margins that a kernel must leave alone."""

    MARGIN = 64

    def __init__(self) -> None:
        self._stores: list[tuple[torch.Tensor, torch.Tensor]] = []

    def new(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        size = torch.Size(shape).numel()
        store = torch.empty(size + 2 * self.MARGIN, dtype=dtype)
        store.view(torch.uint8).fill_(0xFF)  # NaN for floats, -1 for integers
        self._stores.append((store, store[self.MARGIN : self.MARGIN + size]))
        return self._stores[-1][1].view(shape)

    def check(self) -> None:
        """Raises AssertionError if any margin changed."""
        for store, _ in self._stores:
            margins = torch.cat([store[: self.MARGIN], store[-self.MARGIN :]])
            assert bool((margins.view(torch.uint8) == 0xFF).all()), "a kernel wrote outside its buffer"
