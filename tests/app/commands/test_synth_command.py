"""`haloband synth`: both views of what was written, other commands on synthetic models, and one line for refusals."""

import io
import json
import signal
import sys
from pathlib import Path

import pytest

from app import cli
from app.commands.progress_line import ProgressLine
from engine.model_source import open_model
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here


def run(*words: object) -> int:
    return cli.main([*map(str, words)])


def test_the_report_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "model.gguf"
    options = ("--config", "small", "--layers", "2", "--recipe", "rocmfp-mix", "--experts", "8", "--seed", "9")
    assert run("synth", target, *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "schema": 1,
        "address": "synth:small?layers=2&recipe=rocmfp-mix&experts=8&seed=9",
        "target": str(target),
        "target_bytes": target.stat().st_size,
        "parameters": sum(tensor.elements for tensor in open_model(target).tensors.values()),
    }


def test_the_report_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "model.gguf"
    options = ("synth", target, "--config", "small", "--ratios", "4,128", "--recipe", "q8")
    assert run(*options) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"wrote {target}: ") and "random weights" in out and err == ""
    assert out.splitlines()[1] == "the same model without a file: synth:small?ratios=4,128&recipe=q8&seed=0"
    assert run(*options) == 1 and "--force" in capsys.readouterr().err
    assert run(*options, "--force") == 0


def test_other_commands_look_at_models_that_are_in_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("inspect", "synth:v4-flash?recipe=rocmfp-mix", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] and found["form"] == "synthetic" and found["layers"] == 43
    assert {use["name"]: use["tensors"] for use in found["types"]}["ROCmFP3"] == 43
    assert run("memory", "--model", "synth:v4-flash?layers=43", "--tokens", "9133", "--json") == 0
    whole = json.loads(capsys.readouterr().out)
    assert run("memory", "--config", "v4-flash", "--tokens", "9133", "--json") == 0
    known = json.loads(capsys.readouterr().out)
    assert whole["layers"] == known["layers"]


def test_chatting_with_one_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("chat", "--model", "synth:small?layers=1", "hello") == 1
    out, err = capsys.readouterr()
    assert out == "" and "has no tokenizer, which is needed to read and write text." in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--layers", "0"), "layers '0'"),
        (("--layers", "44"), "layers '44'"),
        (("--layers", "x&seed=1"), "seed"),
        (("--layers", "1", "--ratios", "0"), "layers or ratios"),
        (("--ratios", "1,2"), "ratios are"),
        (("--experts", "2"), "experts '2'"),
        (("--seed", "-1"), "seed '-1'"),
    ],
)
def test_what_cannot_be_made_is_one_line(
    options: tuple[str, ...], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("synth", tmp_path / "out.gguf", "--config", "small", *options) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("haloband: ") and complaint in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ProgressLine, "show", lambda *_: signal.raise_signal(signal.SIGINT))
    assert run("synth", tmp_path / "out.gguf", "--config", "small", "--layers", "1") == 130
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr().out == ""


def test_a_bar_is_shown_to_people_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    watched = Terminal()
    monkeypatch.setattr(sys, "stderr", watched)
    assert run("synth", tmp_path / "out.gguf", "--config", "small", "--layers", "1") == 0
    assert "writing [" in watched.getvalue() and "100%" in watched.getvalue()
