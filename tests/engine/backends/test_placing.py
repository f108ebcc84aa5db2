"""Where a model goes: onto the GPU where that works, onto the CPU with the reason otherwise, or not at all."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

import engine
from engine.backends import NoGpu
from engine.backends.gpu import GpuBackend
from engine.backends.gpu_device import on_launcher
from engine.config import ModelConfig
from engine.errors import EngineError, ModelFileError, UserError
from kernels.errors import KernelBuildError
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


def test_a_kernel_that_does_not_build_is_named_and_the_cpu_runs(
    use_gpu: None, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: KernelSource) -> bytes:
        raise KernelBuildError(source.label, "gfx1151", "hiprtc 7.2", "error: invalid operand")

    class Refusing:
        target, identity, options = launcher.builder.target, "refusing", ()
        build = staticmethod(refuse)

    broken = dataclasses.replace(launcher, builder=Refusing(), _loaded={})
    monkeypatch.setattr("engine.placing.gpu_backend", lambda config: on_launcher(config, broken))
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
