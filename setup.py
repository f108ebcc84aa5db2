"""Build hook of the optional native CPU kernels; everything else is in pyproject.toml.

The libraries are ordinary shared objects opened with ctypes, so the compiler is called by kernels/cpu/build.py and
setuptools only says where they go. Without a compiler the installation succeeds and the engine uses torch alone.
"""

import runpy
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

_PACKAGE = "kernels.cpu"
_BUILD: dict[str, Any] = runpy.run_path(str(Path(__file__).with_name("kernels") / "cpu" / "build.py"))


def _extension(variant: Any) -> Extension:
    """A placeholder that carries the variant's file name; `optional` keeps its absence from failing an install."""
    return Extension(f"{_PACKAGE}.{variant.filename}", sources=[], optional=True)


class BuildKernels(build_ext):
    """Calls the kernels' own builder where setuptools would compile Python extension modules."""

    def run(self) -> None:
        folder = Path(__file__).with_name("kernels") / "cpu" if self.inplace else Path(self.build_lib, "kernels", "cpu")
        try:
            _BUILD["build_all"](folder)
        except _BUILD["BuildError"] as failure:
            print(f"notice: the native CPU kernels were not built, torch will be used: {failure}")

    def get_ext_filename(self, fullname: str) -> str:
        package, _, filename = fullname.partition(f"{_PACKAGE}.")
        return str(Path(*_PACKAGE.split("."), filename)) if filename else str(super().get_ext_filename(package))


setup(ext_modules=[_extension(variant) for variant in _BUILD["variants"]()], cmdclass={"build_ext": BuildKernels})
