"""Gathers streamed text and has it painted on a timer, seldom enough that painting takes a small share of the GUI
thread. GUI thread; owned by the view."""

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, QTimer

from app.transcript.page import StreamedPiece

FLUSH_MS = 40
_SLOWEST_FLUSH_MS = 400
_FLUSH_SHARE = 4  # the pause is at least this many times the cost of the last flush

Pieces = Mapping[int, list[StreamedPiece]]  # by message id


class StreamBuffer(QObject):
    """`paint` is given what has gathered."""

    def __init__(self, paint: Callable[[Pieces], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paint = paint
        self._pending: dict[int, list[StreamedPiece]] = {}
        self._cost_ms = 0.0
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.flush)

    def add(self, message_id: int, piece: StreamedPiece) -> None:
        """Take text; it is painted within FLUSH_MS, or later where painting is slow."""
        self._pending.setdefault(message_id, []).append(piece)
        if not self._timer.isActive():
            self._timer.start(max(FLUSH_MS, min(_SLOWEST_FLUSH_MS, int(self._cost_ms * _FLUSH_SHARE))))

    def flush(self) -> None:
        """Paint what has gathered, now."""
        self._timer.stop()
        pending, self._pending = self._pending, {}
        started = time.monotonic()
        self._paint(pending)
        self._cost_ms = 1000 * (time.monotonic() - started)

    def drop(self, message_id: int) -> None:
        """Forget what has gathered for a message: its whole text came another way."""
        self._pending.pop(message_id, None)

    def clear(self) -> None:
        self._pending.clear()
