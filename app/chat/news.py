"""ChatNews: everything that views can hear about chats, in one list. Base of ChatService. GUI thread."""

from PySide6.QtCore import QObject, Signal


class ChatNews(QObject):
    """All signals carry the frozen record of app/chat/models.py or budget.py named beside them."""

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
    draft_changed = Signal(int, str)  # chat id, text: the service changed the composer ("insert as text", sent)
    sent = Signal(int)  # chat id: the draft is committed as a question; draft_changed says what is left of it
    edited = Signal(int, str)  # message id, changed text: this stands beside it now; its editing may end
    send_refused = Signal(object)  # SendRefused: it does not fit; offer its options
    model_changed = Signal(object)  # ModelStatus
    notice = Signal(object)  # Notice
    undo_offered = Signal(object)  # UndoOffer
    search_finished = Signal(object)  # SearchResults
    document_text_ready = Signal(int, str)  # document key, whole text (asked with request_document_text)
    exported = Signal(object)  # Path written
    imported = Signal(object)  # tuple[int, ...]: ids of the new chats
