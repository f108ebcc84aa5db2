"""Measures how long the GUI thread was ever away from its event loop. Used by the tests marked perf."""

import time

from PySide6.QtCore import QObject, Qt, QTimer

_BEAT_MS = 2


class Heartbeat(QObject):
    """Beats every two milliseconds.

    `longest_ms` is the longest gap between beats since `reset`; `busiest_ms` the most CPU time this thread used in one
    gap, which tells the window's own work from waiting for a busy machine or for Python's lock.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last = time.perf_counter()
        self._longest_s = 0.0
        self._last_cpu = time.thread_time()
        self._busiest_s = 0.0
        self._timer = QTimer(self, interval=_BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start()

    @property
    def longest_ms(self) -> float:
        return 1000 * max(self._longest_s, time.perf_counter() - self._last)

    @property
    def busiest_ms(self) -> float:
        return 1000 * self._busiest_s

    def reset(self) -> None:
        self._last, self._longest_s = time.perf_counter(), 0.0
        self._last_cpu, self._busiest_s = time.thread_time(), 0.0

    def _on_beat(self) -> None:
        now = time.perf_counter()
        self._longest_s = max(self._longest_s, now - self._last)
        self._last = now
        cpu = time.thread_time()
        self._busiest_s = max(self._busiest_s, cpu - self._last_cpu)
        self._last_cpu = cpu
