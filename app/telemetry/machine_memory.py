"""Memory of the process and of AMD GPUs (VRAM and GTT, from the kernel's counters), read off the GUI thread.

`MemoryPoller` reads once a second while its panel is visible and hands over a frozen record by signal.
"""

from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path

import psutil
from PySide6.QtCore import QObject, QTimer, Signal

from app.tasks import TaskThread
from engine.gpu_counters import GpuCounters, read_gpus

_EVERY_MS = 1000
_PATIENCE_S = 0.2


@dataclass(frozen=True, slots=True)
class MachineMemory:
    """Bytes. `total` and `available` are the computer's main memory."""

    process: int
    available: int
    total: int
    gpus: tuple[GpuCounters, ...]


def read_machine_memory(root: Path = Path("/")) -> MachineMemory:
    """Takes a millisecond or so; `root` is where the GPU counters are looked for."""
    memory = psutil.virtual_memory()
    return MachineMemory(psutil.Process().memory_info().rss, memory.available, memory.total, read_gpus(root))


class MemoryPoller(QObject):
    """Start and stop it with the panel; `close` ends its thread."""

    read = Signal(object)  # MachineMemory

    def __init__(
        self, reader: Callable[[], MachineMemory] = read_machine_memory, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._reader = reader
        self._thread: TaskThread | None = None
        self._reading: Future[MachineMemory] | None = None
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self._on_time_up)

    def start(self) -> None:
        self._timer.start()
        self._on_time_up()

    def stop(self) -> None:
        """Read no more. Waits a moment for a read under way, so that none outlives its panel."""
        self._timer.stop()
        if self._reading is not None:
            wait([self._reading], _PATIENCE_S)

    def close(self) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.close(cancel=True)
            self._thread = None

    def _on_time_up(self) -> None:
        if self._reading is not None and not self._reading.done():
            return  # a stuck file system must not pile up reads
        if self._thread is None:
            self._thread = TaskThread("memory", self)
        self._reading = self._thread.submit(self._reader, self.read.emit, _ignore)


def _ignore(error: BaseException) -> None:
    """Not readable now: the panel keeps its dash or its last numbers, and the next second tries again."""
    del error
