"""AnswerSaver: brings the text of answers to disk, about once a second while they stream and once at their end.

GUI thread; the writing is the store's. What could not be written is kept and tried again, and one notice says so
until it worked: nothing that was answered is lost while the program runs.
"""

import sqlite3
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.models import Notice, NoticeLevel
from app.errors import record_error
from app.sentences import translated
from app.store import chats, messages
from app.store.messages import AnswerEnd
from app.store.store import Store

FLUSH_MS = 1000
RETRY_MS = 5000
NOTICE_KEY = "unsaved"


class StreamedText(Protocol):
    """A running answer: its text so far, and whether that grew since it was last looked at."""

    def take_unsaved(self) -> tuple[int, str, str] | None:
        """(message id, text, reasoning) if anything is new."""
        ...


class AnswerSaver(QObject):
    """One for the service."""

    notice = Signal(object)

    def __init__(
        self,
        store: Store,
        running: Callable[[], list[StreamedText]],
        *,
        flush_ms: int = FLUSH_MS,
        retry_ms: int = RETRY_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._running = running
        self._waiting: dict[int, tuple[int, AnswerEnd]] = {}  # by message id: (chat id, end) not on disk yet
        self._has_complained = False
        self._flush_timer = QTimer(self, interval=flush_ms)
        self._flush_timer.timeout.connect(self.flush)
        self._retry_timer = QTimer(self, interval=retry_ms, singleShot=True)
        self._retry_timer.timeout.connect(self._retry)

    def watch(self) -> None:
        """An answer began: flush from now on until none runs."""
        if not self._flush_timer.isActive():
            self._flush_timer.start()

    def flush(self) -> None:
        """Write the text that is new."""
        running = self._running()
        for answer in running:
            unsaved = answer.take_unsaved()
            if unsaved is not None:
                self._flush_one(*unsaved)
        if not running:
            self._flush_timer.stop()

    def finish(self, chat_id: int, message_id: int, end: AnswerEnd) -> None:
        """Write the end of an answer, now or as soon as that is possible."""
        self._waiting[message_id] = (chat_id, end)
        self._write_end(message_id)

    def has_unsaved(self) -> bool:
        return bool(self._waiting)

    def try_all(self) -> None:
        """Submit what still waits once more (the program is about to end)."""
        for message_id in list(self._waiting):
            self._write_end(message_id)

    def _flush_one(self, message_id: int, text: str, reasoning: str) -> None:
        self._store.submit(
            lambda db: messages.flush_answer(db, message_id, text, reasoning),
            lambda _: self._on_written(),
            self._on_failed,  # the next flush writes the whole text again
        )

    def _write_end(self, message_id: int) -> None:
        chat_id, end = self._waiting[message_id]

        def write(db: sqlite3.Connection) -> None:
            messages.finish_answer(db, message_id, end)
            chats.touch(db, chat_id)

        self._store.submit(write, lambda _: self._on_end_written(message_id, end), self._on_failed)

    def _on_end_written(self, message_id: int, end: AnswerEnd) -> None:
        if message_id in self._waiting and self._waiting[message_id][1] is end:
            del self._waiting[message_id]
        self._on_written()

    def _on_written(self) -> None:
        if self._has_complained and not self._waiting:
            self._has_complained = False
            self.notice.emit(Notice(NoticeLevel.INFO, "", key=NOTICE_KEY))

    def _on_failed(self, error: BaseException) -> None:
        text = record_error(error, "saving an answer")
        self._retry_timer.start()
        if self._has_complained:
            return
        self._has_complained = True
        sentence = self.tr("{reason} The answer is not saved yet; it stays in this window and saving is tried again.")
        self.notice.emit(
            Notice(
                NoticeLevel.ERROR,
                sentence.format(reason=translated(text.message)),
                key=NOTICE_KEY,
                is_sticky=True,
                is_bug=text.is_bug,
            )
        )

    def _retry(self) -> None:
        self.try_all()
