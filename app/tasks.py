"""Work off the GUI thread with its answer on the GUI thread: one helper thread each, tasks in order.

`TaskThread.submit` takes a function and what to do with its result or its error. The two callbacks always run on the
thread that owns the TaskThread (the GUI thread), through one queued signal, and never after `close`.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, Slot

from app.errors import record_error

log = logging.getLogger("haloband.tasks")

T = TypeVar("T")


class TaskThread(QObject):
    """One thread, tasks first in first out. Create, submit and close it on the same thread."""

    _called_back = Signal(object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._is_closed = False
        self._called_back.connect(self._on_called_back, Qt.ConnectionType.QueuedConnection)

    def submit(
        self,
        work: Callable[[], T],
        done: Callable[[T], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
    ) -> "Future[T] | None":
        """Run `work` on the helper thread. Without `failed`, an error is written to the log.

        After `close` nothing is run and there is no future.
        """
        if self._is_closed:
            log.debug("the %s thread is closed; work that came late is dropped", self._name)
            return None

        def run() -> T:
            try:
                result = work()
            except BaseException as error:
                if failed is None:
                    record_error(error, f"working on the {self._name} thread")
                else:
                    self._called_back.emit(partial(failed, error))
                raise
            if done is not None:
                self._called_back.emit(partial(done, result))
            return result

        return self._executor.submit(run)

    def close(self, *, cancel: bool = False) -> None:
        """Finish what was submitted (`cancel`: only what runs), then end the thread. Callbacks not yet run are lost."""
        self._is_closed = True
        self._executor.shutdown(wait=True, cancel_futures=cancel)
        QCoreApplication.removePostedEvents(self)  # one delivered after this object is gone would crash

    @Slot(object)
    def _on_called_back(self, callback: Callable[[], None]) -> None:
        if not self._is_closed:
            callback()
