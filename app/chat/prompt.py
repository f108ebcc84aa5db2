"""From stored messages to the prompt the model shall see. `load_history` runs on the store's thread, the rest is pure.

What is left out is only what the person chose to leave out (`history_from_id`) and answers without any text.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from app.chat.models import Role
from app.documents.prompt import question_with_documents
from app.protocol.requests import PromptMessage, PromptRole
from app.store import documents, messages


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """A stored message with the texts of its documents."""

    id: int
    role: Role
    text: str
    documents: tuple[tuple[str, str], ...] = ()  # (name, text)

    @property
    def content(self) -> str:
        """What the model sees of it."""
        return question_with_documents(self.text, self.documents)


def load_history(
    db: sqlite3.Connection, last_id: int | None, history_from_id: int | None
) -> tuple[HistoryMessage, ...]:
    """The messages from `history_from_id` (None, or not on this path: the first) to `last_id` (None: no messages)."""
    if last_id is None:
        return ()
    path = messages.path_to(db, last_id)
    start = next((place for place, row in enumerate(path) if row["id"] == history_from_id), 0)
    return tuple(
        HistoryMessage(
            row["id"],
            Role(row["role"]),
            row["text"],
            documents.texts_of_message(db, row["id"]) if row["role"] == Role.USER.value else (),
        )
        for row in path[start:]
    )


def build_prompt(system_prompt: str, history: Sequence[HistoryMessage]) -> tuple[PromptMessage, ...]:
    """System prompt and turns in the only order the model knows: user, assistant, user, ... , user.

    Answers without text are skipped (the questions around them become one turn in the engine); answers in a row, which
    only an import can bring, become one; an answer that comes first is put behind an empty question.
    """
    turns: list[PromptMessage] = []
    for message in history:
        role = PromptRole(message.role.value)
        content = message.content
        if role is PromptRole.ASSISTANT and not content:
            continue
        if role is PromptRole.ASSISTANT and not turns:
            turns.append(PromptMessage(PromptRole.USER, ""))
        if role is PromptRole.ASSISTANT and turns[-1].role is role:
            turns[-1] = PromptMessage(role, f"{turns[-1].content}\n\n{content}")
        else:
            turns.append(PromptMessage(role, content))
    system = (PromptMessage(PromptRole.SYSTEM, system_prompt),) if system_prompt.strip() else ()
    return (*system, *turns)
