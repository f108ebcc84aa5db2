"""Ctrl+C for long commands: the first one asks for an orderly end, the next one ends the program as usual."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

STOPPED_STATUS = 130  # what a shell reports for a program ended by Ctrl+C


@contextlib.contextmanager
def stop_on_interrupt(stop: threading.Event) -> Iterator[None]:
    """Set `stop` on the first Ctrl+C. Off the main thread, where signals cannot be handled, this does nothing.

    The next one ends the program also where signals were ignored before, as a shell does for what runs behind it.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler if before is signal.SIG_IGN else before)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
