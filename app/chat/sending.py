"""Sender: a question on its way from the composer to the engine: counted, checked, committed, then asked.

GUI thread, owned by ChatService. The order is the promise: what does not fit is said before anything is stored, and a
question is in the store before the engine hears of it. A changed question and another answer go the same way. Each
stage answers by signal; `cancel` stops between stages. While a question is on its way its chat shows no other branch
(Stage refuses), and what a search changes all the same is noticed before the question is stored.
"""

import itertools
from collections.abc import Callable

from PySide6.QtCore import QLocale, QObject, Signal

from app.chat.budget import ContextBudget, FitChoice, SendRefused
from app.chat.fitting import PromptCounts, fit_options, turn_counts
from app.chat.models import Role
from app.chat.question import Committed, Prepared, Question, commit, prepare
from app.documents.prompt import document_block
from app.engine_host import EngineHost
from app.protocol.events import Event, PromptCounted, TokensCounted
from app.settings_service import SettingsService
from app.store.store import Store


class Sender(QObject):
    """One for the service."""

    committed = Signal(object, object, object, object, int)  # Question, Committed, prompt, its count, answer tokens
    overtaken = Signal(object, object)  # Question, Committed: cancelled while it was stored, so it is not to be asked
    refused = Signal(object, object)  # SendRefused, Question
    failed = Signal(object, str, object)  # error, what was being done, Question

    def __init__(
        self, store: Store, host: EngineHost, settings: SettingsService, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store, self._host, self._settings = store, host, settings
        self._tickets = itertools.count(1)
        self._current: dict[int, int] = {}  # by chat id: the ticket of the question on its way
        self._counting: dict[int, Callable[[Event], None]] = {}  # by job id
        self.context_length: int | None = None  # of the model
        self.model_name = ""

    def is_sending(self, chat_id: int) -> bool:
        return chat_id in self._current

    def cancel(self, chat_id: int) -> None:
        """Forget the question on its way; it is still in the composer, unless it is being stored right now."""
        self._current.pop(chat_id, None)

    def send(self, question: Question) -> None:
        """Start a question on its way, unless the chat has one there."""
        if self.is_sending(question.chat_id):
            return
        ticket = self._current[question.chat_id] = next(self._tickets)
        self._prepare(ticket, question)

    def on_event(self, event: Event) -> None:
        """Counts that were asked for here."""
        answer = self._counting.pop(event.job_id, None)
        if answer is not None:
            answer(event)

    # ---- stages

    def _prepare(self, ticket: int, question: Question) -> None:
        settings = self._settings.settings
        self._store.submit(
            lambda db: prepare(db, question, settings),
            lambda prepared: self._on_prepared(ticket, question, prepared),
            self._failing(question, ticket),
        )

    def _on_prepared(self, ticket: int, question: Question, prepared: Prepared) -> None:
        if self._current.get(question.chat_id) != ticket:
            return
        if not self._host.has_model:  # nothing can count; the engine checks when the model is there
            self._commit(ticket, question, prepared, None)
            return
        job_id = self._host.count_prompt(question.chat_id, prepared.prompt, thinking=prepared.settings.thinking)
        self._counting[job_id] = lambda event: self._on_counted(ticket, question, prepared, event)

    def _on_counted(self, ticket: int, question: Question, prepared: Prepared, event: Event) -> None:
        if self._current.get(question.chat_id) != ticket or not isinstance(event, PromptCounted):
            return
        reserved = self._answer_tokens(question, prepared)
        if event.tokens is None or event.tokens + reserved <= self._context():
            self._commit(ticket, question, prepared, event)
            return
        texts = tuple(message.content for message in prepared.history)
        blocks = "".join(document_block(name, text) for name, text in prepared.asked.documents)
        prompt_tokens = event.tokens
        job_id = self._host.count_tokens((*texts, blocks, prepared.asked.text))
        self._counting[job_id] = lambda event: self._refuse(ticket, question, prepared, prompt_tokens, event)

    def _refuse(self, ticket: int, question: Question, prepared: Prepared, prompt_tokens: int, event: Event) -> None:
        if self._current.get(question.chat_id) != ticket or not isinstance(event, TokensCounted):
            return
        self._current.pop(question.chat_id)
        counts = event.counts or (0,) * (len(prepared.history) + 2)
        *of_history, of_documents, of_text = counts
        reserved, context = self._answer_tokens(question, prepared), self._context()
        whole = PromptCounts(
            prompt=prompt_tokens,
            reserved=reserved,
            context=context,
            model_context=self.context_length or context,
            turns=turn_counts([message.role is Role.USER for message in prepared.history], of_history),
            documents=of_documents if can_drop_documents(question) else 0,
        )
        budget = ContextBudget(
            question.chat_id,
            context,
            history=prompt_tokens - of_documents - of_text,
            documents=of_documents,
            draft=of_text,
            reserved=reserved,
            is_exact=True,
        )
        sentence = self._refusal_words(question, prompt_tokens, reserved, context)
        options, chat_id = fit_options(whole), question.chat_id
        refused = SendRefused(chat_id, budget, sentence, options, is_of_draft=question.is_new, edits=question.edits)
        self.refused.emit(refused, question)

    def _refusal_words(self, question: Question, prompt: int, reserved: int, context: int) -> str:
        not_sent = self.tr(
            "This question was not sent: with its chat and documents it has {prompt} tokens, and {reserved} are kept "
            "for the answer, but the context holds {context}."
        )
        not_repeated = self.tr(
            "No new answer was begun: with its chat and documents the question has {prompt} tokens, and {reserved} "
            "are kept for the answer, but the context holds {context}."
        )
        number = QLocale().toString
        return (not_sent if question.repeats is None else not_repeated).format(
            prompt=number(prompt), reserved=number(reserved), context=number(context)
        )

    def _commit(self, ticket: int, question: Question, prepared: Prepared, counted: PromptCounted | None) -> None:
        model = self.model_name
        answer_tokens = self._answer_tokens(question, prepared)

        def done(committed: Committed | None) -> None:
            is_wanted = self._current.get(question.chat_id) == ticket
            if committed is None:
                if is_wanted:  # a search hit was opened meanwhile: ask below what is shown now
                    self._prepare(ticket, question)
            elif is_wanted:
                self._current.pop(question.chat_id)
                self.committed.emit(question, committed, prepared.prompt, counted, answer_tokens)
            else:
                self.overtaken.emit(question, committed)

        self._store.submit(lambda db: commit(db, question, prepared, model), done, self._failing(question, ticket))

    # ---- inside

    def _context(self) -> int:
        wanted = self._settings.settings.model.context
        return wanted if self.context_length is None else min(wanted, self.context_length)

    def _answer_tokens(self, question: Question, prepared: Prepared) -> int:
        if question.option is not None and question.option.choice is FitChoice.SHORTER_ANSWER:
            return max(1, question.option.value)
        return min(prepared.settings.max_tokens, self._context())

    def _failing(self, question: Question, ticket: int) -> Callable[[BaseException], None]:
        def failed(error: BaseException) -> None:
            if self._current.get(question.chat_id) == ticket:
                self._current.pop(question.chat_id)
            self.failed.emit(error, "sending a question", question)

        return failed


def can_drop_documents(question: Question) -> bool:
    """Whether something is asked without the documents. A question that is stored stays as it is; a person who wants
    it without its documents edits it."""
    return question.repeats is None and bool(question.text.strip())
