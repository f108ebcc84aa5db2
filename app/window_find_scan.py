"""Looks through the messages of the open chat for words, some milliseconds at a time: the shown text of ten thousand
answers takes seconds to make. GUI thread; owned by the find bar.
"""

import time
from collections.abc import Generator, Iterator

from PySide6.QtCore import QObject, QTimer, Signal

from app.transcript.model import MessageView, Role
from app.transcript.shown_text import words_in_steps
from app.transcript.view import TranscriptView

_SLICE_S = 0.004  # what is found is laid out after it, in the same turn
_Kept = tuple[str, str, list[str]]  # thinking and text as they were, and their words, case-folded
_PIECE = 60_000  # characters of a question that are folded in one step


class FindScan(QObject):
    """One look at a time; a new one ends the one before. The texts that it made are kept until `forget`."""

    found = Signal(int)  # the first row, in the direction of the look
    counted = Signal(int)  # rows in all, at the end

    def __init__(self, transcript: TranscriptView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._texts: dict[int, _Kept] = {}  # by message id
        self._needle = ""
        self._steps: Iterator[int | None] = iter(())
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
        self._steps = self._look((row + direction * step) % total for step in range(1, total + 1))
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
        for row in self._steps:
            if row is not None:
                self._count += 1
                if self._count == 1:
                    self.found.emit(row)
                    return
            if time.monotonic() > deadline:
                return
        self._timer.stop()
        self.counted.emit(self._count)

    def words(self, row: int) -> list[str]:
        """The case-folded words of each block of an answer, or all of a question's as one. Empty if they have not been
        looked through as they are now."""
        view = self._transcript.messages[row]
        kept = self._texts.get(view.id)
        return kept[2] if kept is not None and kept[:2] == (self._thinking(row), view.text) else []

    def _look(self, rows: Iterator[int]) -> Iterator[int | None]:
        """The rows that hold the needle, and None between steps of a millisecond or so."""
        for row in rows:
            view, thinking = self._messages[row], self._thinking(row)
            kept = self._texts.get(view.id)
            if kept is None or kept[:2] != (thinking, view.text):
                words = yield from _folded(view, thinking)
                kept = self._texts[view.id] = (thinking, view.text, words)
            yield row if any(self._needle in words for words in kept[2]) else None

    def _thinking(self, row: int) -> str:
        """The thinking of a message if it is unfolded."""
        view = self._transcript.messages[row]
        return view.thinking if view.thinking and self._transcript.page.is_thinking_shown(row) else ""


def _folded(view: MessageView, thinking: str) -> Generator[None, None, list[str]]:
    pieces: list[str] = []
    if view.role is Role.USER:
        for at in range(0, len(view.text), _PIECE):
            pieces.append(view.text[at : at + _PIECE].casefold())
            yield
        return ["".join(pieces)]
    for source in (thinking, view.text):
        words = yield from words_in_steps(source)
        pieces.extend(part.casefold() for part in words)
    return pieces
