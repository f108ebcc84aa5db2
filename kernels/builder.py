"""What every compiler of kernels offers, and the options they share. Builders hold no device and may run anywhere.

`build` takes a KernelSource and returns a code object for one target; it raises KernelBuildError with the whole log
when the compiler refuses, KernelUnavailableError when there is no compiler.
"""

from typing import Protocol

from kernels.source import KernelSource

# Contraction of a*b + c is left to each compiler's default (on); nothing else of fast-math is.
COMMON_OPTIONS = ("-std=c++17",)


class Builder(Protocol):
    """A compiler for one target."""

    @property
    def target(self) -> str:
        """The instruction set: gfx1151, sm_90."""

    @property
    def identity(self) -> str:
        """The compiler and its version, as it goes into the cache key and into messages."""

    @property
    def options(self) -> tuple[str, ...]: ...

    def build(self, source: KernelSource) -> bytes: ...
