"""The parts of the chat service, put together: each is made here, hears what the others tell, and is closed in order.

Owned by ChatService; GUI thread. What views hear goes out through the service's signals (app/chat/news.py).
"""

from PySide6.QtCore import QObject

from app.chat.answers import AnswerRunner
from app.chat.asking import Asking
from app.chat.budgeting import Budgeter
from app.chat.drafting import Drafting
from app.chat.library import ChatLibrary
from app.chat.model_keeper import ModelKeeper
from app.chat.models import ChatStatus, Message, ModelState, ModelStatus, Notice, NoticeLevel, PendingDocuments
from app.chat.news import ChatNews
from app.chat.sending import Sender
from app.chat.stage import Stage
from app.engine_host import EngineHost
from app.errors import record_error
from app.protocol.events import Event
from app.settings import Settings
from app.settings_service import SettingsService
from app.store.store import Store


class ChatParts(QObject):
    """One of each part. Data goes from the parts to `news` and never back."""

    def __init__(self, store: Store, host: EngineHost, settings: SettingsService, news: ChatNews) -> None:
        super().__init__(news)
        self._host, self._news = host, news
        self.answers = AnswerRunner(store, host, self)
        self.library = ChatLibrary(store, self.answers.busy_states, self)
        self.drafting = Drafting(store, host, self)
        self.budgeter = Budgeter(store, host, settings, self)
        self.models = ModelKeeper(host, settings, self)
        self.sending = Sender(store, host, settings, self)
        self.stage = Stage(store, self.answers, self.drafting, self.budgeter, self.sending, self)
        self.asking = Asking(
            store,
            host,
            settings,
            self.stage,
            self.answers,
            self.drafting,
            self.budgeter,
            self.models,
            self.sending,
            self,
        )
        host.event_arrived.connect(self._on_engine_event)
        settings.changed.connect(self._on_settings_changed)
        self._connect_parts()
        self._relay(news)

    def _connect_parts(self) -> None:
        """Where one part's news is another part's business."""
        self.answers.status_changed.connect(self._on_status_changed)
        self.answers.message_changed.connect(self._on_message_changed)
        self.answers.ended.connect(self._on_answer_ended)
        self.library.chat_changed.connect(self.stage.update_chat)
        self.drafting.documents_changed.connect(self._on_documents_changed)
        self.drafting.draft_changed.connect(self._on_draft_changed)
        self.asking.chats_touched.connect(self.library.refresh)
        self.stage.chat_opened.connect(self.library.refresh)
        self.models.changed.connect(self._on_model_changed)
        for part in (self.library, self.drafting, self.stage, self.asking):
            part.failed.connect(self.report)

    def _relay(self, news: ChatNews) -> None:
        """What views hear just as a part says it."""
        self.answers.text_arrived.connect(news.text_arrived)
        self.library.list_changed.connect(news.chats_changed)
        self.library.search_finished.connect(news.search_finished)
        self.library.undo_offered.connect(news.undo_offered)
        self.library.exported.connect(news.exported)
        self.library.imported.connect(news.imported)
        self.stage.chat_opened.connect(news.chat_opened)
        self.stage.branch_changed.connect(news.branch_changed)
        self.stage.chat_changed.connect(news.chat_changed)
        self.stage.documents_changed.connect(news.documents_changed)
        self.asking.message_added.connect(news.message_added)
        self.asking.sent.connect(news.sent)
        self.asking.edited.connect(news.edited)
        self.asking.refused.connect(news.send_refused)
        self.budgeter.changed.connect(news.budget_changed)
        for part in (self.answers, self.asking, self.models):
            part.notice.connect(news.notice)

    def close(self) -> None:
        """Stop every answer and keep its text. Blocks while that takes (a layer, a write)."""
        self.asking.close()
        self.drafting.close()
        self.answers.begin_close()
        self._host.shutdown()
        self.answers.close()
        self.library.close()

    def report(self, error: BaseException, doing: str) -> None:
        """Tell the person what could not be done."""
        text = record_error(error, doing)
        self._news.notice.emit(Notice(NoticeLevel.ERROR, text.message, key=doing, is_bug=text.is_bug))

    # ---- what the parts tell

    def _on_engine_event(self, event: Event) -> None:
        for part in (self.models, self.answers, self.drafting, self.sending, self.budgeter):
            part.on_event(event)

    def _on_status_changed(self, status: ChatStatus) -> None:
        self._news.status_changed.emit(status)
        self.library.tell()

    def _on_message_changed(self, message: Message) -> None:
        self._news.message_changed.emit(self.stage.settle(message))

    def _on_answer_ended(self, chat_id: int) -> None:
        self.library.refresh()
        if chat_id == self.stage.chat_id:
            self.budgeter.set_messages(self.stage.messages)
        self.asking.on_answer_ended(chat_id)

    def _on_documents_changed(self, pending: PendingDocuments) -> None:
        if pending.chat_id == self.stage.chat_id:
            self.budgeter.set_pending(pending.documents)
            self._news.documents_changed.emit(pending)

    def _on_draft_changed(self, chat_id: int, text: str) -> None:
        if chat_id == self.stage.chat_id:
            self.budgeter.set_draft(text)
            self._news.draft_changed.emit(chat_id, text)

    def _on_model_changed(self, status: ModelStatus) -> None:
        self.sending.model_name = self.models.name
        self.sending.context_length = self.budgeter.context_length = self.models.context_length
        if status.state is ModelState.READY:
            self.budgeter.recount()
        self._news.model_changed.emit(status)

    def _on_settings_changed(self, settings: Settings, before: Settings) -> None:
        if (settings.answers, settings.presets, settings.model) != (before.answers, before.presets, before.model):
            self.budgeter.refresh_history()
