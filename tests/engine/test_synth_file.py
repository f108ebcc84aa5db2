"""Synthetic models on disk: what memory holds, in the form that other programs read, whole or not at all."""

import threading
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

import engine
from engine.config import ModelConfig
from engine.errors import Stopped, UserError
from engine.model_source import open_model
from engine.stored_weights import StoredWeights
from engine.synth.recipes import RECIPES
from engine.synth.source import SynthSource
from engine.synth.write import write_synth
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here


def small(recipe: str) -> SynthSource:
    source = open_model(f"synth:small?ratios=0,4,128,4&recipe={recipe}&seed=5")
    assert isinstance(source, SynthSource)
    return source


@pytest.fixture(scope="module", params=list(RECIPES))
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[SynthSource, Path]]:
    source, path = small(request.param), tmp_path_factory.mktemp("synth") / "model.gguf"
    steps: list[tuple[int, int]] = []
    done = write_synth(source, path, progress=lambda *step: steps.append(step))
    assert done.target_bytes == source.file_bytes == path.stat().st_size and done.address == source.name
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1] == sum(each.nbytes for each in source.all_tensors)
    yield source, path


def test_the_file_is_the_same_model(written: tuple[SynthSource, Path]) -> None:
    source, path = written
    file = open_model(path)
    assert ModelConfig.from_gguf(file) == ModelConfig.from_gguf(source)
    assert list(file.tensors) == list(source.tensors) and file.declared_formats == source.declared_formats
    assert file.notes == ()
    stored, made = StoredWeights(file), StoredWeights(source)
    for name in source.tensors:
        assert stored.codec(name) is made.codec(name)
        assert torch.equal(stored.blocks(name), made.blocks(name)), name


def test_the_file_gives_the_same_answers(written: tuple[SynthSource, Path]) -> None:
    source, path = written
    ids = list(range(7, 47))
    models = [engine.load(place, backend="cpu", dtype="float32") for place in (source.name, path)]
    memory, file = (model.session(context=64).prefill(ids) for model in models)
    assert torch.equal(memory, file) and memory.isfinite().all()
    assert models[0].info.parameters == models[1].info.parameters and models[0].info.name == models[1].info.name


def test_the_public_reader_finds_the_same_weights(tmp_path: Path) -> None:
    source = small("antirez-q2")
    write_synth(source, tmp_path / "model.gguf")
    reader, made = gguf.GGUFReader(tmp_path / "model.gguf"), StoredWeights(source)
    assert [tensor.name for tensor in reader.tensors] == list(source.tensors)
    for tensor in reader.tensors:
        weights = gguf.dequantize(tensor.data, tensor.tensor_type) if tensor.tensor_type != 26 else tensor.data
        np.testing.assert_array_equal(np.asarray(weights), made.decode(tensor.name).numpy(), err_msg=tensor.name)


def test_what_is_stopped_leaves_no_file(tmp_path: Path) -> None:
    stop = threading.Event()

    def halfway(done: int, total: int) -> None:
        if done > total // 2:
            stop.set()

    with pytest.raises(Stopped):
        write_synth(small("q8"), tmp_path / "model.gguf", progress=halfway, stop=stop)
    assert list(tmp_path.iterdir()) == []


def test_the_disk_is_asked_first(tmp_path: Path) -> None:
    source = open_model("synth:v4-flash?recipe=bf16&experts=1024")  # 2 TiB
    assert isinstance(source, SynthSource)
    with pytest.raises(UserError, match=r"model\.gguf will have 2\d\d\d\.\d\d GiB, but only"):
        write_synth(source, tmp_path / "model.gguf")
    (tmp_path / "taken.gguf").write_text("x")
    with pytest.raises(UserError, match="exists already; use --force"):
        write_synth(small("q8"), tmp_path / "taken.gguf")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.gguf"]
