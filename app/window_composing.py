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
        service.budget_changed.connect(composer.set_budget)
        service.documents_changed.connect(self._on_documents_changed)
        service.draft_changed.connect(self._on_draft_changed)
        service.sent.connect(self._on_sent)
        service.edited.connect(composer.end_edit_of)
        service.send_refused.connect(self._on_send_refused)
        composer.send_requested.connect(service.send)
        composer.stop_requested.connect(service.stop)
        composer.draft_changed.connect(service.set_draft)
        composer.edit_submitted.connect(service.edit_message)
        composer.files_chosen.connect(service.add_files)
        composer.attach_requested.connect(self.choose_files)
        composer.document_removed.connect(service.remove_document)
        composer.document_inserted.connect(service.insert_document_as_text)
        composer.document_previewed.connect(service.request_document_text)

    def show_chat(self, opened: OpenChat) -> None:
        """Another chat: its draft, its waiting documents, and what can be done now."""
        self._composer.set_draft(opened.chat.draft)
        documents = tuple(PendingDocument(d.id, d.name, PendingState.READY, d) for d in opened.pending_documents)
        self._composer.set_documents(PendingDocuments(opened.chat.id, documents))
        self._composer.refusal.hide()
        self._composer.set_state(self._service.status(opened.chat.id).state)

    def propose(self, text: str) -> None:
        """Put an example in the field, to be changed or sent."""
        self._composer.set_draft(text)
        self._service.set_draft(text)

    def choose_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self._page, QCoreApplication.translate("ChatPage", "Add documents"))
        if names:
            self._service.add_files([Path(name) for name in names])

    def _on_documents_changed(self, pending: PendingDocuments) -> None:
        if pending.chat_id == self._service.current_chat_id:
            self._composer.set_documents(pending)

    def _on_draft_changed(self, chat_id: int, text: str) -> None:
        if chat_id == self._service.current_chat_id:
            self._composer.take_draft(text)

    def _on_sent(self, chat_id: int) -> None:
        if chat_id == self._service.current_chat_id:
            self._composer.refusal.hide()

    def _on_send_refused(self, refused: SendRefused) -> None:
        if refused.chat_id == self._service.current_chat_id:
            self._composer.show_refusal(refused)
