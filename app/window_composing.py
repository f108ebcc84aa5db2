"""Between the composer and `ChatService`: what is written and sent, the documents waiting with it, and what the service
says of them. GUI thread; owned by the chat page."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chat.budget import SendRefused
from app.chat.models import OpenChat, PendingDocument, PendingDocuments, PendingState
from app.chat.service import ChatService
from app.composer.composer import Composer


class Composing(QObject):
    """Passes on what is of the current chat; `page` is the parent of dialogs."""

    def __init__(self, service: ChatService, composer: Composer, page: QWidget) -> None:
        super().__init__(page)
        self._service, self._composer, self._page = service, composer, page
        self._shown_id: int | None = None  # of the chat
        self._edits: dict[int, tuple[int, str]] = {}  # by chat id: the question and the text of an edit that was left
        service.budget_changed.connect(composer.set_budget)
        service.documents_changed.connect(self._on_documents_changed)
        service.draft_changed.connect(self._on_draft_changed)
        service.sent.connect(self._on_sent)
        service.edited.connect(self._on_edited)
        service.send_refused.connect(self._on_send_refused)
        composer.send_requested.connect(service.send)
        composer.stop_requested.connect(service.stop)
        composer.draft_changed.connect(service.set_draft)
        composer.edit_submitted.connect(service.edit_message)
        composer.files_chosen.connect(self._add_files)
        composer.attach_requested.connect(self.choose_files)
        composer.document_removed.connect(service.remove_document)
        composer.document_inserted.connect(service.insert_document_as_text)
        composer.document_previewed.connect(service.request_document_text)

    def show_chat(self, opened: OpenChat) -> None:
        """Another chat: its draft, its waiting documents, an edit that was left there, and what can be done now."""
        early = self._composer.field.toPlainText() if self._shown_id is None else ""
        self._leave_edit()
        self._shown_id = opened.chat.id
        self._composer.set_draft(opened.chat.draft)
        documents = tuple(PendingDocument(d.id, d.name, PendingState.READY, d) for d in opened.pending_documents)
        self._composer.set_documents(PendingDocuments(opened.chat.id, documents))
        self._composer.refusal.hide()
        self._composer.set_state(self._service.status(opened.chat.id).state)
        if early:  # written in the window's first moments, before there was a chat to take it
            self.propose(f"{opened.chat.draft}\n{early}" if opened.chat.draft else early)
        edit = self._edits.pop(opened.chat.id, None)
        if edit is not None:
            self._composer.begin_edit(*edit)

    def _leave_edit(self) -> None:
        """Keep what was being changed until its chat is shown again."""
        message_id = self._composer.edited_message_id
        if message_id is not None and self._shown_id is not None:
            self._edits[self._shown_id] = (message_id, self._composer.field.toPlainText())
        self._composer.end_edit()

    def propose(self, text: str) -> None:
        """Put an example in the field, to be changed or sent."""
        self._composer.set_draft(text)
        self._service.set_draft(text)

    def choose_files(self) -> None:
        if self._composer.edited_message_id is not None:
            self._composer.refuse_documents()
            return
        names, _ = QFileDialog.getOpenFileNames(self._page, QCoreApplication.translate("ChatPage", "Add documents"))
        if names:
            self._service.add_files([Path(name) for name in names])

    def _add_files(self, paths: list[Path]) -> None:
        if self._composer.edited_message_id is not None:
            self._composer.refuse_documents()
        else:
            self._service.add_files(paths)

    def _on_documents_changed(self, pending: PendingDocuments) -> None:
        if pending.chat_id == self._service.current_chat_id:
            self._composer.set_documents(pending)

    def _on_draft_changed(self, chat_id: int, text: str) -> None:
        if chat_id == self._service.current_chat_id:
            self._composer.take_draft(text)

    def _on_sent(self, chat_id: int) -> None:
        if chat_id == self._service.current_chat_id:
            self._composer.refusal.hide()

    def _on_edited(self, message_id: int, text: str) -> None:
        self._edits = {chat_id: edit for chat_id, edit in self._edits.items() if edit != (message_id, text)}
        self._composer.end_edit_of(message_id, text)

    def _on_send_refused(self, refused: SendRefused) -> None:
        if refused.chat_id == self._service.current_chat_id:
            self._composer.show_refusal(refused)
