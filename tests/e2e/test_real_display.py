"""`haloband` on an X display, with keys from outside: Qt's own platform, which the offscreen tests never load."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.paths import app_paths

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "What is the capital of Japan?"
PATIENCE_S = 240  # a shared machine may be slow; nothing here measures time

pytestmark = [
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed"),
    pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed"),
]


@pytest.fixture
def display() -> Iterator[str]:
    """A display of its own, under the first number that is free."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24"]
    server = subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def test_a_question_typed_on_a_real_display_is_answered(display: str, data_dir: Path) -> None:
    environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    database = app_paths(data_dir).database_file

    def keys(*words: str) -> str:
        return subprocess.run(["xdotool", *words], env=environment, capture_output=True, text=True, check=False).stdout

    def visible_windows() -> list[str]:
        return keys("search", "--onlyvisible", "--name", "Haloband").split()

    def texts(role: str) -> list[str]:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
            found = store.execute("SELECT text FROM messages WHERE role = ? AND state = 'complete'", (role,))
            return [text for (text,) in found]

    command = [sys.executable, "-m", "app.cli", "--data-dir", str(data_dir)]
    program = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    found: list[str] = []
    try:
        wait_for(lambda: program.poll() is not None or found or found.extend(visible_windows()))
        assert program.poll() is None
        (window,) = found
        keys("windowfocus", "--sync", window)  # as a window manager would; there is none
        keys("type", "--delay", "20", QUESTION)
        wait_for(lambda: keys("key", "Return") == "" and database.exists() and texts("user"))  # once its chat is there
        wait_for(lambda: texts("assistant"))
        assert texts("user") == [QUESTION]
        assert "Tokyo" in texts("assistant")[0]
        keys("key", "ctrl+q")
        assert program.wait(PATIENCE_S) == 0
    finally:
        program.kill()
        _, said = program.communicate()
    assert said == ""
