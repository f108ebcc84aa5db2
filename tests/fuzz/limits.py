"""Holds one input to its bounds: at most 1 GiB more address space than before, and an end within seconds of work.

Address space counts what is asked for, touched or not, and its peak is looked at afterwards: code that catches its own
MemoryError is caught all the same. Linux, main thread.
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
_STOP_BYTES = 6 << 30  # beyond this a request fails, for the machine's sake


class Hang(Exception):
    """The input was still being worked on after MOST_SECONDS."""


class TooMuchMemory(Exception):
    """The input made the program ask for more than MOST_BYTES."""


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Raises Hang or TooMuchMemory for code that does not keep to the bounds."""
    if not sys.platform.startswith("linux"):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    size, earlier_peak = _address_space()
    before = signal.signal(signal.SIGPROF, _stop)
    resource.setrlimit(resource.RLIMIT_AS, (size + _STOP_BYTES, hard))
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)
    _, peak = _address_space()
    if peak > max(earlier_peak, size + MOST_BYTES):
        raise TooMuchMemory(f"asked for {(peak - size) >> 20} MiB")


def _address_space() -> tuple[int, int]:
    """Bytes now, and at most so far."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(fields["VmSize"].split()[0]) << 10, int(fields["VmPeak"].split()[0]) << 10


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise Hang(f"no end after {MOST_SECONDS} seconds of processor time")
