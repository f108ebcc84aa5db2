"""Closing and killing while an answer streams, and starting twice on one data folder."""

import signal
import time

import pytest

from app.transcript.model import MessageState
from tests.e2e.conftest import OpenReal, StartProgram, read_until

_SHOWN_EARLIER_S = 5.0  # what had been on the screen for this long must be on the disk


@pytest.mark.usefixtures("endless")
def test_close_while_answering_keeps_the_text(open_real: OpenReal) -> None:
    real = open_real()
    real.window.settings.row("answers", "max_tokens").control.setValue(4096)  # type: ignore[attr-defined] # a spin box
    real.send("Write a very long story about the sea.")
    real.wait(lambda: len(real.last.text) > 10)
    seen = real.last.text
    real.window.close()
    again = open_real()
    again.wait(lambda: len(again.messages) == 2)
    assert again.last.text.startswith(seen)
    assert again.last.state is MessageState.STOPPED


@pytest.mark.usefixtures("endless")
def test_kill_while_streaming_loses_at_most_the_last_moments(open_real: OpenReal, start_program: StartProgram) -> None:
    program = start_program("stream")
    read_until(program, "ready")
    shown: list[tuple[float, int]] = []
    assert program.stdout is not None
    for line in program.stdout:
        if line.startswith("text "):
            shown.append((time.monotonic(), int(line.split()[1])))
        if shown and shown[-1][1] > 80 and shown[-1][0] - next(t for t, n in shown if n > 0) > _SHOWN_EARLIER_S:
            break
    program.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    program.wait()
    must_be_there = max(length for at, length in shown if at <= killed - _SHOWN_EARLIER_S)
    real = open_real()
    real.wait(lambda: len(real.messages) == 2)
    assert real.messages[0].text == "Write a very long story about the sea."
    assert len(real.last.text) >= must_be_there > 0
    assert real.last.state is MessageState.STOPPED
    assert "kept" in real.last.notice
    real.window.settings.row("answers", "max_tokens").control.setValue(8)  # type: ignore[attr-defined] # a spin box
    assert real.ask("Go on.").state is MessageState.COMPLETE


def test_a_second_start_raises_the_first_window(start_program: StartProgram) -> None:
    first = start_program("open")
    read_until(first, "ready")
    second = start_program("open")
    assert second.wait(timeout=120) == 0
    read_until(first, "raised")
    first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=120) == 0
