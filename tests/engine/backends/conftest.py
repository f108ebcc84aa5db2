"""The GPU backend on the kernels' CPU emulator, beside the CPU backend, for small synthetic models."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.backends.cpu import CpuBackend
from engine.backends.gpu import GpuBackend
from engine.backends.gpu_device import on_launcher
from engine.backends.gpu_products import KernelProducts
from engine.config import ModelConfig
from engine.model import Network
from engine.model_source import open_model
from engine.stored_weights import StoredWeights
from engine.weights import load_weights
from tests.kernels.hip.emulated import emulated_launcher

Networks = Callable[[str], tuple[Network, Network]]
# Two recipes each: together every kind of matrix in both vendors' layouts and by both kinds of dense product.
FORMS = {"nvidia": "library", "amd": "kernels"}
RECIPES = {"nvidia": ("antirez-q2", "bf16"), "amd": ("rocmfp-mix", "q8")}


@pytest.fixture(scope="session")
def emulator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gpu-backend")


@pytest.fixture(params=FORMS)
def networks(request: pytest.FixtureRequest, emulator_folder: Path) -> Networks:
    """A model by its synthetic address, on an emulated GPU and on the CPU."""
    layout = request.param
    launcher = emulated_launcher(emulator_folder, layout)

    def build(address: str) -> tuple[Network, Network]:
        stored = StoredWeights(open_model(address))
        config = ModelConfig.from_gguf(stored.source)
        gpu = on_launcher(config, launcher)
        if FORMS[layout] == "kernels":
            gpu.products = KernelProducts(launcher)
        return network_on(gpu, stored), network_on(CpuBackend(config, torch.float32), stored)

    return build


def network_on(backend: GpuBackend | CpuBackend, stored: StoredWeights) -> Network:
    weights = load_weights(stored, backend.config, backend.placement())
    backend.prepare_decode(stored, weights)
    return Network(backend.config, weights, backend)
