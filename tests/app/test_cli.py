"""The dispatcher: lazy imports, options before and after a command, statuses, and the start without a display."""

import argparse
import importlib
import io
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import app.commands
from app import cli, display
from app.errors import StoreError
from engine.errors import EngineError, ModelFileError, UserError


def test_every_command_module_is_in_the_table_and_the_reverse() -> None:
    modules = {
        module.name
        for module in pkgutil.iter_modules(app.commands.__path__)
        if hasattr(importlib.import_module(f"app.commands.{module.name}"), "add_arguments")
    }
    assert modules == set(cli.COMMANDS)


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_explains_itself_and_takes_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_only_the_module_that_is_asked_for_is_imported() -> None:
    """Neither the window's libraries nor torch are loaded to show help or to inspect a file."""
    script = (
        "import sys; from app import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'app.commands.chat', 'torch', 'PySide6'} & set(sys.modules)\n"
        "assert cli.main(['inspect', '--json']) == 0\n"
        "assert not {'app.commands.chat', 'torch', 'PySide6'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_the_model_may_be_named_before_or_after_the_command() -> None:
    assert cli.parse(["--model", "a.gguf", "chat", "hi"]).model == Path("a.gguf")
    assert cli.parse(["chat", "hi", "--model", "b.gguf"]).model == Path("b.gguf")
    assert cli.parse(["--model", "a.gguf", "chat", "hi", "--model", "b.gguf"]).model == Path("b.gguf")
    assert cli.parse(["chat", "hi"]).model is None


def test_options_of_the_window() -> None:
    args = cli.parse(["--model", "a.gguf", "--data-dir", "d"])
    assert (args.command, args.model, args.data_dir) == (None, Path("a.gguf"), Path("d"))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("haloband ")


@pytest.mark.parametrize("words", [["nonsense"], ["chat", "--nonsense"], ["--nonsense"], ["chat", "--seed", "x", "hi"]])
def test_wrong_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert "usage: haloband" in capsys.readouterr().err


class Failing:
    """A command that fails in a given way."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        pass

    def run(self, args: argparse.Namespace) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (UserError("Give more."), 1, "haloband: Give more.\n"),
        (ModelFileError("x.gguf is empty."), 1, "haloband: x.gguf is empty.\n"),
        (EngineError("The kernel failed."), 1, "haloband: The kernel failed.\n"),
        (StoreError("The disk is full."), 1, "haloband: The disk is full.\n"),
        (MemoryError(), 1, "haloband: There is not enough memory for this; close other programs first.\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_become_one_line_and_a_status(
    error: BaseException, status: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "load_command", lambda name: Failing(error))
    assert cli.main(["chat"]) == status
    assert capsys.readouterr() == ("", line)


def test_a_bug_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "load_command", lambda name: Failing(ZeroDivisionError("ours")))
    with pytest.raises(ZeroDivisionError):
        cli.main(["chat"])


def test_a_reader_that_leaves_early_is_no_failure_to_talk_about() -> None:
    script = "import sys; from app import cli; sys.exit(cli.main(['inspect', '--json']))"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_has_display(environment: dict[str, str], platform: str, expected: bool) -> None:
    assert display.has_display(environment, platform) is expected


def test_without_a_display_the_command_line_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "has_display", lambda *_: False)
    assert cli.main([]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1 and 'haloband chat "' in out and err == ""


def test_the_window_gets_the_arguments_and_its_status_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[argparse.Namespace] = []

    def run_app(args: argparse.Namespace) -> int:
        given.append(args)
        return 7

    monkeypatch.setattr(cli, "has_display", lambda *_: True)
    monkeypatch.setitem(sys.modules, "app.main_window", SimpleNamespace(run_app=run_app))  # type: ignore[arg-type]  # a stand-in module
    assert cli.main(["--data-dir", "d"]) == 7
    assert given[0].data_dir == Path("d") and given[0].model is None


def test_commands_work_without_a_display(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cli, "has_display", lambda *_: False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert cli.main(["chat", "-"]) == 1
    assert capsys.readouterr().err == "haloband: The question is empty.\n"


@pytest.mark.parametrize(
    ("called", "shown"), [(".venv/bin/haloband", ".venv/bin/haloband"), ("/usr/lib/python3/cli.py", "haloband")]
)
def test_the_hint_names_the_command_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], called: str, shown: str
) -> None:
    monkeypatch.setattr(cli, "has_display", lambda *_: False)
    monkeypatch.setattr("sys.argv", [called])
    assert cli.main([]) == 0
    assert f"{shown} chat" in capsys.readouterr().out
