"""Where a model goes: onto the GPU where that works, onto the CPU with the reason otherwise, or not at all."""

import dataclasses
import gc
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import engine
from engine.backends import NoGpu, cpu_backend, gpu_backend
from engine.backends.cpu import CpuBackend
from engine.backends.gpu import GpuBackend
from engine.backends.gpu_device import on_launcher
from engine.backends.gpu_placement import BlockPlacement
from engine.backends.gpu_products import KernelProducts
from engine.config import ModelConfig
from engine.errors import EngineError, ModelFileError, UserError
from engine.model_source import open_model
from kernels.errors import KernelBuildError, KernelLaunchError
from kernels.launch import Launcher
from kernels.source import KernelSource
from tests.kernels.hip.emulated import emulated_launcher

ADDRESS = "synth:small?ratios=0&recipe=q8"
UseGpu = Callable[[], None]


@pytest.fixture
def launcher(emulator_folder: Path) -> Launcher:
    return emulated_launcher(emulator_folder, "nvidia")


@pytest.fixture
def use_gpu(monkeypatch: pytest.MonkeyPatch, launcher: Launcher) -> None:
    """An emulated GPU is found."""

    def found(config: ModelConfig) -> GpuBackend:
        return on_launcher(config, launcher)

    monkeypatch.setattr("engine.placing.gpu_backend", found)


def test_a_gpu_that_is_there_is_used(use_gpu: None) -> None:
    assert engine.load(ADDRESS).info.backend == "gpu"
    assert engine.load(ADDRESS, backend="cpu").info.backend == "cpu"


def test_without_a_gpu_the_cpu_runs_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.placing.gpu_backend", lambda config: NoGpu("this torch sees no GPU"))
    model = engine.load(ADDRESS)
    assert model.info.backend == "cpu"
    assert "GPU" not in (model.info.native or "")


@pytest.fixture
def use_gpu_without_compiler(monkeypatch: pytest.MonkeyPatch, launcher: Launcher) -> None:
    """An emulated GPU is found, and none of its kernels builds."""

    def refuse(source: KernelSource) -> bytes:
        raise KernelBuildError(source.label, "gfx1151", "hiprtc 7.2", "error: invalid operand")

    class Refusing:
        target, identity, options = launcher.builder.target, "refusing", ()
        build = staticmethod(refuse)

    broken = dataclasses.replace(launcher, builder=Refusing(), _loaded={})
    monkeypatch.setattr("engine.placing.gpu_backend", lambda config: on_launcher(config, broken))


def test_a_kernel_that_does_not_build_is_named_and_the_cpu_runs(use_gpu_without_compiler: None) -> None:
    model = engine.load(ADDRESS)
    assert model.info.backend == "cpu"
    assert "does not build for gfx1151 with hiprtc 7.2" in (model.info.native or "")
    with pytest.raises(EngineError, match="does not build for gfx1151"):
        engine.load(ADDRESS, backend="gpu")


def test_a_model_too_large_for_the_gpu_goes_to_the_cpu_or_tells_what_the_gpu_lacks(
    use_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.backends.gpu_memory.available_on_gpu", lambda device: 1000)
    model = engine.load(ADDRESS)
    assert model.info.backend == "cpu" and "on the GPU this model needs" in (model.info.native or "")
    monkeypatch.setattr("engine.backends.cpu.available_bytes", lambda: 1000)
    with pytest.raises(UserError, match="on the GPU this model needs"):
        engine.load(ADDRESS)


def test_a_model_too_large_where_the_gpu_cannot_be_used_is_told_about_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.placing.gpu_backend", lambda config: NoGpu("hip-python is not installed", failed=True))
    assert "not on the GPU: hip-python is not installed" in (engine.load(ADDRESS).info.native or "")
    monkeypatch.setattr("engine.backends.cpu.available_bytes", lambda: 1000)
    with pytest.raises(UserError, match="on the CPU this model needs"):
        engine.load(ADDRESS)


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[torch.Tensor]]:
    """All values that are brought onto the GPU."""
    found, values = list[weakref.ref[torch.Tensor]](), BlockPlacement.values

    def noted(self: BlockPlacement, decoded: torch.Tensor) -> torch.Tensor:
        value = values(self, decoded)
        found.append(weakref.ref(value))
        return value

    monkeypatch.setattr(BlockPlacement, "values", noted)
    return found


def held(placed: list[weakref.ref[torch.Tensor]]) -> int:
    assert placed
    gc.collect()
    return sum(value() is not None for value in placed)


def test_a_gpu_that_fails_its_rehearsal_holds_no_weights_while_the_cpu_is_tried(
    use_gpu_without_compiler: None, placed: list[weakref.ref[torch.Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    still_held, given_back = list[int](), list[int]()

    def tried(config: ModelConfig, dtype: torch.dtype) -> CpuBackend:
        still_held.append(held(placed))
        return cpu_backend(config, dtype)

    release = GpuBackend.release

    def noted(self: GpuBackend) -> None:
        release(self)
        given_back.append(held(placed))

    monkeypatch.setattr("engine.placing.cpu_backend", tried)
    monkeypatch.setattr(GpuBackend, "release", noted)
    assert engine.load(ADDRESS).info.backend == "cpu"
    assert still_held == [0]
    assert given_back == [0], "torch can give back only what nobody holds any more"


def test_the_error_of_a_gpu_that_was_asked_for_holds_no_weights(
    use_gpu_without_compiler: None, placed: list[weakref.ref[torch.Tensor]]
) -> None:
    with pytest.raises(EngineError) as caught:
        engine.load(ADDRESS, backend="gpu")
    assert held(placed) == 0 and caught.value is not None


def test_rows_in_float32_are_the_cpus(use_gpu: None) -> None:
    assert engine.load(ADDRESS, kv_rounding="none").info.backend == "cpu"
    with pytest.raises(UserError, match="kv_rounding 'none'"):
        engine.load(ADDRESS, backend="gpu", kv_rounding="none")


def test_a_damaged_file_is_not_tried_twice(use_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def damaged(stored: object, config: object, placement: object, *_: object) -> None:
        tried.append(placement)
        raise ModelFileError("m.gguf: tensor output.weight is missing")

    monkeypatch.setattr("engine.placing.load_weights", damaged)
    with pytest.raises(ModelFileError, match="is missing"):
        engine.load(ADDRESS)
    assert len(tried) == 1


def test_formats_that_the_gpu_does_not_read_are_said(use_gpu: None, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="engine.placing"):
        assert engine.load("synth:small?ratios=0&recipe=bf16").info.backend == "gpu"
    assert "BF16 matrices are held as F16" in caplog.text


DEVICE_FAILURES = (
    RuntimeError("HIP error: invalid device function\nHIP kernel errors might be asynchronously reported"),
    torch.AcceleratorError("CUDA error: no kernel image is available for execution on the device"),
    KernelLaunchError("none", "AMD GPU (gfx1151)", "hipSetDevice", "hipErrorInvalidDevice"),
)


@pytest.fixture
def seen_gpu(monkeypatch: pytest.MonkeyPatch, launcher: Launcher) -> None:
    """torch sees a GPU, and the emulator is what it finds."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("engine.backends.gpu_device.gpu_launcher", lambda: launcher)


def raising(failure: Exception) -> Callable[..., None]:
    def raises(*_: object, **__: object) -> None:
        raise failure

    return raises


@pytest.mark.parametrize("failure", DEVICE_FAILURES, ids=("torch", "accelerator", "driver"))
@pytest.mark.parametrize(
    "place",
    [
        "engine.backends.gpu_device.gpu_launcher",
        "engine.backends.gpu_device.dense_products",
        "engine.backends.gpu_memory.available_on_gpu",
        "engine.backends.gpu_placement.BlockPlacement.values",
        "engine.backends.gpu.rehearse",
    ],
)
def test_a_gpu_that_is_seen_but_fails_leaves_the_model_to_the_cpu(
    seen_gpu: None, monkeypatch: pytest.MonkeyPatch, place: str, failure: Exception
) -> None:
    monkeypatch.setattr(place, raising(failure))
    model = engine.load(ADDRESS)
    said = str(failure).split("\n")[0]
    assert model.info.backend == "cpu"
    assert f"not on the GPU: {said}" in (model.info.native or "") or f"({said})" in (model.info.native or "")
    with pytest.raises((UserError, EngineError)) as caught:
        engine.load(ADDRESS, backend="gpu")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_torch_without_random_numbers_for_the_gpu_leaves_products_to_the_kernels(
    seen_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "randn", raising(DEVICE_FAILURES[0]))
    found = gpu_backend(ModelConfig.from_gguf(open_model(ADDRESS)))
    assert isinstance(found, GpuBackend) and isinstance(found.products, KernelProducts)


def test_memory_that_runs_out_while_a_gpu_is_tried_is_said_as_such(
    seen_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1 GiB.")
    monkeypatch.setattr("engine.backends.gpu.rehearse", raising(failure))
    assert "the GPU ran out of memory while the model was loaded" in (engine.load(ADDRESS).info.native or "")


def test_a_bug_while_the_model_is_placed_stays_one(seen_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.backends.gpu_placement.BlockPlacement.values", raising(RuntimeError("shape mismatch")))
    with pytest.raises(RuntimeError, match="shape mismatch"):
        engine.load(ADDRESS)
