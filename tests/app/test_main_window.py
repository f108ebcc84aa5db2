"""The program's way out when the engine does not follow: nothing is lost and nothing aborts."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from app.paths import app_paths

ROOT = Path(__file__).parents[2]
_CHILD = """
import argparse, sys, threading
from dataclasses import replace
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app import main_window
from app.engine_host import EngineHost
from app.window import MainWindow

patient = EngineHost.shutdown
started = threading.Event()

def shutdown(host):
    print("windows while waiting:", sum(w.isVisible() for w in QApplication.topLevelWidgets()))
    return patient(host, 0.2)

def stuck(path, **options):
    started.set()
    threading.Event().wait()

def drive():
    windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible()]
    if not windows or windows[0].services.chats.current_chat_id is None or not started.is_set():
        QTimer.singleShot(20, drive)
        return
    services = windows[0].services
    services.chats.set_draft("Half a question")
    services.settings.change(lambda s: replace(s, answers=replace(s.answers, max_tokens=77)))
    if sys.argv[2] == "close":
        windows[0].close()
    else:
        QApplication.exit(3)

EngineHost.shutdown = shutdown
main_window.load_engine_model = stuck
app = main_window.make_application()
QTimer.singleShot(0, drive)
sys.exit(main_window.run_app(argparse.Namespace(data_dir=Path(sys.argv[1]), model=None)))
"""


@pytest.mark.parametrize(("way", "status"), [("close", 0), ("exit", 3)])
def test_a_load_that_cannot_be_stopped_does_not_hold_the_program(tmp_path: Path, way: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(tmp_path), way],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "Destroyed while thread" not in done.stderr
    assert done.stdout.splitlines() == ["windows while waiting: 0"]
    paths = app_paths(tmp_path)
    assert "max_tokens = 77" in paths.settings_file.read_text()
    with sqlite3.connect(paths.database_file) as db:
        assert db.execute("SELECT draft FROM chats").fetchall() == [("Half a question",)]
    db.close()
    assert "Fatal Python error" not in paths.crash_file.read_text()
    assert "ending without the engine's thread" in paths.log_file.read_text()
