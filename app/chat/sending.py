"""Sender: a question on its way from the composer to the engine: counted, checked, committed, then asked.

GUI thread, owned by ChatService. The order is the promise: what does not fit is said before anything is stored, and a
question is in the store before the engine hears of it. Each stage answers by signal; `cancel` stops between stages.
"""

import itertools
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QLocale, QObject, Signal

from app.chat.effective import AnswerSettings, effective_settings
from app.chat.fitting import PromptCounts, fit_options, turn_counts
from app.chat.models import Chat, ContextBudget, FitChoice, FitOption, Message, OpenChat, Role, SendRefused
from app.chat.prompt import HistoryMessage, build_prompt, load_history
from app.chat.titles import title_from_question
from app.documents.prompt import document_block
from app.engine_host import EngineHost
from app.protocol import Event, PromptCounted, PromptMessage, TokensCounted
from app.settings import Settings
from app.settings_service import SettingsService
from app.store import chats, documents, messages
from app.store.store import Store


@dataclass(frozen=True, slots=True)
class Question:
    """What a person sends. `edits` is the question that this one stands beside; `document_ids` are the composer's."""

    chat_id: int
    text: str
    document_ids: tuple[int, ...] = ()
    edits: int | None = None
    option: FitOption | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with everything that goes with it, read in one transaction."""

    chat: Chat
    history: tuple[HistoryMessage, ...]
    asked: HistoryMessage
    parent_id: int | None
    history_from_id: int | None
    settings: AnswerSettings
    prompt: tuple[PromptMessage, ...]


@dataclass(frozen=True, slots=True)
class Committed:
    """What the store now has. `opened` is None if the messages simply stand at the end of the branch."""

    question: Message
    answer: Message
    chat: Chat
    opened: OpenChat | None


class Sender(QObject):
    """One for the service."""

    committed = Signal(object, object, object, int)  # Question, Committed, prompt, answer tokens
    refused = Signal(object, object)  # SendRefused, Question
    failed = Signal(object, str, int)  # error, what was being done, chat id

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
        """Forget the question on its way; it is still in the composer."""
        self._current.pop(chat_id, None)

    def send(self, question: Question) -> None:
        """Start a question on its way, unless the chat has one there."""
        if self.is_sending(question.chat_id):
            return
        ticket = self._current[question.chat_id] = next(self._tickets)
        settings = self._settings.settings
        self._store.submit(
            lambda db: prepare(db, question, settings),
            lambda prepared: self._on_prepared(ticket, question, prepared),
            self._failing(question, ticket),
        )

    def on_event(self, event: Event) -> None:
        """Counts that were asked for here."""
        answer = self._counting.pop(event.job_id, None)
        if answer is not None:
            answer(event)

    # ---- stages

    def _on_prepared(self, ticket: int, question: Question, prepared: Prepared) -> None:
        if self._current.get(question.chat_id) != ticket:
            return
        if not self._host.has_model:  # nothing can count; the engine checks when the model is there
            self._commit(ticket, question, prepared)
            return
        job_id = self._host.count_prompt(question.chat_id, prepared.prompt, thinking=prepared.settings.thinking)
        self._counting[job_id] = lambda event: self._on_counted(ticket, question, prepared, event)

    def _on_counted(self, ticket: int, question: Question, prepared: Prepared, event: Event) -> None:
        if self._current.get(question.chat_id) != ticket or not isinstance(event, PromptCounted):
            return
        reserved = self._answer_tokens(question, prepared)
        if event.tokens is None or event.tokens + reserved <= self._context():
            self._commit(ticket, question, prepared)
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
            documents=of_documents if question.edits is None else 0,
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
        number = QLocale().toString
        sentence = self.tr(
            "This question was not sent: with its chat and documents it has {prompt} tokens, and {reserved} are kept "
            "for the answer, but the context holds {context}."
        ).format(prompt=number(prompt_tokens), reserved=number(reserved), context=number(context))
        self.refused.emit(SendRefused(question.chat_id, budget, sentence, fit_options(whole)), question)

    def _commit(self, ticket: int, question: Question, prepared: Prepared) -> None:
        model = self.model_name
        answer_tokens = self._answer_tokens(question, prepared)

        def done(committed: Committed) -> None:
            self._current.pop(question.chat_id, None)
            self.committed.emit(question, committed, prepared.prompt, answer_tokens)

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
            self.failed.emit(error, "sending a question", question.chat_id)

        return failed


def prepare(db: sqlite3.Connection, question: Question, settings: Settings) -> Prepared:
    """Read what the question would be asked with, and make the prompt of it. Store's thread, one transaction."""
    chat = chats.load_chat(db, question.chat_id)
    if question.edits is None:
        parent_id = messages.last_of_branch(db, question.chat_id)
        attached = tuple(
            (documents.document_name(db, document_id), documents.document_text(db, document_id))
            for document_id in question.document_ids
        )
    else:
        parent_id = messages.load_message(db, question.edits).parent_id
        attached = documents.texts_of_message(db, question.edits)
    history = load_history(db, parent_id, chat.history_from_id)
    start = chat.history_from_id
    if question.option is not None and question.option.choice is FitChoice.LEAVE_OUT_OLDEST:
        history = leave_out(history, question.option.value)
        start = history[0].id if history else -1  # no message has this id: see commit
    asked = HistoryMessage(0, Role.USER, question.text, attached)
    effective = effective_settings(chat, settings)
    prompt = build_prompt(effective.system_prompt, (*history, asked))
    return Prepared(chat, history, asked, parent_id, start, effective, prompt)


def leave_out(history: tuple[HistoryMessage, ...], turns: int) -> tuple[HistoryMessage, ...]:
    """The history without its oldest turns; a turn begins at each question."""
    begun = 0
    for place, message in enumerate(history):
        if message.role is Role.USER or place == 0:
            begun += 1
        if begun > turns:
            return history[place:]
    return ()


def commit(db: sqlite3.Connection, question: Question, prepared: Prepared, model: str) -> Committed:
    """Store the question and its empty answer. Store's thread, one transaction."""
    chat_id = question.chat_id
    question_id = messages.add_message(db, chat_id, prepared.parent_id, Role.USER, question.text)
    if question.edits is None:
        documents.attach_pending(db, question_id, question.document_ids)
        chats.set_draft(db, chat_id, "")
    else:
        documents.copy_documents(db, question.edits, question_id)
    if prepared.history_from_id != prepared.chat.history_from_id:
        chats.set_history_from(db, chat_id, question_id if prepared.history_from_id == -1 else prepared.history_from_id)
    if not prepared.chat.title:
        names = [name for name, _ in prepared.asked.documents]
        chats.set_title(db, chat_id, title_from_question(question.text, names), manual=False)
    answer = messages.start_answer(db, chat_id, question_id, model)
    opened = None if question.edits is None else messages.open_chat(db, chat_id)
    return Committed(messages.load_message(db, question_id), answer, chats.load_chat(db, chat_id), opened)


def restart(
    db: sqlite3.Connection, message_id: int, model: str, settings: Settings
) -> tuple[Committed, tuple[PromptMessage, ...]]:
    """A new, empty answer beside the one named (or below the question named), and the prompt for it. Store's thread."""
    message = messages.load_message(db, message_id)
    question_id = message.id if message.role is Role.USER else message.parent_id
    if question_id is None:
        raise chats.MissingRowError("This answer has no question to answer again.")
    question = messages.load_message(db, question_id)
    messages.show_message(db, question_id)
    chat = chats.load_chat(db, message.chat_id)
    answer = messages.start_answer(db, message.chat_id, question_id, model)
    history = load_history(db, question_id, chat.history_from_id)
    prompt = build_prompt(effective_settings(chat, settings).system_prompt, history)
    return Committed(question, answer, chat, messages.open_chat(db, message.chat_id)), prompt
