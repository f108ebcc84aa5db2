"""The compiled kernels under test: every variant this processor runs, built afresh if the sources are newer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from kernels.cpu.build import SOURCES, build_all, find_compiler, variants
from kernels.cpu.library import SWITCH, Library, load_library
from kernels.cpu.native import NativeCpu


@pytest.fixture(scope="session")
def kernel_folder() -> Path:
    """The folder with every variant, brought up to date with the sources if there is a compiler."""
    libraries = [SOURCES / variant.filename for variant in variants()]
    if find_compiler() is not None:
        build_all()
    elif not all(library.exists() for library in libraries):
        pytest.skip("no C++ compiler on this machine and no built kernels")
    return SOURCES


def open_kernels(folder: Path, variant: str, threads: int) -> NativeCpu:
    """`variant` with `threads` workers; skips the test on a processor that cannot run it."""
    library = load_library(threads, folder, {SWITCH: variant})
    if not isinstance(library, Library):
        pytest.skip(library.reason)
    return NativeCpu(library)


@pytest.fixture(scope="session", params=[variant.name for variant in variants()])
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def native(kernel_folder: Path, variant: str) -> NativeCpu:
    """One variant on two threads."""
    return open_kernels(kernel_folder, variant, 2)


@pytest.fixture(scope="session")
def native_alone(kernel_folder: Path, variant: str) -> NativeCpu:
    """The same variant on one thread."""
    return open_kernels(kernel_folder, variant, 1)


@pytest.fixture(autouse=True)
def poisoned_memory() -> Iterator[None]:
    """torch.empty gives NaN and huge integers, so that an element that a kernel forgets to write is seen."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
