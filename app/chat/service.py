"""ChatService: what the window asks about chats, and the only thing that changes them. GUI thread.

Every method returns at once: reading and writing happen on the store's thread, counting and document reading on
helper threads, answering in EngineWorker. Results come back as signals (app/chat/news.py). Views keep no state of
their own beyond what these told them. The work is done by the parts, which app/chat/parts.py puts together.
"""

import sqlite3
from pathlib import Path

from PySide6.QtCore import QObject

from app.chat.budget import FitOption
from app.chat.models import (
    Chat,
    ChatSettings,
    ChatStatus,
    ExportFormat,
    ModelStatus,
    Notice,
    NoticeLevel,
    OpenChat,
)
from app.chat.news import ChatNews
from app.chat.parts import ChatParts
from app.documents.paste import is_long_paste
from app.engine_host import EngineHost
from app.settings_service import SettingsService
from app.store import chats, messages
from app.store.store import Store, StoreOpened

MOST_FILES = 100  # of one drop


class ChatService(ChatNews):
    """The chats of one data folder. Its signals are listed in app/chat/news.py."""

    def __init__(
        self, store: Store, host: EngineHost, settings: SettingsService, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store, self._settings = store, settings
        self._is_closed = False
        self._parts = parts = ChatParts(store, host, settings, self)
        self._answers, self._library, self._drafting = parts.answers, parts.library, parts.drafting
        self._budgeter, self._models, self._stage = parts.budgeter, parts.models, parts.stage
        self._asking = parts.asking

    # ---- life

    def start(self) -> None:
        """Open the store, show a chat, load the model. Views must be connected before."""
        self._store.open(self._on_store_opened)
        self._models.load_at_start()

    def shutdown(self) -> None:
        """Stop every answer, keep its text, close the store. Blocks while that takes (a layer, a write)."""
        if self._is_closed:
            return
        self._is_closed = True
        self._parts.close()
        self._store.close()

    def _on_store_opened(self, opened: StoreOpened) -> None:
        if opened.warning:
            self.notice.emit(Notice(NoticeLevel.WARNING, opened.warning, key="store", is_sticky=True))
        if opened.interrupted:
            text = self.tr(
                "%n answer(s) were interrupted when the program ended; their text was kept.", "", opened.interrupted
            )
            self.notice.emit(Notice(NoticeLevel.INFO, text, key="interrupted"))
        self._library.refresh()
        if self._settings.settings.general.reopen_last_chat:
            self._store.submit(
                chats.last_used, self._open_or_create, lambda error: self._parts.report(error, "opening a chat")
            )
        else:
            self.new_chat()

    def _open_or_create(self, chat_id: int | None) -> None:
        if chat_id is None:
            self.new_chat()
        else:
            self.open_chat(chat_id)

    # ---- chats

    @property
    def current_chat_id(self) -> int | None:
        return self._stage.chat_id

    @property
    def current_chat(self) -> Chat | None:
        return self._stage.chat

    @property
    def model_status(self) -> ModelStatus:
        return self._models.status

    @property
    def model_path(self) -> Path | None:
        """The file of the model that answers now; None for the embedded one, and without one."""
        return self._models.path

    def status(self, chat_id: int) -> ChatStatus:
        """What the chat's answer does now."""
        return self._answers.status(chat_id)

    def title(self, chat_id: int) -> str:
        """What the list calls a chat; empty until a first question gives it a title."""
        return next((row.title for row in self._library.summaries if row.id == chat_id), "")

    def open_chat(self, chat_id: int, message_id: int | None = None) -> None:
        """Show a chat; with `message_id`, the branch that leads to this message (a search hit)."""

        def load(db: sqlite3.Connection) -> OpenChat:
            if message_id is not None:
                messages.show_message(db, message_id)
            return messages.open_chat(db, chat_id)

        self._stage.open(load)

    def new_chat(self) -> None:
        """Open an empty chat. An empty chat that exists already is used again."""

        def create(db: sqlite3.Connection) -> OpenChat:
            found = chats.find_empty_chat(db)
            return messages.open_chat(db, chats.create_chat(db) if found is None else found)

        self._stage.open(create)

    def rename_chat(self, chat_id: int, title: str) -> None:
        """An empty title leaves the old one."""
        if title.strip():
            self._library.rename(chat_id, title)

    def set_pinned(self, chat_id: int, pinned: bool) -> None:
        self._library.set_pinned(chat_id, pinned)

    def delete_chat(self, chat_id: int) -> None:
        """Take a chat off the list (its answer is stopped) and offer undo. It is erased for good at the next start."""
        self.stop(chat_id)
        text = self.tr("“{title}” was deleted.").format(title=self.title(chat_id) or self.tr("New chat"))
        self._library.delete(chat_id, text, lambda: self._on_chat_deleted(chat_id), lambda: self.open_chat(chat_id))

    def _on_chat_deleted(self, chat_id: int) -> None:
        if chat_id == self.current_chat_id:
            others = [row.id for row in self._library.summaries if row.id != chat_id]
            self._open_or_create(others[0] if others else None)

    def undo(self, token: int) -> None:
        """Take back the deletion that UndoOffer named. Each offer works once."""
        self._library.undo(token)

    def search(self, query: str) -> None:
        """Search titles and messages; an empty query gives no hits. Only the newest search answers."""
        self._library.search(query)

    def set_chat_settings(self, chat_id: int, settings: ChatSettings) -> None:
        self._library.change(
            chat_id, lambda db: chats.set_settings(db, chat_id, settings), "changing a chat's settings"
        )

    def set_system_prompt(self, chat_id: int, text: str | None) -> None:
        """None: the app's default."""
        self._library.change(chat_id, lambda db: chats.set_system_prompt(db, chat_id, text), "changing a system prompt")

    def restore_history(self, chat_id: int) -> None:
        """Send the whole chat again from now on, after turns had been left out."""
        self._library.change(chat_id, lambda db: chats.set_history_from(db, chat_id, None), "changing what is sent")

    def export_chat(self, chat_id: int, path: Path, form: ExportFormat) -> None:
        self._answers.saver.flush()
        self._library.export(chat_id, path, form)

    def import_chats(self, path: Path) -> None:
        self._library.import_file(path)

    # ---- composer of the current chat

    def set_draft(self, text: str) -> None:
        """The composer's text changed; saved and counted shortly after. Cheap: call it on every key."""
        if self._stage.chat_id is not None:
            self._drafting.set_text(self._stage.chat_id, text)
            self._budgeter.set_draft(text)

    def paste_text(self, text: str) -> bool:
        """True if the paste became a document chip; False if the composer should insert it itself."""
        rule = self._settings.settings.composer
        is_long = is_long_paste(text, threshold=rule.paste_threshold, enabled=rule.paste_becomes_document)
        if self._stage.chat_id is None or not is_long:
            return False
        self._drafting.add_paste(self._stage.chat_id, text)
        return True

    def add_files(self, paths: list[Path]) -> None:
        """Read files into chips: text, source, Markdown, PDF, DOCX. At most MOST_FILES at once; the rest is named in a
        notice."""
        if self._stage.chat_id is None:
            return
        for path in paths[:MOST_FILES]:
            self._drafting.add_file(self._stage.chat_id, path)
        if len(paths) > MOST_FILES:
            sentence = self.tr("Only the first {number} of {count} files were added. Add the others apart.")
            text = sentence.format(number=MOST_FILES, count=len(paths))
            self.notice.emit(Notice(NoticeLevel.WARNING, text, key="files"))

    def remove_document(self, key: int) -> None:
        if self._stage.chat_id is not None:
            self._drafting.remove(self._stage.chat_id, key)

    def insert_document_as_text(self, key: int) -> None:
        if self._stage.chat_id is not None:
            self._drafting.insert_as_text(self._stage.chat_id, key)

    def request_document_text(self, key: int) -> None:
        """Ask for a document's whole text (pending or sent); answered by document_text_ready."""
        self._drafting.fetch_text(key, lambda text: self.document_text_ready.emit(key, text))

    def send(self, option: FitOption | None = None) -> None:
        """Send the draft with its documents. `option` is one that send_refused offered; with it, what was refused (the
        draft as it is now, an edit or another answer) is sent in that way."""
        if self._stage.chat_id is not None:
            self._asking.send(self._stage.chat_id, option)

    # ---- answers

    def stop(self, chat_id: int | None = None) -> None:
        """Stop the chat's answer (None: the current chat's), loading and waiting included."""
        chosen = self._stage.chat_id if chat_id is None else chat_id
        if chosen is not None:
            self._asking.stop(chosen)

    def regenerate(self, message_id: int | None = None) -> None:
        """Answer again beside the old answer (None: the last), if that fits, else send_refused. A running answer of the
        chat is stopped first."""
        if self._stage.chat_id is not None and self._stage.messages:
            target = self._stage.messages[-1].id if message_id is None else message_id
            self._asking.answer_again(self._stage.chat_id, target)

    def edit_message(self, message_id: int, text: str, option: FitOption | None = None) -> None:
        """Ask a changed question beside the old one (documents are kept), and answer it; send_refused if it does not
        fit. `option` is one that this offered."""
        if self._stage.chat_id is not None:
            self._asking.edit(self._stage.chat_id, message_id, text, option)

    def select_version(self, message_id: int, offset: int) -> None:
        """Show the version `offset` places (-1, +1) beside this message, with all that followed it."""
        self._stage.change_branch(lambda db: messages.select_sibling(db, message_id, offset), "showing a version")

    def branch_chat(self, message_id: int) -> None:
        """Open a new chat that holds the current branch up to and including this message."""
        self._answers.saver.flush()
        name = self.tr("{title} (branch)")
        self._library.branch(message_id, lambda old: name.format(title=old), self.open_chat)

    def delete_message(self, message_id: int) -> None:
        """Delete a message and what follows it, and offer undo."""

        def undo() -> None:
            if not self._stage.change_branch(lambda db: messages.bring_back(db, message_id), "bringing a message back"):
                deleted()  # not now: the offer stays

        def deleted() -> None:
            self._library.offer_undo(self.tr("The message was deleted."), undo)

        self._stage.change_branch(lambda db: messages.mark_deleted(db, message_id), "deleting a message", deleted)

    # ---- model

    def load_model(self, path: Path | None) -> None:
        """Load a model (None: the embedded one); the one before answers until then and stays if that fails."""
        self._models.load(path)

    def cancel_load(self) -> None:
        self._models.cancel()
