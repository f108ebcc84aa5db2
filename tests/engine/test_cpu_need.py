"""The forecast of a model's weights on the CPU is what loading allocates, to the byte."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest
import torch

import engine
import kernels.cpu
import resources
from engine.backends import cpu_backend
from engine.backends.cpu import CpuBackend
from engine.backends.cpu_decode import build_program
from engine.config import ModelConfig
from engine.convert import convert
from engine.cpu_need import READ_IN_PLACE, copied_bytes, placed_bytes
from engine.model_source import open_model
from engine.recipes import Recipe, uniform
from engine.stored_weights import StoredWeights
from engine.weights import load_weights
from kernels.cpu.decode_weights import Codec, ExpertWeights, Matrix

FORMATS = {"Q8_0": 8, "ROCmFP4": 100, "ROCmFP3": 104}


@pytest.fixture(params=FORMATS)
def model_file(request: pytest.FixtureRequest, tiny_path: Path, tmp_path: Path) -> Path:
    """The tiny model in a format that the decode program reads, or not."""
    path = tmp_path / "model.gguf"
    convert(tiny_path, path, Recipe(request.param, MappingProxyType(uniform(FORMATS[request.param]))))
    return path


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_placed_weights_take_what_was_forecast(model_file: Path, dtype: torch.dtype) -> None:
    stored = StoredWeights(open_model(model_file))
    backend = cpu_backend(ModelConfig.from_gguf(stored.source), dtype)
    weights = load_weights(stored, backend.config, backend.placement())
    frequencies = sum(layer.attention.frequencies.nbytes for layer in weights.layers)  # made, not stored
    assert placed_bytes(stored.source.tensors.values(), dtype.itemsize) == weights.nbytes() - frequencies


def test_the_decode_program_copies_what_was_forecast(model_file: Path) -> None:
    native = kernels.cpu.load(1)
    if isinstance(native, kernels.cpu.NativeUnavailable):
        pytest.skip(native.reason)
    stored = StoredWeights(open_model(model_file))
    model = engine.load(model_file, backend="cpu", dtype="float32")
    program, copied = build_program(native.library, stored, model.config, model.network.weights)
    assert copied == sum(tensor.nbytes for tensor in copies_in(program.model))
    assert copied_bytes(stored.source.tensors.values()) == copied


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_session_counts_all_weights_that_are_there(model_file: Path, dtype: str) -> None:
    """Placed ones, and what the decode program holds of what it cannot read in place."""
    for path in (model_file, None):
        model = engine.load(path, backend="cpu", dtype=dtype)
        backend, weights = model.network.backend, model.network.weights
        assert isinstance(backend, CpuBackend)
        program = getattr(backend, "_program", None)
        there = weights.nbytes() + sum(tensor.nbytes for tensor in copies_in(program.model if program else ()))
        report = model.session(context=64).memory()
        assert report.weight_bytes == there
        stored = StoredWeights(open_model(path or resources.embedded_model()))
        frequencies = sum(layer.attention.frequencies.nbytes for layer in weights.layers)
        assert report.weight_bytes == backend.weight_bytes(stored) + frequencies


def test_plain_torch_copies_no_weights(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOBAND_NATIVE", "off")
    model = engine.load(model_file, backend="cpu", dtype="float32")
    assert model.session(context=64).memory().weight_bytes == model.network.weights.nbytes()


def test_the_types_read_in_place_are_those_of_the_kernels() -> None:
    assert {int(codec) for codec in Codec} == READ_IN_PLACE


def copies_in(part: object) -> list[torch.Tensor]:
    """Tensors of a decode model that are no bytes of the file: decoded matrices, and tables."""
    if isinstance(part, Matrix):
        return [part.data] if isinstance(part.data, torch.Tensor) and part.data.is_floating_point() else []
    if isinstance(part, tuple):
        return [tensor for one in part for tensor in copies_in(one)]
    if isinstance(part, ExpertWeights) and part.table is not None:
        return [part.table, *copies_in(replace(part, table=None))]
    if is_dataclass(part):
        return [tensor for field in fields(part) for tensor in copies_in(getattr(part, field.name))]
    return []
