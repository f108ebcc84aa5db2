"""`haloband convert`: both views of what was done, the check of predictions, and one line for what cannot be done."""

import io
import json
import sys
from pathlib import Path

import pytest
import torch

import engine
import resources
from app import cli
from app.commands.progress_line import ProgressLine
from engine.quant.codecs import FP2_CODEBOOK
from tests.engine.fp2_writers import write_levels
from tests.support.deepseek_folder import release_entries, write_folder
from tests.support.model_files import ModelParts
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import tiny_tensors, write_tiny_gguf

__all__ = ["one_torch_thread"]  # a fixture for every test here


@pytest.fixture(scope="module")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


def run(*words: object) -> int:
    return cli.main(["convert", *map(str, words)])


def test_the_report_for_programs(tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "q8.gguf"
    assert run(tiny_file, target, "--recipe", "q8", "--check", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["recipe"], found["source"], found["target"]) == ("q8", str(tiny_file), str(target))
    assert found["target_bytes"] == target.stat().st_size < found["source_bytes"] == tiny_file.stat().st_size
    assert found["formats_after"]["Q8_0"] > found["formats_after"]["F32"]
    assert found["divergence"]["tokens"] > 300 and 0 < found["divergence"]["mean"] < found["divergence"]["largest"] < 1
    assert found["divergence"]["same_top"] > 0.9


def test_the_report_for_people(tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tiny_file, tmp_path / "mix.gguf", "--recipe", "mix") == 0
    out, err = capsys.readouterr()
    assert "wrote" in out and "formats now:" in out and "ROCmFP4" in out and "predictions" not in out
    assert err == ""
    assert run(tiny_file, tmp_path / "mix.gguf", "--recipe", "mix", "--force", "--check") == 0
    assert "KL divergence" in capsys.readouterr().out


def test_the_embedded_model_is_called_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("embedded", tmp_path / "q8.gguf", "--recipe", "q8", "--json") == 0
    assert json.loads(capsys.readouterr().out)["source"] == str(resources.embedded_model())
    assert engine.load(tmp_path / "q8.gguf").info.quantization == "Q8_0 + F16"


def test_a_folder_becomes_a_file_that_is_the_same_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(tmp_path / "folder", release_entries()[0])
    assert run(folder, tmp_path / "mix.gguf", "--recipe", "mix") == 0
    file, original = engine.load(tmp_path / "mix.gguf"), engine.load(folder)
    assert file.config == original.config and file.info.name == "folder"
    assert file.tokenizer.encode("abc, hello 42") == original.tokenizer.encode("abc, hello 42")
    experts = [model.network.weights.layers[5].experts.down for model in (file, original)]
    assert torch.equal(*experts)  # FP4 experts stay as they are


def test_a_meaning_can_be_given(tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts, name = ModelParts.read(tiny_file), "blk.0.ffn_up_exps.weight"
    stored = write_levels(tiny_tensors()[name].view(-1, 32), (-1, 0, 1, 2)).numpy().tobytes()
    parts.put_raw(name, tiny_tensors()[name].shape, 107, stored)
    source = parts.write(tmp_path / "fp2.gguf")
    arguments = (source, tmp_path / "out.gguf", "--recipe", "mix")
    assert run(*arguments, "--read-as", f"107={FP2_CODEBOOK.name}") == 0
    assert "Type 107 is read as ROCmFP2 code book, as chosen." in capsys.readouterr().out
    for wrong in ("107", "8=Q8_0", "=x", "107=", "x=y"):
        assert run(*arguments, "--force", "--read-as", wrong) == 1
        assert "--read-as" in capsys.readouterr().err
    assert run(*arguments, "--force", "--read-as", "107=Q9") == 1
    assert "cannot be read as 'Q9'" in capsys.readouterr().err


def test_what_cannot_be_done_is_one_line(tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "taken.gguf"
    taken.write_text("x")
    for source, target in ((tiny_file, taken), (tmp_path / "none.gguf", tmp_path / "out.gguf"), (taken, taken)):
        assert run(source, target, "--recipe", "q8") == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("haloband: ") and err.count("\n") == 1
    with pytest.raises(SystemExit):
        run(tiny_file, tmp_path / "out.gguf", "--recipe", "q9")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.gguf"]


def test_ctrl_c_leaves_no_file(
    tiny_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import signal

    monkeypatch.setattr(ProgressLine, "show", lambda *_: signal.raise_signal(signal.SIGINT))
    assert run(tiny_file, tmp_path / "out.gguf", "--recipe", "q8") == 130
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr().out == ""


def test_a_bar_is_shown_to_people_only(tiny_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    watched = Terminal()
    monkeypatch.setattr(sys, "stderr", watched)
    assert run(tiny_file, tmp_path / "out.gguf", "--recipe", "q8") == 0
    assert "converting [" in watched.getvalue() and "100%" in watched.getvalue()
