"""Compiles the native CPU kernels: the same C++ sources once per processor level, as plain shared libraries.

Called by setup.py during installation (which runs this file by path, so it imports the standard library only) and by
hand with `python kernels/cpu/build.py` after editing a source. A missing compiler is not an error for the installation.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
_COMMON = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One build of the sources: its name, its compiler flags and the processor features it needs."""

    name: str
    flags: tuple[str, ...]
    needs: frozenset[str]

    @property
    def filename(self) -> str:
        return f"libhaloband_cpu_{self.name}.so"


_V3 = frozenset({"avx2", "fma", "f16c", "bmi2"})
_AVX512 = _V3 | {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx512bf16", "avx512vnni"}
_X86_64 = (
    Variant("avx512", ("-march=x86-64-v4", "-mavx512bf16", "-mavx512vnni", "-mprefer-vector-width=512"), _AVX512),
    Variant("avx2", ("-march=x86-64-v3",), _V3),
    Variant("x86_64_v2", ("-march=x86-64-v2",), frozenset()),
)
_ELSEWHERE = (Variant("generic", (), frozenset()),)


class BuildError(Exception):
    """The kernels could not be compiled; the message is one line for a person."""


def variants(machine: str = "") -> tuple[Variant, ...]:
    """The builds for a processor family (`platform.machine()` by default), the fastest first, the safest last."""
    name = (machine or platform.machine()).lower()
    return _X86_64 if name in {"x86_64", "amd64"} else _ELSEWHERE


def find_compiler() -> str | None:
    """$CXX, or the first C++ compiler on the path; None if there is none."""
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else ["g++", "clang++", "c++"]:
        found = shutil.which(name)
        if found:
            return found
    return None


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        errors = [line for line in lines if "error" in line] or lines
        raise BuildError(f"{Path(command[0]).name}: {errors[0]}")


def _link_flags(compiler: str, scratch: str) -> list[str]:
    """A library that needs nothing but libc and shows only the C interface, so that it also loads in a packaged app."""
    if not sys.platform.startswith("linux"):
        return []
    exports = Path(scratch, "exports.map")
    exports.write_text("{ global: hb_*; local: *; };\n")
    standalone = [] if "clang" in Path(compiler).name else ["-static-libstdc++", "-static-libgcc"]
    return [*standalone, f"-Wl,--version-script={exports}"]


def build_variant(compiler: str, variant: Variant, folder: Path, jobs: int) -> Path:
    """Compile every source for `variant` and put the library into `folder`, whole or not at all. Raises BuildError."""
    target = folder / variant.filename
    with tempfile.TemporaryDirectory(prefix="haloband-kernels-") as scratch:
        commands, objects = [], []
        for source in sorted(SOURCES.glob("*.cpp")):
            objects.append(str(Path(scratch, source.stem + ".o")))
            commands.append([compiler, *_COMMON, *variant.flags, "-c", str(source), "-o", objects[-1]])
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(_run, commands))
        unfinished = folder / f".{variant.filename}.{os.getpid()}"
        try:
            _run([compiler, "-shared", "-pthread", *_link_flags(compiler, scratch), *objects, "-o", str(unfinished)])
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    return target


def build_all(folder: Path = SOURCES, jobs: int = 0) -> list[Path]:
    """Build every variant for this processor family into `folder`; return the libraries. Raises BuildError."""
    compiler = find_compiler()
    if compiler is None:
        raise BuildError("no C++ compiler found (install g++, or name one in CXX)")
    folder.mkdir(parents=True, exist_ok=True)
    return [build_variant(compiler, variant, folder, jobs or os.cpu_count() or 1) for variant in variants()]


def main() -> None:
    """Build in place and print what was made."""
    try:
        for library in build_all():
            print(library.name)
    except BuildError as failure:
        sys.exit(f"the native CPU kernels were not built: {failure}")


if __name__ == "__main__":
    main()
