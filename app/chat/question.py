"""A question and its answer as rows: what a question would be asked with, and both stored together. Functions on a
connection; each is called by the store within one transaction on its thread. Sender (app/chat/sending.py) decides
between the two.
"""

import sqlite3
from dataclasses import dataclass

from app.chat.budget import FitChoice, FitOption
from app.chat.effective import AnswerSettings, effective_settings
from app.chat.models import Chat, Message, OpenChat, Role
from app.chat.prompt import HistoryMessage, build_prompt, load_history
from app.chat.titles import title_from_question
from app.protocol.requests import PromptMessage
from app.settings import Settings
from app.store import chats, documents, messages

_NO_MESSAGE = -1  # the history starts with the question that is being stored


@dataclass(frozen=True, slots=True)
class Question:
    """What a person wants answered, in one of three ways: a new question (`text` with the composer's `document_ids`);
    a changed one beside the stored question `edits`, whose documents it keeps; or the stored question `repeats` as it
    is, for another answer."""

    chat_id: int
    text: str = ""
    document_ids: tuple[int, ...] = ()
    edits: int | None = None
    repeats: int | None = None  # the question, or an answer to it
    option: FitOption | None = None

    @property
    def is_new(self) -> bool:
        return self.edits is None and self.repeats is None

    @property
    def stored_id(self) -> int | None:
        """The message that this is about, None for a new question."""
        return self.repeats if self.edits is None else self.edits

    def chose(self, choice: FitChoice) -> bool:
        return self.option is not None and self.option.choice is choice


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with everything that goes with it, read in one transaction. `asked.id` is 0 unless it is stored."""

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


def prepare(db: sqlite3.Connection, question: Question, settings: Settings) -> Prepared:
    """Read what the question would be asked with, and make the prompt of it. Raises MissingRowError."""
    chat = chats.load_chat(db, question.chat_id)
    parent_id, asked = _parent(db, question), _asked(db, question)
    history = load_history(db, parent_id, chat.history_from_id)
    start = chat.history_from_id
    if question.option is not None and question.chose(FitChoice.LEAVE_OUT_OLDEST):
        history = leave_out(history, question.option.value)
        start = history[0].id if history else _NO_MESSAGE
    effective = effective_settings(chat, settings)
    prompt = build_prompt(effective.system_prompt, (*history, asked))
    return Prepared(chat, history, asked, parent_id, start, effective, prompt)


def _parent(db: sqlite3.Connection, question: Question) -> int | None:
    """The message that the question stands below, as the chat is now. Raises MissingRowError."""
    if question.stored_id is None:
        return messages.last_of_branch(db, question.chat_id)
    return messages.load_message(db, stored_question(db, question.stored_id)).parent_id


def _asked(db: sqlite3.Connection, question: Question) -> HistoryMessage:
    """The question with the texts of its documents. Raises MissingRowError."""
    if question.repeats is not None:
        stored = messages.load_message(db, stored_question(db, question.repeats))
        return HistoryMessage(stored.id, Role.USER, stored.text, documents.texts_of_message(db, stored.id))
    if question.edits is not None:
        keeps = not question.chose(FitChoice.REMOVE_DOCUMENTS)
        attached = documents.texts_of_message(db, question.edits) if keeps else ()
    else:
        attached = tuple(
            (documents.document_name(db, document_id), documents.document_text(db, document_id))
            for document_id in question.document_ids
        )
    return HistoryMessage(0, Role.USER, question.text, attached)


def stored_question(db: sqlite3.Connection, message_id: int) -> int:
    """The message itself if it is a question, else the question it answers. Raises MissingRowError."""
    message = messages.load_message(db, message_id)
    if message.role is Role.USER:
        return message.id
    if message.parent_id is None:
        raise chats.MissingRowError("This answer has no question to answer again.")
    return message.parent_id


def leave_out(history: tuple[HistoryMessage, ...], turns: int) -> tuple[HistoryMessage, ...]:
    """The history without its oldest turns; a turn begins at each question."""
    begun = 0
    for place, message in enumerate(history):
        if message.role is Role.USER or place == 0:
            begun += 1
        if begun > turns:
            return history[place:]
    return ()


def commit(db: sqlite3.Connection, question: Question, prepared: Prepared, model: str) -> Committed | None:
    """Store the question, unless it is stored already, and its empty answer. None, and nothing is stored, if the chat
    shows another branch than when the question was prepared. Raises MissingRowError."""
    chat_id = question.chat_id
    if _parent(db, question) != prepared.parent_id:
        return None
    if question.repeats is None:
        question_id = _store(db, question, prepared)
    else:
        question_id = prepared.asked.id
        messages.show_message(db, question_id)
    if prepared.history_from_id != prepared.chat.history_from_id:
        start = question_id if prepared.history_from_id == _NO_MESSAGE else prepared.history_from_id
        chats.set_history_from(db, chat_id, start)
    answer = messages.start_answer(db, chat_id, question_id, model)
    opened = None if question.is_new else messages.open_chat(db, chat_id)
    return Committed(messages.load_message(db, question_id), answer, chats.load_chat(db, chat_id), opened)


def _store(db: sqlite3.Connection, question: Question, prepared: Prepared) -> int:
    """The question with its documents as a row, and the chat's first title; the row's id."""
    chat_id = question.chat_id
    question_id = messages.add_message(db, chat_id, prepared.parent_id, Role.USER, question.text)
    if question.edits is None:
        documents.attach_pending(db, question_id, question.document_ids)
        chats.set_draft(db, chat_id, "")
    elif not question.chose(FitChoice.REMOVE_DOCUMENTS):
        documents.copy_documents(db, question.edits, question_id)
    if not prepared.chat.title:
        names = [name for name, _ in prepared.asked.documents]
        chats.set_title(db, chat_id, title_from_question(question.text, names), manual=False)
    return question_id


def move_to_new_chat(db: sqlite3.Connection, question: Question) -> OpenChat:
    """A new chat with the settings of the question's, and the question in its composer. Raises MissingRowError."""
    old = chats.load_chat(db, question.chat_id)
    new_id = chats.create_chat(db)
    chats.set_settings(db, new_id, old.settings)
    chats.set_system_prompt(db, new_id, old.system_prompt)
    text = question.text
    if question.is_new:
        documents.move_pending(db, question.document_ids, new_id)
        chats.set_draft(db, question.chat_id, "")
    elif question.stored_id is not None:
        source = messages.load_message(db, stored_question(db, question.stored_id))
        documents.copy_to_composer(db, source.id, new_id)
        text = text if question.repeats is None else source.text
    chats.set_draft(db, new_id, text)
    return messages.open_chat(db, new_id)
