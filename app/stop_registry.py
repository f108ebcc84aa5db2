"""StopRegistry: one threading.Event for each live job, because a queued stop would arrive after the work it should end.

Made by EngineHost on the GUI thread, read by EngineWorker on its own.
"""

import threading


class StopRegistry:
    """The stop event of every live job. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[int, threading.Event] = {}

    def create(self, job_id: int) -> threading.Event:
        with self._lock:
            return self._events.setdefault(job_id, threading.Event())

    def get(self, job_id: int) -> threading.Event:
        """The job's event. A job that nobody knows any more counts as stopped."""
        with self._lock:
            event = self._events.get(job_id)
        if event is None:
            event = threading.Event()
            event.set()
        return event

    def stop(self, job_id: int) -> None:
        with self._lock:
            event = self._events.get(job_id)
        if event is not None:
            event.set()

    def stop_all(self) -> None:
        with self._lock:
            for event in self._events.values():
                event.set()

    def forget(self, job_id: int) -> None:
        with self._lock:
            self._events.pop(job_id, None)
