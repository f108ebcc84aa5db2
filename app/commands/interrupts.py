"""Ctrl+C for long commands: the first one asks the work to stop, the second ends the program. Main thread."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stop_on_interrupt(stop: threading.Event) -> Iterator[None]:
    """While inside, Ctrl+C sets `stop`; the next one raises KeyboardInterrupt as usual."""

    def handle(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()
        signal.signal(signal.SIGINT, before)

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not ours to handle there
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
