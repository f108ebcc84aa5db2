"""Ctrl+C and the session's end close the window, whenever they come."""

import os
import signal
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.main_window import _quit_on_signals

GIVE_UP_MS, LOST = 20_000, 99


@pytest.fixture
def signals(qapp: QApplication) -> Iterator[None]:
    """The program's handlers, and the timer by which Python looks at signals (app/garbage.py)."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    _quit_on_signals(qapp)
    looking, giving_up = QTimer(interval=20), QTimer(interval=GIVE_UP_MS)
    looking.timeout.connect(lambda: None)
    giving_up.timeout.connect(lambda: qapp.exit(LOST))
    looking.start()
    giving_up.start()
    yield
    looking.stop()
    giving_up.stop()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("is_early", [True, False])
def test_a_signal_ends_the_event_loop(number: int, is_early: bool, signals: None, qapp: QApplication) -> None:
    def send() -> None:
        os.kill(os.getpid(), number)

    if is_early:
        send()
    else:
        QTimer.singleShot(0, send)
    assert qapp.exec() == 0
