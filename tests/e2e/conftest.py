"""The real program with the embedded model, in this process (`open_real`) or in one of its own (`start_program`)."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import resources
from app.main_window import open_window
from app.paths import app_paths
from app.real_engine import load_engine_model
from app.settings import Settings
from app.settings_file import SettingsFile
from tests.app.window.driver import WindowDriver

TIMEOUT_MS = 240_000  # a shared machine may be slow; nothing here measures time
_HERE = Path(__file__).parent

OpenReal = Callable[[], WindowDriver]
StartProgram = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data folder whose settings make greedy answers of bounded length."""
    folder = tmp_path / "data"
    folder.mkdir()
    settings = Settings()
    answers = replace(settings.answers, temperature=0.0, max_tokens=24)
    SettingsFile(app_paths(folder).settings_file).save(replace(settings, answers=answers))
    return folder


@pytest.fixture(scope="session")
def endless_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded model with nothing in its head for the token that ends an answer: a stream to stop or to kill."""
    from engine.model_source import open_model
    from engine.stored_weights import StoredWeights
    from engine.tokenizer import Tokenizer
    from tests.support.model_files import ModelParts

    source, name = open_model(resources.embedded_model()), "output.weight"
    head = StoredWeights(source).decode(name).clone()
    head[Tokenizer.from_gguf(source).eos] = 0
    parts = ModelParts.read(resources.embedded_model())
    parts.put(name, head, source.tensors[name].type_id)
    return parts.write(tmp_path_factory.mktemp("endless") / "endless.gguf")


@pytest.fixture
def endless(data_dir: Path, endless_model: Path) -> None:
    """Windows and programs on this data folder open the endless model."""
    file = SettingsFile(app_paths(data_dir).settings_file)
    settings = file.load().settings
    file.save(replace(settings, model=replace(settings.model, path=str(endless_model))))


@pytest.fixture
def open_real(qtbot: QtBot, data_dir: Path) -> Iterator[OpenReal]:
    """open_real() opens a window on the embedded model; a second call closes it first, as a restart does."""
    with contextlib.ExitStack() as stack:

        def open_one() -> WindowDriver:
            stack.close()
            window = stack.enter_context(open_window(app_paths(data_dir), load_engine_model, []))
            window.resize(1200, 800)
            window.show()
            driver = WindowDriver(qtbot, window, timeout_ms=TIMEOUT_MS)
            driver.wait(lambda: driver.chats.current_chat_id is not None)
            driver.wait(lambda: window.services.host.has_model)
            return driver

        yield open_one


@pytest.fixture
def real(open_real: OpenReal) -> WindowDriver:
    return open_real()


@pytest.fixture
def start_program(data_dir: Path) -> Iterator[StartProgram]:
    """start_program(what) runs tests/e2e/program.py on the data folder; what is left at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(what: str) -> "subprocess.Popen[str]":
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONUNBUFFERED": "1"}
        program = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.program", str(data_dir), what],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=_HERE.parent.parent,
        )
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()
        program.wait()
        if program.stdout is not None:
            program.stdout.close()


def read_until(program: "subprocess.Popen[str]", start: str) -> str:
    """The first line of the program's output that begins with `start`. Fails if the output ends before."""
    assert program.stdout is not None
    for line in program.stdout:
        if line.startswith(start):
            return line.strip()
    pytest.fail(f"the program ended without saying {start!r}")
