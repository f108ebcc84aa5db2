"""ChatLibrary: the list of chats and what is done to a chat as a whole - rename, pin, delete and undo, search, export,
import. GUI thread, owned by ChatService, which decides what is shown.
"""

import itertools
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.chat.exchange_export import export_chat
from app.chat.exchange_format import ImportedChat
from app.chat.exchange_import import read_chats, store_chat
from app.chat.models import Chat, ChatSummary, ExportFormat, SearchHit, SearchResults, UndoOffer
from app.generation import GenerationState
from app.store import chats, messages, search
from app.store.store import Store
from app.tasks import TaskThread

T = TypeVar("T")


class ChatLibrary(QObject):
    """Operations on chats by id. `list_changed` follows every one of them."""

    list_changed = Signal(object)  # tuple[ChatSummary, ...]
    chat_changed = Signal(object)  # Chat
    search_finished = Signal(object)  # SearchResults
    undo_offered = Signal(object)  # UndoOffer
    exported = Signal(object)  # Path
    imported = Signal(object)  # tuple[int, ...]
    failed = Signal(object, str)  # error, what was being done

    def __init__(
        self, store: Store, states: Callable[[], Mapping[int, GenerationState]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._states = states
        self._stored: tuple[ChatSummary, ...] = ()
        self._told: tuple[ChatSummary, ...] | None = None
        self._is_refreshing = False
        self._is_stale = False
        self._search_number = 0
        self._undos: dict[int, Callable[[], None]] = {}
        self._tokens = itertools.count(1)
        self._thread = TaskThread("import", self)

    @property
    def summaries(self) -> tuple[ChatSummary, ...]:
        """The list as it was told last."""
        return self._told or ()

    # ---- the list

    def refresh(self) -> None:
        """Read the list again; calls that come while it is read are answered by one more reading."""
        self._is_stale = True
        if not self._is_refreshing:
            self._is_refreshing, self._is_stale = True, False
            self._store.submit(chats.list_chats, self._on_listed, self._on_list_failed)

    def tell(self) -> None:
        """Send the list with the states as they are, if anything differs from what was sent."""
        states = self._states()
        now = tuple(replace(row, state=states[row.id]) if row.id in states else row for row in self._stored)
        if now != self._told:
            self._told = now
            self.list_changed.emit(now)

    def _on_listed(self, found: tuple[ChatSummary, ...]) -> None:
        self._is_refreshing = False
        self._stored = found
        self.tell()
        if self._is_stale:
            self.refresh()

    def _on_list_failed(self, error: BaseException) -> None:
        self._is_refreshing = False
        self.failed.emit(error, "listing the chats")

    # ---- one chat

    def rename(self, chat_id: int, title: str) -> None:
        self._change(chat_id, lambda db: chats.set_title(db, chat_id, title, manual=True), "renaming a chat")

    def set_pinned(self, chat_id: int, pinned: bool) -> None:
        self._change(chat_id, lambda db: chats.set_pinned(db, chat_id, pinned), "pinning a chat")

    def change(self, chat_id: int, operation: Callable[[sqlite3.Connection], None], doing: str) -> None:
        """Any other change of a chat's own row."""
        self._change(chat_id, operation, doing)

    def delete(self, chat_id: int, text: str, done: Callable[[], None], undone: Callable[[], None]) -> None:
        """Take a chat off the list; `done` when that is stored, `undone` when it came back."""

        def bring_back() -> None:
            self._submit(
                lambda db: chats.mark_deleted(db, chat_id, deleted=False), lambda _: undone(), "bringing a chat back"
            )

        def deleted(_: None) -> None:
            self.offer_undo(text, bring_back)
            done()

        self._submit(lambda db: chats.mark_deleted(db, chat_id, deleted=True), deleted, "deleting a chat")

    def offer_undo(self, text: str, undo: Callable[[], None]) -> None:
        token = next(self._tokens)
        self._undos[token] = undo
        self.undo_offered.emit(UndoOffer(token, text))

    def undo(self, token: int) -> None:
        """Take a deletion back; each offer works once."""
        undo = self._undos.pop(token, None)
        if undo is not None:
            undo()

    def branch(self, message_id: int, title: Callable[[str], str], done: Callable[[int], None]) -> None:
        """A new chat with the messages up to this one; `title` makes its name from the old one."""

        def copy(db: sqlite3.Connection) -> int:
            old = chats.load_chat(db, messages.load_message(db, message_id).chat_id)
            new_id = chats.create_chat(db, title(old.title))
            chats.set_settings(db, new_id, old.settings)
            chats.set_system_prompt(db, new_id, old.system_prompt)
            messages.copy_branch(db, message_id, new_id)
            return new_id

        self._submit(copy, done, "branching a chat")

    # ---- search

    def search(self, query: str) -> None:
        """Only the newest search is answered."""
        self._search_number += 1
        number = self._search_number

        def found(hits: tuple[SearchHit, ...]) -> None:
            if number == self._search_number:
                self.search_finished.emit(SearchResults(query, hits))

        def find(db: sqlite3.Connection) -> tuple[SearchHit, ...]:
            return search.search(db, query) if number == self._search_number else ()

        self._store.read(find, found, self._failing("searching"))

    # ---- files

    def export(self, chat_id: int, path: Path, form: ExportFormat) -> None:
        self._store.read(
            lambda db: export_chat(db, chat_id, path, form), self.exported.emit, self._failing("exporting a chat")
        )

    def import_file(self, path: Path) -> None:
        self._thread.submit(lambda: read_chats(path), self._store_imported, self._failing("importing chats"))

    def _store_imported(self, found: tuple[ImportedChat, ...]) -> None:
        """One transaction a chat, so that a running answer is saved in between. The last one tells."""
        ids: list[int] = []
        for chat in reversed(found):  # the first of the file ends up on top of the list
            self._store.submit(
                partial(store_chat, chat=chat),
                lambda chat_id: self._on_imported(chat_id, ids, len(found)),
                self._failing("importing chats"),
            )

    def _on_imported(self, chat_id: int, ids: list[int], expected: int) -> None:
        ids.append(chat_id)
        if len(ids) == expected:
            self.imported.emit(tuple(reversed(ids)))
            self.refresh()

    def close(self) -> None:
        self._thread.close(cancel=True)

    # ---- inside

    def _change(self, chat_id: int, operation: Callable[[sqlite3.Connection], None], doing: str) -> None:
        def change(db: sqlite3.Connection) -> Chat:
            operation(db)
            return chats.load_chat(db, chat_id)

        self._submit(change, self.chat_changed.emit, doing)

    def _submit(self, operation: Callable[[sqlite3.Connection], T], done: Callable[[T], None], doing: str) -> None:
        def answered(result: T) -> None:
            done(result)
            self.refresh()

        self._store.submit(operation, answered, self._failing(doing))

    def _failing(self, doing: str) -> Callable[[BaseException], None]:
        return lambda error: self.failed.emit(error, doing)
