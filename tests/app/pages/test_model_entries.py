"""The model library sees what `engine.load` can open: files, models in parts, Hugging Face folders, damaged ones."""

import contextlib
from pathlib import Path

import pytest

import engine
from app.pages.model_entries import read_entry, read_library
from engine.cpu_need import copied_bytes, placed_bytes, product_itemsize
from engine.model_source import open_model
from resources import embedded_model
from tests.support.deepseek_folder import plain_entries, split_folder, write_folder
from tests.support.model_files import ModelParts
from tests.support.tiny_model import write_tiny_gguf

CONTEXT = 2048


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a model in each form, and things that are no model."""
    folder = tmp_path_factory.mktemp("shelf")
    write_tiny_gguf(folder / "whole.gguf")
    ModelParts.read(folder / "whole.gguf").write_parts(folder, 3)
    split_folder(write_folder(folder / "hugging", plain_entries()), plain_entries(), 2)
    (folder / "damaged.gguf").write_bytes(b"GGUF but no more")
    (folder / "notes.txt").write_text("no model")
    (folder / "program").mkdir()
    (folder / "program" / "config.json").write_text("{}")
    return folder


def test_a_watched_folder_shows_every_model_once(shelf: Path) -> None:
    entries = {entry.path: entry for entry in read_library(embedded_model(), (), (str(shelf),), CONTEXT)}
    names = [path.name for path in entries if path is not None]
    assert names == ["damaged.gguf", "hugging", "model-00001-of-00003.gguf", "whole.gguf"]
    assert entries[shelf / "damaged.gguf"].problem
    assert not any(entries[shelf / name].problem for name in names[1:])


@pytest.mark.parametrize("name", ["whole.gguf", "model-00001-of-00003.gguf", "model-00003-of-00003.gguf", "hugging"])
def test_an_entry_tells_of_the_whole_model(shelf: Path, name: str) -> None:
    entry, model = read_entry(shelf / name, shelf / name, CONTEXT, on_gpu=False), engine.load(shelf / name)
    assert entry.problem == "" and entry.fits
    assert entry.parameters == model.info.parameters
    assert entry.file_bytes == model.info.file_bytes
    assert entry.context_length == model.info.context_length
    assert entry.quantization == model.info.quantization


def test_a_watched_model_folder_is_the_model_itself(shelf: Path) -> None:
    _, entry = read_library(embedded_model(), (), (str(shelf / "hugging"),), CONTEXT)
    assert entry.path == shelf / "hugging" and not entry.problem


def test_a_file_inside_a_model_folder_can_be_added(shelf: Path) -> None:
    (path, *_) = sorted((shelf / "hugging").glob("*.safetensors"))
    inside, folder = (read_entry(None, place, CONTEXT, on_gpu=False) for place in (path, shelf / "hugging"))
    assert inside.parameters == folder.parameters is not None


def test_a_missing_part_and_a_missing_folder_say_so(shelf: Path, tmp_path: Path) -> None:
    first = tmp_path / "model-00001-of-00003.gguf"
    first.write_bytes((shelf / first.name).read_bytes())
    (entry,) = read_library(embedded_model(), (), (str(tmp_path),), CONTEXT)[1:]
    assert "model-00002-of-00003.gguf" in entry.problem and not entry.fits
    assert read_library(embedded_model(), (), (str(tmp_path / "gone"),), CONTEXT)[1:] == ()


def test_the_cpu_decodes_weights_and_a_gpu_does_not() -> None:
    cpu, gpu = (read_entry(None, embedded_model(), CONTEXT, on_gpu) for on_gpu in (False, True))
    assert cpu.needed_bytes is not None and gpu.needed_bytes is not None
    with contextlib.closing(open_model(embedded_model())) as source:
        tensors = source.tensors.values()
        stored = sum(tensor.nbytes for tensor in tensors)
        decoded = placed_bytes(tensors, product_itemsize()) + copied_bytes(tensors)
    assert cpu.needed_bytes - gpu.needed_bytes == decoded - stored > 0
