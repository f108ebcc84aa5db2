"""Makes the views of a chat that is opened, a few milliseconds at a time: ten thousand of them take longer than the GUI
thread may be away. A chat of usual length is ready at once. GUI thread; owned by ChatPage.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QObject, QTimer

from app.chat.models import Message
from app.transcript.model import MessageView

_SLICE_S = 0.008
_LOOK_EVERY = 256  # messages between looks at the clock


class Opening(QObject):
    """One chat at a time; a new start forgets the one before."""

    def __init__(self, make: Callable[[Message], MessageView], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._views: list[MessageView] = []
        self._rest: Iterator[Message] = iter(())
        self._done: Callable[[list[MessageView]], None] | None = None
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._work)

    def start(self, messages: Sequence[Message], done: Callable[[list[MessageView]], None]) -> None:
        """Hand the views of all messages to `done`, now if that is quick."""
        self._views, self._rest, self._done = [], iter(messages), done
        self._timer.start()
        self._work()

    def finish(self) -> None:
        """Hand over what is being made now: something is about to happen to it."""
        if self._done is not None:
            self._views.extend(map(self._make, self._rest))
            self._hand_over()

    def _work(self) -> None:
        deadline = time.monotonic() + _SLICE_S
        for count, message in enumerate(self._rest, start=1):
            self._views.append(self._make(message))
            if count % _LOOK_EVERY == 0 and time.monotonic() > deadline:
                return
        self._hand_over()

    def _hand_over(self) -> None:
        self._timer.stop()
        done, self._done = self._done, None
        if done is not None:
            done(self._views)
