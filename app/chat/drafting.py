"""Drafting: what waits in each chat's composer - the text, saved shortly after it changed, and the documents.

GUI thread, owned by ChatService. Files are read on the documents thread and their tokens counted on the counting
thread; a chip stands in the composer from the first moment.
"""

import itertools
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.editable import is_editable
from app.chat.models import DocumentInfo, PendingDocument, PendingDocuments, PendingState
from app.documents.paste import paste_name
from app.documents.prompt import document_block
from app.documents.reading import ReadDocument, ReadingStoppedError, read_document
from app.engine_host import EngineHost
from app.errors import UserError, record_error
from app.protocol.events import Event, TokensCounted
from app.store import chats, documents
from app.store.documents import NewDocument
from app.store.store import Store
from app.tasks import TaskThread

SAVE_MS = 500


class Drafting(QObject):
    """Drafts of all chats that were opened in this run; the current chat is named in each call."""

    documents_changed = Signal(object)  # PendingDocuments
    draft_changed = Signal(int, str)  # changed by this object, not by the person
    failed = Signal(object, str)  # error, what was being done

    def __init__(self, store: Store, host: EngineHost, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._host = host
        self._thread = TaskThread("documents", self)
        self._keys = itertools.count(-1, -1)
        self._texts: dict[int, str] = {}
        self._unsaved: set[int] = set()
        self._pending: dict[int, list[PendingDocument]] = {}
        self._stops: dict[int, threading.Event] = {}  # by key, of files being read
        self._counts: dict[int, tuple[int, int]] = {}  # by job id: (chat id, document id)
        self._timer = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._timer.timeout.connect(self.save)
        self._untold: set[int] = set()  # chats whose documents changed in this round of the event loop
        self._tell_timer = QTimer(self, singleShot=True, interval=0)
        self._tell_timer.timeout.connect(self._tell_changed)

    # ---- text

    def text(self, chat_id: int) -> str:
        return self._texts.get(chat_id, "")

    def opened(self, chat_id: int, draft: str, pending: tuple[DocumentInfo, ...]) -> None:
        """The chat was read from disk: take its draft over, unless this run knows a newer one."""
        self._texts.setdefault(chat_id, draft)
        if chat_id not in self._pending:
            self._pending[chat_id] = [PendingDocument(d.id, d.name, PendingState.READY, d) for d in pending]
            for info in pending:
                if info.tokens is None:
                    self._count(chat_id, info)

    def set_text(self, chat_id: int, text: str) -> None:
        """The person changed the text. Saved within half a second."""
        if self._texts.get(chat_id, "") != text:
            self._texts[chat_id] = text
            self._unsaved.add(chat_id)
            self._timer.start()

    def put_text(self, chat_id: int, text: str) -> None:
        """Change the text for the person."""
        self.set_text(chat_id, text)
        self.draft_changed.emit(chat_id, text)

    def save(self) -> None:
        """Write every draft that changed."""
        self._timer.stop()
        for chat_id in self._unsaved:
            self._save_one(chat_id, self._texts[chat_id])
        self._unsaved.clear()

    def _save_one(self, chat_id: int, text: str) -> None:
        self._store.submit(
            lambda db: chats.set_draft(db, chat_id, text), failed=lambda error: self._on_save_failed(chat_id, error)
        )

    def sent(self, chat_id: int, text: str, document_ids: frozenset[int]) -> None:
        """This much of the draft became a question, which the store has. What was added meanwhile stays."""
        draft = self.text(chat_id)
        self._texts[chat_id] = rest = draft.removeprefix(text).lstrip("\n") if draft.startswith(text) else draft
        self._unsaved.add(chat_id)  # a save of the old text may have crossed the commit on its way
        self._timer.start()
        self.draft_changed.emit(chat_id, rest)
        self._pending[chat_id] = [kept for kept in self.pending(chat_id) if kept.key not in document_ids]
        self._tell(chat_id)

    def _on_save_failed(self, chat_id: int, error: BaseException) -> None:
        self._unsaved.add(chat_id)  # the next change or the end of the program tries again
        self.failed.emit(error, "saving a draft")

    # ---- documents

    def pending(self, chat_id: int) -> tuple[PendingDocument, ...]:
        return tuple(self._pending.get(chat_id, ()))

    def add_file(self, chat_id: int, path: Path) -> None:
        """Read a file into a document."""
        key, stop = next(self._keys), threading.Event()
        self._stops[key] = stop
        self._put(chat_id, PendingDocument(key, path.name, PendingState.READING))
        self._thread.submit(
            lambda: read_document(path, stop),
            lambda read: self._store_document(chat_id, key, read),
            lambda error: self._on_reading_failed(chat_id, key, error),
        )

    def add_paste(self, chat_id: int, text: str) -> None:
        """Make a document of pasted text."""
        name = paste_name({document.name for document in self.pending(chat_id)})
        key = next(self._keys)
        self._put(chat_id, PendingDocument(key, name, PendingState.READING))
        self._store_document(chat_id, key, ReadDocument(name, text, -1))

    def remove(self, chat_id: int, key: int) -> None:
        """Take a document out of the composer, whatever state it is in."""
        stop = self._stops.pop(key, None)
        if stop is not None:
            stop.set()
        before = self._pending.get(chat_id, [])
        self._pending[chat_id] = [document for document in before if document.key != key]
        if key > 0:
            self._store.submit(
                lambda db: documents.remove_document(db, key), failed=self._failing("removing a document")
            )
        self._tell(chat_id)

    def insert_as_text(self, chat_id: int, key: int) -> None:
        """Put a document's text at the end of the draft, in its place, if it can be edited there."""
        too_long = self.tr("The lines of this document are too long to edit them here; it is sent whole.")

        def insert(text: str) -> None:
            if not is_editable(text):
                self.failed.emit(UserError(too_long), "inserting a document")
                return
            draft = self.text(chat_id)
            self.put_text(chat_id, f"{draft}\n{text}" if draft and not draft.endswith("\n") else draft + text)
            self.remove(chat_id, key)

        self.fetch_text(key, insert)

    def fetch_text(self, key: int, done: Callable[[str], None]) -> None:
        """A stored document's whole text."""
        self._store.submit(lambda db: documents.document_text(db, key), done, self._failing("reading a document"))

    def recount(self, chat_id: int) -> None:
        """Another model counts tokens in another way."""
        for document in self.pending(chat_id):
            if document.info is not None:
                self._count(chat_id, document.info)

    def on_event(self, event: Event) -> None:
        """Counts that were asked for here."""
        if isinstance(event, TokensCounted) and event.job_id in self._counts:
            chat_id, document_id = self._counts.pop(event.job_id)
            if event.counts is not None:
                self._on_counted(chat_id, document_id, event.counts[0])

    def close(self) -> None:
        """Save drafts and stop reading."""
        for stop in self._stops.values():
            stop.set()
        self.save()
        self._thread.close(cancel=True)

    # ---- inside

    def _store_document(self, chat_id: int, key: int, read: ReadDocument) -> None:
        self._stops.pop(key, None)
        if not any(document.key == key for document in self.pending(chat_id)):
            return  # removed meanwhile

        def stored(info: DocumentInfo) -> None:
            if self._replace(chat_id, key, PendingDocument(info.id, info.name, PendingState.READY, info)):
                self._count(chat_id, info)
            else:
                self._store.submit(lambda db: documents.remove_document(db, info.id))

        def store(db: sqlite3.Connection) -> DocumentInfo:
            size = read.size_bytes if read.size_bytes >= 0 else len(read.text.encode(errors="replace"))
            return documents.add_document(db, chat_id, NewDocument(read.name, read.text, size))

        self._store.submit(store, stored, lambda error: self._on_reading_failed(chat_id, key, error))

    def _on_reading_failed(self, chat_id: int, key: int, error: BaseException) -> None:
        self._stops.pop(key, None)
        if isinstance(error, ReadingStoppedError):
            return
        text = record_error(error, "reading a document").message
        name = next((document.name for document in self.pending(chat_id) if document.key == key), "")
        self._replace(chat_id, key, PendingDocument(key, name, PendingState.FAILED, error=text))

    def _count(self, chat_id: int, info: DocumentInfo) -> None:
        def count(text: str) -> None:
            job_id = self._host.count_tokens((document_block(info.name, text),))
            self._counts[job_id] = (chat_id, info.id)

        self.fetch_text(info.id, count)

    def _on_counted(self, chat_id: int, document_id: int, tokens: int) -> None:
        self._store.submit(lambda db: documents.set_tokens(db, [(document_id, tokens)]))
        for document in self.pending(chat_id):
            if document.info is not None and document.info.id == document_id:
                info = replace(document.info, tokens=tokens)
                self._replace(chat_id, document.key, replace(document, info=info))

    def _put(self, chat_id: int, document: PendingDocument) -> None:
        self._pending.setdefault(chat_id, []).append(document)
        self._tell(chat_id)

    def _replace(self, chat_id: int, key: int, document: PendingDocument) -> bool:
        pending = self._pending.get(chat_id, [])
        for place, old in enumerate(pending):
            if old.key == key:
                pending[place] = document
                self._tell(chat_id)
                return True
        return False

    def _tell(self, chat_id: int) -> None:
        """Once for all changes of a moment: each telling names every document of the chat."""
        self._untold.add(chat_id)
        self._tell_timer.start()

    def _tell_changed(self) -> None:
        changed, self._untold = self._untold, set()
        for chat_id in changed:
            self.documents_changed.emit(PendingDocuments(chat_id, self.pending(chat_id)))

    def _failing(self, doing: str) -> Callable[[BaseException], None]:
        return lambda error: self.failed.emit(error, doing)
