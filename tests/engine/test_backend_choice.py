"""Compiled kernels run where they fit the model's widths; every other model runs in plain torch and says why."""

import dataclasses
from pathlib import Path

import pytest
import torch

import engine
import kernels.cpu
import resources
from engine.backends import cpu_backend
from engine.backends.cpu import CpuBackend
from engine.config import ModelConfig
from engine.gguf.reader import GgufFile
from engine.model_source import open_model
from engine.names import part_of
from kernels.cpu.decode_weights import Codec
from tests.fuzz.micro_model import micro_model


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    path = tmp_path_factory.mktemp("model") / "micro.gguf"
    path.write_bytes(micro_model().file())
    with GgufFile.open(path) as file:
        return ModelConfig.from_gguf(file)


@pytest.mark.parametrize("field", ["hidden", "head_dim", "expert_hidden", "index_dim"])
def test_widths_that_the_kernels_do_not_take(config: ModelConfig, field: str) -> None:
    backend = cpu_backend(dataclasses.replace(config, **{field: 8}), torch.float32)
    assert type(backend) is CpuBackend
    unavailable = isinstance(kernels.cpu.load(1), kernels.cpu.NativeUnavailable)
    assert unavailable or f"{field} 8 is no multiple of 16" in (backend.native_note or "")


def test_widths_that_fit(config: ModelConfig) -> None:
    backend = cpu_backend(config, torch.float32)
    unavailable = isinstance(kernels.cpu.load(1), kernels.cpu.NativeUnavailable)
    assert (type(backend) is CpuBackend) == unavailable


def test_a_narrow_model_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fuzz import micro_model as parts

    monkeypatch.setattr(parts, "HIDDEN", 8)
    monkeypatch.setitem(parts.INTEGERS, "embedding_length", 8)
    path = tmp_path / "narrow.gguf"
    path.write_bytes(parts.micro_model().file())
    session = engine.load(path, backend="cpu", dtype="float32").session(context=64)
    assert torch.isfinite(session.prefill([2, 70, 71, 72, 3])).all()


def test_the_embedded_models_matrices_are_decoded_from_their_blocks() -> None:
    """A format that the decode program does not know is copied as float32, and then read at eight times its size."""
    source = open_model(resources.embedded_model())
    matrices = [tensor for tensor in source.tensors.values() if (part := part_of(tensor.name)) and part.is_matrix]
    assert matrices
    assert {tensor.type_id for tensor in matrices} <= {int(codec) for codec in Codec}
