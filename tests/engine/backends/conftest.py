"""The GPU backend on the kernels' CPU emulator, beside the CPU backend, for small synthetic models."""

from collections.abc import Callable

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
from kernels.launch import Launcher
from tests.kernels.hip.emulated import emulated_launcher

Networks = Callable[[str], tuple[Network, Network]]


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return emulated_launcher(tmp_path_factory.mktemp("gpu-backend"), "nvidia")


@pytest.fixture(params=["library", "kernels"])
def networks(request: pytest.FixtureRequest, emulator: Launcher) -> Networks:
    """A model by its synthetic address, on the emulated GPU (with either kind of dense product) and on the CPU."""

    def build(address: str) -> tuple[Network, Network]:
        stored = StoredWeights(open_model(address))
        config = ModelConfig.from_gguf(stored.source)
        gpu = on_launcher(config, emulator)
        if request.param == "kernels":
            gpu.products = KernelProducts(emulator)
        return network_on(gpu, stored), network_on(CpuBackend(config, torch.float32), stored)

    return build


def network_on(backend: GpuBackend | CpuBackend, stored: StoredWeights) -> Network:
    weights = load_weights(stored, backend.config, backend.placement())
    backend.prepare_decode(stored, weights)
    return Network(backend.config, weights, backend)
