"""Turns a conversation of roles and texts into the token ids a DS4 model was trained on (ds4-architecture 8.2).

The only place that puts control tokens into a prompt; texts are encoded apart from them, so what a person writes
stays text. Pure functions, any thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from engine.errors import ModelFileError, UserError
from engine.tokenizer import ASSISTANT, THINK_END, THINK_START, USER, Tokenizer


class Role(Enum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `reasoning` is what an assistant thought before `content`; it is not sent back in later turns."""

    role: Role
    content: str
    reasoning: str = ""


def encode_chat(messages: Sequence[Message], tokenizer: Tokenizer, thinking: bool = False) -> list[int]:
    """The prompt for the next answer: `BOS system <User> text <Assistant> </think> answer EOS <User> text <Assistant>`
    and then an opened think tag when `thinking`, a closed one otherwise.

    User messages in a row become one turn, joined by a blank line. Earlier reasoning is dropped, as in training.
    Raises UserError when the messages are no conversation that a user's turn ends; ModelFileError when the model's
    vocabulary lacks a control token that is needed.
    """
    turns = _merge_user_turns(messages)
    _check_order(turns)
    texts = [tokenizer.encode(turn.content) for turn in turns]  # first: a model without a tokenizer says so here
    user = _control(tokenizer.user, USER)
    answer = [_control(tokenizer.assistant, ASSISTANT), _control(tokenizer.think_end, THINK_END)]
    ids = [tokenizer.bos]
    for turn, text in zip(turns, texts, strict=True):
        if turn.role is Role.SYSTEM:
            ids += text
        elif turn.role is Role.USER:
            ids += [user, *text]
        else:
            ids += [*answer, *text, tokenizer.eos]
    if thinking:
        answer[1] = _control(tokenizer.think_start, THINK_START)
    return ids + answer


def _merge_user_turns(messages: Sequence[Message]) -> list[Message]:
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].role is message.role is Role.USER:
            turns[-1] = Message(Role.USER, f"{turns[-1].content}\n\n{message.content}")
        else:
            turns.append(message)
    return turns


def _check_order(turns: Sequence[Message]) -> None:
    """Refuse anything but [system] user (assistant user)*; user messages in a row are merged already."""
    spoken = list(turns[1:] if turns and turns[0].role is Role.SYSTEM else turns)
    if not spoken:
        raise UserError("The conversation has no user message to answer.")
    expected = Role.USER
    for turn in spoken:
        if turn.role is Role.SYSTEM:
            raise UserError("A system message can only be the first message of a conversation.")
        if turn.role is not expected:
            problem = "starts with an assistant message" if turn is spoken[0] else "has two assistant messages in a row"
            raise UserError(f"The conversation {problem}; a user message must come before each answer.")
        expected = Role.ASSISTANT if expected is Role.USER else Role.USER
    if spoken[-1].role is not Role.USER:
        raise UserError("The conversation ends with an assistant message, so there is nothing to answer.")


def _control(id: int | None, name: str) -> int:
    if id is None:
        raise ModelFileError(f"The model's vocabulary has no {name} token, so it cannot be used for chat.")
    return id
