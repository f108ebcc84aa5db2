"""The forecast of a GPU step's temporaries against the tensors that were really alive at once.

Kernels are launched on nothing: what they would compute does not matter to what is allocated around them. The model has
V4-Flash's proportions at an eighth of its widths.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from engine.backends.gpu import SCORE_BYTES, GpuBackend
from engine.backends.gpu_buffers import token_work_bytes
from engine.backends.gpu_products import BAND_ROWS, DenseProducts, KernelProducts, LibraryProducts
from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.layers.rounding import KvRounding
from engine.model import Network
from engine.plan import Step
from engine.state import SessionState
from engine.step_buffers import peak_bytes
from engine.stored_weights import StoredWeights
from engine.synth.address import parse_address
from engine.synth.shapes import SHAPES, cut_shape
from engine.synth.source import SynthSource
from engine.timeline import Timeline
from engine.weights import load_weights
from kernels.cache import CodeCache
from kernels.launch import Launcher
from kernels.ops.formats import WeightFormat
from kernels.ops.matvec import Matrix
from kernels.source import KernelSource
from tests.kernels.hip.emulated import emulated_launcher
from tests.support.running import drain

TOLERANCE = 0.01
CONTEXT = 32768


class NothingDevice:
    """Takes every launch and runs none."""

    tensor_device, target, description, compute_units = torch.device("cpu"), "gfx1151", "nothing", 40

    def load(self, image: bytes, source: KernelSource) -> None:
        """No code."""

    def launch(self, *_: Any) -> None:
        """No work."""

    def synchronise(self) -> None:
        """Nothing is queued."""


class NothingBuilder:
    target, identity, options = "gfx1151", "nothing", ()

    def build(self, source: KernelSource) -> bytes:
        return b"nothing"


def eighth_of_v4_flash(ratios: tuple[int, ...]) -> ModelConfig:
    config = replace(
        SHAPES["v4-flash"],
        hidden=512,
        vocab=2048,
        head_dim=64,
        rope_dim=16,
        q_rank=128,
        out_rank=128,
        index_heads=32,
        index_dim=32,
        index_top_k=64,
        expert_hidden=256,
    )
    return cut_shape(config, ratios, experts=16)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    request = replace(parse_address("synth:small?recipe=q8"), config=eighth_of_v4_flash((0, 4, 128)))
    stored = StoredWeights(SynthSource(request))
    launcher = Launcher(NothingDevice(), NothingBuilder(), CodeCache(tmp_path_factory.mktemp("nothing")))
    backend = GpuBackend(request.config, launcher, KernelProducts(launcher), "")
    return Network(request.config, load_weights(stored, request.config, backend.placement()), backend)


def most_alive(work: Callable[[], object]) -> int:
    """The most bytes that tensors allocated by `work` had alive at once, from the allocator's own events."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        work()
    assert recorded.profiler is not None
    events = recorded.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    alive = peak = 0
    for _, change in changes:
        alive += change
        peak = max(peak, alive)
    return peak


@pytest.mark.parametrize("step", [Step(0, 10240), Step(10240, 6144)], ids=lambda step: f"{step.start}+{step.tokens}")
@pytest.mark.parametrize("products", [KernelProducts, LibraryProducts])
def test_the_forecast_is_what_is_alive(
    network: Network, products: Callable[[Launcher], DenseProducts], step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = network.backend
    assert isinstance(backend, GpuBackend)
    monkeypatch.setattr(backend, "products", products(backend.launcher))
    monkeypatch.setattr("engine.backends.gpu.SCORE_BYTES", SCORE_BYTES // 8)
    state = SessionState(network.config, CONTEXT, KvRounding.F16)
    timeline = Timeline(network, state, selects=True)
    drain(timeline.run([5] * 16, Step(0, 16)))  # the products' scratch is there from now on
    state.position = step.start
    alive = most_alive(lambda: drain(timeline.run([5] * step.tokens, step)))
    shape = CacheShape.from_config(network.config)
    of_tokens = token_work_bytes(shape, step.stop)  # not in this step, but its graph may be there
    forecast = peak_bytes(backend.step_buffers(shape, step)) - of_tokens
    assert alive == pytest.approx(forecast, rel=TOLERANCE)


@pytest.mark.parametrize("position", [100, 5000, 20000])
def test_the_work_of_a_token_is_what_is_alive(network: Network, position: int) -> None:
    backend = network.backend
    assert isinstance(backend, GpuBackend)
    backend._weights = network.weights
    state = SessionState(network.config, CONTEXT, KvRounding.F16)
    program = backend.token_program(state, selects=True)
    assert program is not None
    program.run(5, position)
    span = 2 ** max(12, math.ceil(math.log2(position + 1)))
    alive = most_alive(lambda: program._layers.run(span))  # type: ignore[attr-defined]  # without the logits' copy
    forecast = token_work_bytes(CacheShape.from_config(network.config), position + 1)
    assert 0.8 * forecast <= alive <= forecast


def test_bands_of_a_grouped_product_give_the_bits_of_the_whole(emulator_folder: Path) -> None:
    """With rows on both sides of a band's end."""
    launcher, kind, groups, rank, width = emulated_launcher(emulator_folder), WeightFormat.F16, 2, 32, 32
    weights, x = torch.randn(groups * rank, width).half(), torch.randn(BAND_ROWS + 70, groups * width)
    matrix = Matrix(kind, weights.view(torch.uint8), groups * rank, width)
    found = KernelProducts(launcher).multiply_groups(x, matrix, groups)
    of_the_end = KernelProducts(launcher).multiply_groups(x[-200:], matrix, groups)
    assert found.dtype == torch.float16 and torch.equal(found[-200:], of_the_end)
    parts = x.half().double().view(-1, groups, width).transpose(0, 1)
    wanted = torch.bmm(parts, weights.double().view(groups, rank, width).transpose(1, 2)).transpose(0, 1).flatten(1)
    torch.testing.assert_close(found.double(), wanted, rtol=2**-10, atol=2**-10)
