"""Asking: what a person can do to get an answer - send, send in another way after a refusal, edit, answer again - and
that one follows the other when a running answer has to stop first. GUI thread, owned by ChatService.
"""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chat.answers import AnswerRunner
from app.chat.budget import FitChoice, FitOption, SendRefused
from app.chat.budgeting import Budgeter
from app.chat.drafting import Drafting
from app.chat.effective import effective_settings
from app.chat.model_keeper import ModelKeeper
from app.chat.models import Notice, NoticeLevel, OpenChat, PendingState
from app.chat.question import Committed, Question, move_to_new_chat
from app.chat.sending import Sender
from app.chat.stage import Stage
from app.engine_host import EngineHost
from app.errors import record_error
from app.protocol.events import PromptCounted
from app.protocol.requests import PromptMessage
from app.sentences import translated
from app.settings_service import SettingsService
from app.store.store import Store

NOTICE_KEY = "send"


class Asking(QObject):
    """One for the service."""

    message_added = Signal(object)  # Message
    sent = Signal(int)  # chat id
    edited = Signal(int, str)  # id of the question that a changed one stands beside now, and the changed text
    refused = Signal(object)  # SendRefused
    chats_touched = Signal()  # the list of chats has another order or title
    notice = Signal(object)  # Notice
    failed = Signal(object, str)  # error, what was being done

    def __init__(
        self,
        store: Store,
        host: EngineHost,
        settings: SettingsService,
        stage: Stage,
        answers: AnswerRunner,
        drafting: Drafting,
        budgeter: Budgeter,
        models: ModelKeeper,
        sending: Sender,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._host, self._settings = store, host, settings
        self._stage, self._answers, self._drafting = stage, answers, drafting
        self._budgeter, self._models = budgeter, models
        self._refusals: dict[int, Question] = {}  # by chat id: what was refused last
        self._after: dict[int, Callable[[], None]] = {}  # by chat id: what follows when its answer has ended
        self._is_closed = False
        self.sending = sending
        sending.committed.connect(self._on_committed)
        sending.overtaken.connect(self._on_overtaken)
        sending.refused.connect(self._on_refused)
        sending.failed.connect(self._on_send_failed)

    # ---- asked by the service

    def send(self, chat_id: int, option: FitOption | None) -> None:
        """Send the draft as it is now; with an option, in that way, if not an edit or another answer was refused last:
        then that."""
        if self._answers.is_busy(chat_id):
            return
        refused = self._refusals.pop(chat_id, None) if option is not None else None
        question = self._question_from_draft(chat_id) if refused is None or refused.is_new else refused
        if question is not None:
            self._send(replace(question, option=option))

    def edit(self, chat_id: int, message_id: int, text: str, option: FitOption | None = None) -> None:
        """Ask a changed question beside the old one; with an option that was offered for it, in that way."""
        question = Question(chat_id, text, edits=message_id, option=option)
        self._when_free(chat_id, lambda: self._send(question))

    def answer_again(self, chat_id: int, message_id: int) -> None:
        """A new answer beside this one."""
        question = Question(chat_id, repeats=message_id)
        self._when_free(chat_id, lambda: self.sending.send(question))

    def stop(self, chat_id: int) -> None:
        """Whatever the chat waits for or does, it ends; nothing follows."""
        self._after.pop(chat_id, None)
        self.sending.cancel(chat_id)
        self._answers.stop(chat_id)

    def on_answer_ended(self, chat_id: int) -> None:
        follow = self._after.pop(chat_id, None)
        if follow is not None:
            follow()

    def close(self) -> None:
        """Start nothing any more."""
        self._is_closed = True
        self._after.clear()

    # ---- sending

    def _question_from_draft(self, chat_id: int) -> Question | None:
        text, pending = self._drafting.text(chat_id), self._drafting.pending(chat_id)
        unready = next((document for document in pending if document.state is not PendingState.READY), None)
        if unready is not None:
            still_reads = unready.state is PendingState.READING
            reading, failed = self.tr("{name} is still being read."), self.tr("Remove {name}: it could not be read.")
            sentence = (reading if still_reads else failed).format(name=unready.name)
            self.notice.emit(Notice(NoticeLevel.WARNING, sentence, NOTICE_KEY))
            return None
        if not text.strip() and not pending:
            return None
        return Question(chat_id, text, tuple(document.key for document in pending))

    def _send(self, question: Question) -> None:
        option = question.option
        if option is not None and option.choice is FitChoice.NEW_CHAT:
            self._send_in_new_chat(question)
            return
        if option is not None and option.choice is FitChoice.LARGER_CONTEXT:
            self._settings.change(lambda s: replace(s, model=replace(s.model, context=option.value)))
        if option is not None and option.choice is FitChoice.REMOVE_DOCUMENTS:
            for key in question.document_ids:
                self._drafting.remove(question.chat_id, key)
            question = replace(question, document_ids=())
        self.sending.send(question)

    def _send_in_new_chat(self, question: Question) -> None:
        """Move the question, its text and its documents, to a new chat and send it there."""

        def moved(opened: OpenChat) -> None:
            if question.is_new:
                self._drafting.sent(question.chat_id, question.text, frozenset(question.document_ids))
            elif question.edits is not None:
                self.edited.emit(question.edits, question.text)
            self._stage.show(opened)
            self.chats_touched.emit()
            self.send(opened.chat.id, None)

        self._store.submit(lambda db: move_to_new_chat(db, question), moved, self._failing("making a chat"))

    def _on_committed(
        self,
        question: Question,
        committed: Committed,
        prompt: tuple[PromptMessage, ...],
        counted: PromptCounted | None,
        answer_tokens: int,
    ) -> None:
        self._on_stored(question)
        if not self._is_closed:
            self._budgeter.answer_begun(question.chat_id, counted, answer_tokens)
            self._show(committed)
            self._start(committed, prompt, answer_tokens)

    def _on_overtaken(self, question: Question, committed: Committed) -> None:
        """The person stopped it too late to take it back: it stands there, with an answer that was stopped."""
        self._on_stored(question)
        self._show(committed)
        self._answers.end_unasked(committed.answer)

    def _on_stored(self, question: Question) -> None:
        self._refusals.pop(question.chat_id, None)
        self.notice.emit(Notice(NoticeLevel.INFO, "", NOTICE_KEY))
        if question.is_new:
            self._drafting.sent(question.chat_id, question.text, frozenset(question.document_ids))
            self.sent.emit(question.chat_id)
        elif question.edits is not None:
            self.edited.emit(question.edits, question.text)

    def _on_refused(self, refused: SendRefused, question: Question) -> None:
        self._refusals[question.chat_id] = question
        self.refused.emit(refused)

    def _on_send_failed(self, error: BaseException, doing: str, question: Question) -> None:
        text = record_error(error, doing)
        not_sent = self.tr("{reason} The question was not sent; it is still here.")
        not_repeated = self.tr("{reason} No new answer was begun.")
        sentence = (not_sent if question.repeats is None else not_repeated).format(reason=translated(text.message))
        self.notice.emit(Notice(NoticeLevel.ERROR, sentence, NOTICE_KEY, is_bug=text.is_bug))

    # ---- answering

    def _when_free(self, chat_id: int, action: Callable[[], None]) -> None:
        """Do it now, or when the chat's running answer has stopped."""
        self.sending.cancel(chat_id)
        if self._answers.is_busy(chat_id):
            self._after[chat_id] = action
            self._answers.stop(chat_id)
        else:
            action()

    def _show(self, committed: Committed) -> None:
        if committed.opened is None:
            self._stage.append(committed.question, committed.answer)
            self.message_added.emit(committed.question)
            self.message_added.emit(committed.answer)
        else:
            self._stage.show_branch(committed.opened)
        self._stage.update_chat(committed.chat)
        self.chats_touched.emit()

    def _start(self, committed: Committed, prompt: tuple[PromptMessage, ...], answer_tokens: int) -> None:
        settings = effective_settings(committed.chat, self._settings.settings)
        self._answers.start(
            committed.answer,
            prompt,
            replace(settings, max_tokens=answer_tokens),
            context=self._budgeter.context,
            mode=self._settings.settings.model.mode.value,
            is_loading=self._models.is_loading and not self._host.has_model,
        )

    def _failing(self, doing: str) -> Callable[[BaseException], None]:
        return lambda error: self.failed.emit(error, doing)
