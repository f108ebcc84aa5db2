"""ChatService: what the window asks about chats, and the only thing that changes them. GUI thread.

Every method returns at once: reading and writing happen on the store's thread, counting and document reading on
helper threads, answering in EngineWorker. Results come back as the signals below. Views keep no state of their own
beyond what these signals told them.
"""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.models import ChatSettings, ChatStatus, ExportFormat, FitOption


class ChatService(QObject):
    """The chats of one data folder. All signals carry the frozen record of app/chat/models.py named beside them."""

    chats_changed = Signal(object)  # tuple[ChatSummary, ...]: the whole list, pinned first, then newest first
    chat_opened = Signal(object)  # OpenChat: it is the current chat now; show all of it
    branch_changed = Signal(object)  # OpenChat: another branch of the current chat; show it again, keep the place
    chat_changed = Signal(object)  # Chat: title, settings, system prompt or history start of the current chat
    message_added = Signal(object)  # Message at the end of its chat (check chat_id: answers go on in the background)
    message_changed = Signal(object)  # Message: state, usage, timings, version counts; text only when it is final
    text_arrived = Signal(object)  # TextDelta for any chat, about 30 a second at most
    status_changed = Signal(object)  # ChatStatus of any chat
    budget_changed = Signal(object)  # ContextBudget of the current chat
    documents_changed = Signal(object)  # PendingDocuments: the chips of the current chat's composer
    draft_changed = Signal(int, str)  # chat id, text: the service changed the composer ("insert as text", undo)
    sent = Signal(int)  # chat id: the question is committed; the composer may be emptied
    send_refused = Signal(object)  # SendRefused: it does not fit; offer its options
    model_changed = Signal(object)  # ModelStatus
    notice = Signal(object)  # Notice
    undo_offered = Signal(object)  # UndoOffer
    search_finished = Signal(object)  # SearchResults
    document_text_ready = Signal(int, str)  # document key, whole text (asked with request_document_text)
    exported = Signal(object)  # Path written
    imported = Signal(object)  # tuple[int, ...]: ids of the new chats

    # ---- chats

    @property
    def current_chat_id(self) -> int | None:
        raise NotImplementedError

    def status(self, chat_id: int) -> ChatStatus:
        raise NotImplementedError

    def open_chat(self, chat_id: int) -> None: ...

    def new_chat(self) -> None:
        """Open an empty chat. An empty chat that exists already is used again."""

    def rename_chat(self, chat_id: int, title: str) -> None: ...

    def set_pinned(self, chat_id: int, pinned: bool) -> None: ...

    def delete_chat(self, chat_id: int) -> None:
        """Take a chat off the list (its answer is stopped) and offer undo. It is erased for good at the next start."""

    def undo(self, token: int) -> None: ...

    def search(self, query: str) -> None:
        """Search titles and messages; an empty query gives no hits. Only the newest search answers."""

    def set_chat_settings(self, chat_id: int, settings: ChatSettings) -> None: ...

    def set_system_prompt(self, chat_id: int, text: str | None) -> None: ...

    def export_chat(self, chat_id: int, path: Path, form: ExportFormat) -> None: ...

    def import_chats(self, path: Path) -> None: ...

    # ---- composer of the current chat

    def set_draft(self, text: str) -> None:
        """The composer's text changed; saved and counted shortly after. Cheap: call it on every key."""

    def paste_text(self, text: str) -> bool:
        """True if the paste became a document chip; False if the composer should insert it itself."""

    def add_files(self, paths: list[Path]) -> None: ...

    def remove_document(self, key: int) -> None: ...

    def insert_document_as_text(self, key: int) -> None: ...

    def request_document_text(self, key: int) -> None:
        """Ask for a document's whole text (pending or sent); answered by document_text_ready."""

    def send(self, option: FitOption | None = None) -> None:
        """Send the draft with its documents. `option` is one that send_refused or the budget offered."""

    # ---- answers

    def stop(self, chat_id: int | None = None) -> None:
        """Stop the chat's answer (None: the current chat's), loading and waiting included."""

    def regenerate(self, message_id: int | None = None) -> None:
        """Answer again beside the old answer (None: the last). A running answer of the chat is stopped first."""

    def edit_message(self, message_id: int, text: str) -> None:
        """Ask a changed question beside the old one (documents are kept), and answer it."""

    def select_version(self, message_id: int, offset: int) -> None:
        """Show the version `offset` places (-1, +1) beside this message, with all that followed it."""

    def branch_chat(self, message_id: int) -> None:
        """Open a new chat that holds the current branch up to and including this message."""

    def delete_message(self, message_id: int) -> None:
        """Delete a message and what follows it, and offer undo."""

    # ---- model

    def load_model(self, path: Path | None) -> None:
        """Load a model (None: the embedded one); the old one answers until then stays if that fails."""

    def cancel_load(self) -> None: ...
