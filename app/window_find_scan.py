"""Looks through the messages of the open chat for words, some milliseconds at a time: the shown text of ten thousand
answers takes seconds to make. GUI thread; owned by the find bar.
"""

import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal

from app.transcript.model import MessageView, Role
from app.transcript.shown_text import shown_text
from app.transcript.view import TranscriptView

_SLICE_S = 0.006


class FindScan(QObject):
    """One look at a time; a new one ends the one before. The texts that it made are kept until `forget`."""

    found = Signal(int)  # the first row, in the direction of the look
    counted = Signal(int)  # rows in all, at the end

    def __init__(self, transcript: TranscriptView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._texts: dict[int, tuple[str, str, str]] = {}  # by message id: thinking and text as given, folded words
        self._needle = ""
        self._rows: Iterator[int] = iter(())
        self._messages = transcript.messages
        self._count = 0
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._work)

    def start(self, needle: str, row: int, direction: int) -> None:
        """Look for the case-folded needle in every row, round the end, `row` last. The beginning is done at once."""
        self._messages = self._transcript.messages
        self._needle, self._count = needle, 0
        total = len(self._messages)
        if not 0 <= row < total:
            row = -1 if direction > 0 else total
        self._rows = ((row + direction * step) % total for step in range(1, total + 1))
        self._timer.start()
        self._work()

    def stop(self) -> None:
        self._timer.stop()

    def forget(self) -> None:
        """Stop, and let go of the texts."""
        self.stop()
        self._texts.clear()

    def _work(self) -> None:
        if self._messages is not self._transcript.messages:  # another chat is shown
            self.forget()
            return
        deadline = time.monotonic() + _SLICE_S
        for row in self._rows:
            if self._needle in self._folded(row):
                self._count += 1
                if self._count == 1:
                    self.found.emit(row)
            if time.monotonic() > deadline:
                return
        self._timer.stop()
        self.counted.emit(self._count)

    def _folded(self, row: int) -> str:
        view = self._messages[row]
        thinking = view.thinking if view.thinking and self._transcript.page.is_thinking_shown(row) else ""
        kept = self._texts.get(view.id)
        if kept is None or kept[0] != thinking or kept[1] != view.text:
            kept = self._texts[view.id] = (thinking, view.text, _words(view, thinking).casefold())
        return kept[2]


def _words(view: MessageView, thinking: str) -> str:
    if view.role is Role.USER:
        return view.text
    return f"{shown_text(thinking)}\n{shown_text(view.text)}" if thinking else shown_text(view.text)
