"""Cyclic garbage is collected on the GUI thread only, because a collection in a worker thread may free Qt objects.

A Python wrapper freed by another thread leaves its C++ object to be deleted later; an event that is delivered in
between crashes the program. So automatic collection is off and a timer does the youngest generation in small pieces,
the next one now and then, and everything seldom. GUI thread; one for the program.
"""

import gc

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS = 100
_YOUNG_OBJECTS = 3000  # about half a millisecond of work
_MIDDLE_EVERY = 10  # rounds that found work: what survived them is looked at again
_FULL_EVERY = 120


class GuiGarbageCollector(QObject):
    """Collects from the event loop while it exists; `close` gives automatic collection back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rounds = 0
        self._found_some = False
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """Collect what is worth collecting now.

        A round that found garbage is followed by another whatever the count says: each object that it frees lowers
        the count, so what other threads made meanwhile is not counted and might stay for as long as nothing is made.
        """
        if gc.get_count()[0] < _YOUNG_OBJECTS and not self._found_some:
            return
        self._rounds += 1
        generation = 2 if self._rounds % _FULL_EVERY == 0 else 1 if self._rounds % _MIDDLE_EVERY == 0 else 0
        self._found_some = gc.collect(generation) > 0

    def close(self) -> None:
        self._timer.stop()
        gc.enable()
