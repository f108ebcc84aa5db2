"""High-water marks of memory while a row is measured: the process's resident memory and the GPU's allocator.

Linux lets a process reset its own mark; where that is refused the mark is the one since the process began.
"""

import contextlib
from pathlib import Path

import torch

from engine.host import PROC, peak_resident_bytes

_RESET_PEAK = "5"  # proc(5), clear_refs


class PeakWatch:
    """Starts at its creation. `backend` is the model's: on "cpu" no GPU is asked."""

    def __init__(self, backend: str, proc: Path = PROC) -> None:
        self._proc, self._has_gpu = proc, backend != "cpu"
        with contextlib.suppress(OSError):  # not Linux, or not allowed: see above
            (proc / "self" / "clear_refs").write_text(_RESET_PEAK)
        if self._has_gpu:
            torch.cuda.reset_peak_memory_stats()

    def resident_bytes(self) -> int | None:
        """The most resident memory since the watch began."""
        return peak_resident_bytes(self._proc)

    def gpu_bytes(self) -> int | None:
        """The most GPU memory torch had allocated since the watch began; None without a GPU."""
        if not self._has_gpu:
            return None
        return int(torch.cuda.max_memory_allocated())
