"""`haloband inspect`: the numbers of the embedded model, files that cannot be run, and what fits."""

import argparse
import json
import struct
from pathlib import Path

import psutil
import pytest
import torch

import resources
from app import cli
from app.commands import inspect
from app.commands.inspect_views import as_json, as_text
from engine.gguf.reader import GgufFile
from tests.engine import gguf_bytes as gb
from tests.engine.fp2_writers import write_affine
from tests.support.deepseek_folder import release_entries, write_folder
from tests.support.model_files import ModelParts
from tests.support.tiny_model import write_tiny_gguf


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    inspect.add_arguments(parser)
    return parser.parse_args(words)


def test_the_embedded_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect.run(parse("--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["architecture"] == "deepseek4" and found["runs"] is True and found["problem"] is None
    assert (found["layers"], found["experts"], found["experts_used"], found["vocabulary"]) == (9, 16, 6, 16384)
    with GgufFile.open(resources.embedded_model()) as file:
        infos = list(file.tensors.values())
    assert found["file_bytes"] == resources.embedded_model().stat().st_size
    assert found["parameters"] == sum(info.elements for info in infos) and found["tensors"] == len(infos)
    assert {use["name"]: use["tensors"] for use in found["types"]} == {
        "Q8_0": 69,
        "ROCmFP4": 36,
        "F32": 101,
        "F16": 65,
        "I32": 3,
    }
    assert sum(use["stored_bytes"] for use in found["types"]) == sum(info.nbytes for info in infos)
    assert {use["name"]: use["bits_per_weight"] for use in found["types"]}["ROCmFP4"] == 4.5
    memory = found["memory"]
    assert memory["cpu_bytes"] == memory["decoded_weight_bytes"] + memory["session_bytes"]
    assert memory["gpu_bytes"] == memory["stored_weight_bytes"] + memory["session_bytes"]


def test_both_views_tell_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    inspect.run(parse(str(resources.embedded_model())))
    text = capsys.readouterr().out
    for part in ("DS4 nano", "deepseek4", "41,277,083 in 274 tensors", "16, 6 used", "1,048,576 tokens", "ROCmFP4"):
        assert part in text
    assert "available of" in text


def test_what_the_makers_advise_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", release_entries()[0])
    assert "sampling" not in as_text(inspect.inspect_file(folder))
    (folder / "generation_config.json").write_text('{"temperature": 1.0, "top_p": 0.95}')
    report = inspect.inspect_file(folder)
    assert "sampling      temperature 1, top-p 0.95 (the makers' advice)" in as_text(report)
    assert as_json(report)["sampling"] == {"temperature": 1.0, "top_p": 0.95, "top_k": None, "min_p": None}


@pytest.mark.parametrize(("available", "cpu", "gpu"), [(0, False, False), (10**15, True, True)])
def test_fits_or_not(monkeypatch: pytest.MonkeyPatch, available: int, cpu: bool, gpu: bool) -> None:
    memory = argparse.Namespace(available=available, total=10**15)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    report = inspect.inspect_file(resources.embedded_model())
    need = report.memory
    assert need is not None and (need.fits_cpu, need.fits_gpu) == (cpu, gpu)
    assert as_json(report)["memory"]["fits_cpu"] is cpu
    assert as_text(report).count("does not fit") == (not cpu) + (not gpu)


def test_between_both_needs_only_the_stored_weights_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    need = inspect.inspect_file(resources.embedded_model()).memory
    assert need is not None
    between = argparse.Namespace(available=(need.cpu_bytes + need.gpu_bytes) // 2, total=10**15)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: between)
    again = inspect.inspect_file(resources.embedded_model()).memory
    assert again is not None and not again.fits_cpu and again.fits_gpu


def write(path: Path, file: gb.Gguf) -> Path:
    path.write_bytes(file.pack())
    return path


def test_another_architecture_is_shown_and_said_to_be_unsuitable(tmp_path: Path) -> None:
    path = write(
        tmp_path / "llama.gguf",
        gb.Gguf(
            keys=[
                ("general.architecture", gb.STR, gb.text("llama")),
                ("general.name", gb.STR, gb.text("a\x1b[31mred\nname")),
            ],
            tensors=[gb.Tensor("w", (256,), 11, 0)],
            data=bytes(110),
        ),
    )
    report = inspect.inspect_file(path)
    assert report.architecture == "llama" and report.memory is None and not as_json(report)["runs"]
    text = as_text(report)
    assert "cannot be run" in text and "Q3_K" in text
    assert "\x1b" not in text and "a [31mred name" in text  # nothing from the file can steer the terminal


def test_a_format_without_a_codec_is_named(tmp_path: Path) -> None:
    content = bytearray(resources.embedded_model().read_bytes())
    name = b"blk.0.ffn_gate_tid2eid.weight"
    kind = content.index(struct.pack("<Q", len(name)) + name) + 8 + len(name) + 4 + 2 * 8
    assert struct.unpack_from("<I", content, kind) == (26,)
    struct.pack_into("<I", content, kind, 25)  # I16: sound and smaller, but nothing we decode
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    report = inspect.inspect_file(path)
    assert report.problem == "Weights of type I16 cannot be read; convert the file first."
    assert "cannot be run: Weights of type I16" in as_text(report)


def test_the_meaning_of_an_ambiguous_type_is_found_and_said(tmp_path: Path) -> None:
    weights = torch.randn(2000, 32, generator=torch.Generator().manual_seed(1)) * 0.05
    stored = write_affine(weights).numpy().tobytes()
    path = write(tmp_path / "fp2.gguf", gb.Gguf(tensors=[gb.Tensor("w", (32, 2000), 107, 0)], data=stored))
    report = inspect.inspect_file(path)
    assert report.types[0].name == "type 107 (several meanings)"
    assert report.meanings[0].startswith("w: Type 107 is read as ROCmFP2 affine")
    zeros = write(tmp_path / "zeros.gguf", gb.Gguf(tensors=[gb.Tensor("w", (32, 2000), 107, 0)], data=bytes(20000)))
    assert "do not tell which" in inspect.inspect_file(zeros).meanings[0]


def test_a_folder_and_parts_are_models_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = write_tiny_gguf(tmp_path / "tiny.gguf")
    folder = write_folder(tmp_path / "folder", release_entries()[0])
    parts = ModelParts.read(tiny).write_parts(tmp_path, 3)
    for path, form, files in ((tiny, "GGUF 3", 1), (parts[1], "GGUF 3", 3), (folder, "safetensors", 1)):
        report = inspect.inspect_file(path)
        assert (report.form, report.files, report.problem, report.layers) == (form, files, None, 7)
        assert report.parameters == inspect.inspect_file(tiny).parameters and report.memory is not None
    assert {use.name for use in inspect.inspect_file(folder).types} == {"MXFP4", "BF16", "F32", "I32"}
    inspect.run(parse(str(parts[0])))
    assert "(GGUF 3 in 3 files, " in capsys.readouterr().out


def test_what_is_not_used_is_said(tmp_path: Path) -> None:
    parts = ModelParts.read(write_tiny_gguf(tmp_path / "tiny.gguf"))
    parts.put("mtp.0.norm.weight", torch.ones(64), 0)
    parts.put("rope_freqs.\x1b[31m", torch.ones(64), 0)
    report = inspect.inspect_file(parts.write(tmp_path / "drafts.gguf"))
    text = as_text(report)
    assert "1 of the tensors, of draft heads" in text and "1 of the tensors, of no known name" in text
    assert "\x1b" not in text and as_json(report)["notes"] == report.notes
    used = inspect.inspect_file(tmp_path / "tiny.gguf")
    assert report.tensors == used.tensors + 2 and report.memory is not None and used.memory is not None
    assert report.memory.stored_weight_bytes == used.memory.stored_weight_bytes


@pytest.mark.parametrize("content", [b"", b"no model", b"GGUF", None])
def test_files_that_are_no_model_are_one_line_and_status_1(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.gguf"
    if content is not None:
        path.write_bytes(content)
    assert cli.main(["inspect", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"haloband: {path}") and err.count("\n") == 1
