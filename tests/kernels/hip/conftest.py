"""Fixtures of the kernel tests: a launcher on the CPU emulator, guarded outputs, and a seeded generator."""

import random as numbers
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from kernels.launch import Launcher
from tests.kernels.hip.emulated import GuardedBuffers, emulated_launcher


@pytest.fixture(scope="session")
def emulator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("emulator")


@pytest.fixture(scope="session")
def launcher(emulator_folder: Path) -> Launcher:
    """Kernels on the emulator, in AMD's matrix layout."""
    return emulated_launcher(emulator_folder)


@pytest.fixture(scope="session", params=["amd", "nvidia"])
def matrix_launcher(request: pytest.FixtureRequest, emulator_folder: Path) -> Launcher:
    """Kernels on the emulator, once in each vendor's matrix layout."""
    return emulated_launcher(emulator_folder, request.param)


@pytest.fixture
def buffers() -> Iterator[GuardedBuffers]:
    guarded = GuardedBuffers()
    yield guarded
    guarded.check()


@pytest.fixture
def random() -> torch.Generator:
    """Other numbers every run, the same again with the `--randomly-seed` of a run."""
    return torch.Generator().manual_seed(numbers.getrandbits(63))
