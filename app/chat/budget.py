"""The records of the room in the context: what a prompt spends, and what a person can do about one that does not fit.

app/chat/budgeting.py counts the draft as it is written, app/chat/sending.py the whole prompt before it is sent; both
hand these to views. Frozen, so they cross threads.
"""

from dataclasses import dataclass
from enum import Enum


class FitChoice(Enum):
    """What a person can do about a prompt that does not fit."""

    SHORTER_ANSWER = "shorter_answer"  # reserve only what is left
    LEAVE_OUT_OLDEST = "leave_out_oldest"  # stop sending the oldest turns of this chat
    LARGER_CONTEXT = "larger_context"  # raise the context size, up to the model's own
    REMOVE_DOCUMENTS = "remove_documents"
    NEW_CHAT = "new_chat"  # move the question to a new chat


@dataclass(frozen=True, slots=True)
class FitOption:
    """A choice that would make it fit, and its number: answer tokens, turns left out, or the new context size."""

    choice: FitChoice
    value: int = 0


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """How the context is spent, in tokens. None counts are not known yet (shown as a dash).

    `history` counts the chat so far (system prompt included, documents of earlier questions apart), `documents` all
    documents that would be sent, `draft` the text in the composer, `reserved` the tokens kept for the answer.
    `cached` of them are still held by the session and need not be read again; it overlaps the others.
    """

    chat_id: int
    context: int
    history: int | None
    documents: int | None
    draft: int | None
    reserved: int
    cached: int = 0
    is_exact: bool = False  # counted as one prompt, not as a sum of parts

    @property
    def used(self) -> int | None:
        """Prompt tokens, None while a part is unknown."""
        if self.history is None or self.documents is None or self.draft is None:
            return None
        return self.history + self.documents + self.draft

    @property
    def over_by(self) -> int:
        """Tokens too many, 0 if it fits or is not known."""
        return 0 if self.used is None else max(0, self.used + self.reserved - self.context)

    @property
    def fits(self) -> bool:
        return self.over_by == 0


@dataclass(frozen=True, slots=True)
class SendRefused:
    """A question that was not sent because it does not fit. `is_of_draft`: it is still in the composer; otherwise it is
    an edit (of the message `edits`) or a wish for another answer, and the composer's own budget says nothing of it."""

    chat_id: int
    budget: ContextBudget
    message: str
    options: tuple[FitOption, ...]
    is_of_draft: bool = True
    edits: int | None = None
