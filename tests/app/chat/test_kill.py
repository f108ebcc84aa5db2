"""kill -9 of the whole backend while an answer streams, then a new start on the same folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.chat.models import MessageState
from tests.app.conftest import MakeBackend

ROOT = Path(__file__).parents[3]
# The child prints the length of the text told so far, and the parent kills it without any warning.
_CHILD = """
import sys
from dataclasses import replace
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.paths import app_paths
from tests.app.backend_recorder import Backend
from tests.app.fake_engine import FakeEngine, FakeScript

app = QCoreApplication([])
words = tuple(f"w{number} " for number in range(100_000))
backend = Backend.open(app_paths(Path(sys.argv[1])), FakeEngine(FakeScript(answer=words, token_s=0.002)))
told = []

def ask(*_):
    backend.chats.set_draft("the question")
    backend.chats.send()

def on_text(delta):
    told.append(delta.text)
    print(sum(map(len, told)), flush=True)

backend.settings.change(lambda s: replace(s, answers=replace(s.answers, max_tokens=10_000)))
backend.chats.chat_opened.connect(ask)
backend.chats.text_arrived.connect(on_text)
backend.chats.start()
app.exec()
"""


@pytest.mark.parametrize("told_before_kill", [1, 60])
def test_a_kill_loses_at_most_what_came_since_the_last_save(
    make_backend: MakeBackend, tmp_path: Path, told_before_kill: int
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert child.stdout is not None
    for _ in range(told_before_kill):
        line = child.stdout.readline()
        assert line, "the child died by itself"
    os.kill(child.pid, signal.SIGKILL)
    told = int([line, *child.stdout.read().split("\n")[:-1]][-1])
    child.wait()

    chat = make_backend(folder=tmp_path / "data")
    question, answer = chat.shown  # the chat is open again
    assert question.text == "the question"
    assert answer.state is MessageState.INTERRUPTED
    whole = "".join(f"w{number} " for number in range(100_000))
    assert whole.startswith(answer.text)
    assert len(answer.text) <= told + 1000  # what was told may trail what was saved by a few events, never by more
    if told_before_kill > 1:
        assert answer.text  # sixty events are two seconds of streaming, which hold a save
    assert any("interrupted" in notice.text for notice in chat.notices)
    chat.ask("and on it goes")
    assert chat.shown[-1].state is MessageState.COMPLETE
    assert chat.stored("PRAGMA integrity_check") == [("ok",)]
