"""What a crash leaves behind: a file that a person can read, from native crashes and uncaught errors of any thread."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.logs import crash_since_last_start
from app.paths import app_paths

ROOT = Path(__file__).parents[2]
_CHILD = """
import sys, threading
from pathlib import Path
from app.logs import start_crash_report, start_logging
from app.paths import app_paths
paths = app_paths(Path(sys.argv[1]))
paths.create()
start_logging(paths)
start_crash_report(paths.crash_file)
{death}
"""
DEATHS = {
    "native": "import ctypes; ctypes.string_at(0)",
    "uncaught": "raise ValueError('a mistake of ours')",
    "in a thread": "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "none": "pass",
    "qt": "from PySide6.QtCore import qWarning; qWarning('something odd')",
}


def run_child(folder: Path, death: str) -> None:
    subprocess.run(
        [sys.executable, "-c", _CHILD.format(death=DEATHS[death]), str(folder)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("death", DEATHS)
def test_a_death_is_written_down(tmp_path: Path, death: str) -> None:
    paths = app_paths(tmp_path)
    assert not crash_since_last_start(paths.crash_file)
    run_child(tmp_path, death)
    is_crash = death not in ("none", "qt")
    assert crash_since_last_start(paths.crash_file) == is_crash
    expected = {"native": "Segmentation fault", "uncaught": "a mistake of ours", "in a thread": "ZeroDivisionError"}
    assert expected.get(death, "started") in paths.crash_file.read_text()
    if death == "qt":
        assert "something odd" in paths.log_file.read_text()
    run_child(tmp_path, "none")
    assert not crash_since_last_start(paths.crash_file)
