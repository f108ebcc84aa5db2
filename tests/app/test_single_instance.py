"""One process on a data folder: the second start raises the first window, and no kind of death leaves a lock behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.errors import StoreError
from app.paths import AppPaths, app_paths
from app.single_instance import FolderLock, SingleInstance
from tests.app.conftest import MakeBackend

ROOT = Path(__file__).parents[2]
_SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.paths import app_paths
from app.single_instance import SingleInstance
app = QCoreApplication([])
instance = SingleInstance(app_paths(Path(sys.argv[1])))
print(instance.acquire(), flush=True)
if sys.argv[2] == "raise":
    print(instance.raise_first(), flush=True)
else:
    input()
"""


def second_process(paths: AppPaths, what: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _SECOND, str(paths.data_dir), what],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )


def test_a_second_start_raises_the_first_window(qtbot: QtBot, tmp_path: Path) -> None:
    paths = app_paths(tmp_path / "data")
    first = SingleInstance(paths)
    raised: list[bool] = []
    first.raise_requested.connect(lambda: raised.append(True))
    assert first.acquire()
    second = second_process(paths, "raise")
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=90_000)
    assert second.stdout is not None
    assert second.stdout.read().split() == ["False", "True"]
    assert raised == [True]
    first.release()
    assert SingleInstance(paths).acquire()


def test_a_killed_process_leaves_no_lock(qtbot: QtBot, tmp_path: Path) -> None:
    paths = app_paths(tmp_path / "data")
    other = second_process(paths, "hold")
    assert other.stdout is not None
    assert other.stdout.readline().strip() == "True"
    mine = SingleInstance(paths)
    assert not mine.acquire()
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    assert mine.acquire()
    assert paths.lock_file.read_text().strip() == str(os.getpid())
    raised: list[bool] = []
    mine.raise_requested.connect(lambda: raised.append(True))
    third = second_process(paths, "raise")  # the dead process's socket is not in the way
    qtbot.waitUntil(lambda: third.poll() is not None, timeout=90_000)
    assert raised == [True]
    mine.release()


def test_different_folders_do_not_meet(qtbot: QtBot, tmp_path: Path) -> None:
    one, two = (SingleInstance(app_paths(tmp_path / name)) for name in ("one", "two"))
    assert one.acquire()
    assert two.acquire()
    one.release()
    two.release()


def test_a_link_to_the_folder_is_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert app_paths(tmp_path / "real").instance_name == app_paths(tmp_path / "link").instance_name


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be used"):
        FolderLock(tmp_path / "data" / "lock").acquire()


def test_a_holder_that_does_not_answer_is_noticed(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = app_paths(tmp_path / "data")
    lock = FolderLock(paths.lock_file)
    assert lock.acquire()
    monkeypatch.setattr("app.single_instance._ANSWER_MS", 50)
    second = SingleInstance(paths)
    assert not second.acquire()
    assert not second.raise_first()
    lock.release()


def test_a_folder_that_cannot_be_written_opens_with_a_warning(make_backend: MakeBackend, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    chat = make_backend(folder=tmp_path / "data")
    assert any("not kept" in notice.text and notice.is_sticky for notice in chat.notices)
    chat.ask("hello")
    assert chat.shown[-1].text == "Hello, world."
