"""Compiles the native CPU kernels: the same C++ sources once per processor level, as plain shared libraries.

Called by setup.py during installation (which runs this file by path, so it imports the standard library only) and by
hand with `python kernels/cpu/build.py` after editing a source. A missing compiler is not an error for the installation.
"""

import os
import platform
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
CACHE = SOURCES.parents[1] / "build" / "kernels-cpu"
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


def _link_flags(compiler: str, scratch: Path) -> list[str]:
    """A library that needs nothing but libc and shows only the C interface, so that it also loads in a packaged app."""
    if not sys.platform.startswith("linux"):
        return []
    exports = scratch / "exports.map"
    exports.write_text("{ global: hb_*; local: *; };\n")
    standalone = [] if "clang" in Path(compiler).name else ["-static-libstdc++", "-static-libgcc"]
    return [*standalone, f"-Wl,--version-script={exports}"]


def _is_current(object_file: Path) -> bool:
    """Whether an object is newer than everything its dependency file (make's format, written by -MMD) names."""
    rule = object_file.with_suffix(".d")
    if not object_file.exists() or not rule.exists():
        return False
    _, _, names = rule.read_text().partition(": ")
    parts = [Path(name) for name in names.replace("\\\n", " ").split()]
    made = object_file.stat().st_mtime
    return all(part.exists() and part.stat().st_mtime < made for part in parts)


def _compile(command: list[str], source: Path, object_file: Path) -> None:
    """Compile one source unless its object is current; the object appears whole or not at all."""
    if _is_current(object_file):
        return
    unfinished = object_file.with_suffix(f".{os.getpid()}.o")
    rule = unfinished.with_suffix(".d")
    try:
        _run([*command, "-MMD", "-MF", str(rule), "-c", str(source), "-o", str(unfinished)])
        rule.replace(object_file.with_suffix(".d"))
        unfinished.replace(object_file)
    finally:
        unfinished.unlink(missing_ok=True)
        rule.unlink(missing_ok=True)


def build_variant(compiler: str, variant: Variant, folder: Path, jobs: int, cache: Path) -> Path:
    """Compile every source for `variant` and put the library into `folder`, whole or not at all. Raises BuildError.

    Objects stay in `cache`, one folder for each command line, and are compiled again only when a source changed.
    """
    command = [compiler, *_COMMON, *variant.flags]
    objects_folder = cache / f"{variant.name}-{zlib.crc32(' '.join(command).encode()):08x}"
    objects_folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(SOURCES.glob("*.cpp"))
    objects = [objects_folder / f"{source.stem}.o" for source in sources]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(_compile, [command] * len(sources), sources, objects))
    unfinished = folder / f".{variant.filename}.{os.getpid()}"
    try:
        linked = ["-shared", "-pthread", *_link_flags(compiler, objects_folder), *map(str, objects)]
        _run([compiler, *linked, "-o", str(unfinished)])
        unfinished.replace(folder / variant.filename)
    finally:
        unfinished.unlink(missing_ok=True)
    return folder / variant.filename


def build_all(folder: Path = SOURCES, jobs: int = 0) -> list[Path]:
    """Build every variant for this processor family into `folder`; return the libraries. Raises BuildError."""
    compiler = find_compiler()
    if compiler is None:
        raise BuildError("no C++ compiler found (install g++, or name one in CXX)")
    folder.mkdir(parents=True, exist_ok=True)
    jobs = jobs or os.cpu_count() or 1
    return [build_variant(compiler, variant, folder, jobs, CACHE) for variant in variants()]


def main() -> None:
    """Build in place and print what was made."""
    try:
        for library in build_all():
            print(library.name)
    except BuildError as failure:
        sys.exit(f"the native CPU kernels were not built: {failure}")


if __name__ == "__main__":
    main()
