"""Holds one input to its bounds: at most 1 GiB more address space than before, and an end within seconds of work.

Address space counts what is asked for, touched or not. Linux, main thread.
"""

import contextlib
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

MOST_BYTES = 1 << 30
MOST_SECONDS = 30  # of processor time, so that a busy machine is not taken for a hang


class Hang(Exception):
    """The input was still being worked on after MOST_SECONDS."""


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """MemoryError (torch: RuntimeError) or Hang inside, for code that does not keep to the bounds."""
    if not sys.platform.startswith("linux"):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGPROF, _stop)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MOST_BYTES, hard))
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise Hang(f"no end after {MOST_SECONDS} seconds of processor time")
