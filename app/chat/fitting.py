"""What a person can do about a prompt that does not fit the context: pure arithmetic on token counts.

Used by ChatService with exact counts, before anything is sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.chat.budget import FitChoice, FitOption

MIN_ANSWER_TOKENS = 64  # an answer shorter than this is not worth offering
CONTEXT_UNIT = 1024


@dataclass(frozen=True, slots=True)
class PromptCounts:
    """Exact tokens of a prompt that does not fit. `turns` are those of the history (a question with its answer), oldest
    first; `documents` those waiting in the composer."""

    prompt: int
    reserved: int
    context: int
    model_context: int
    turns: tuple[int, ...]
    documents: int

    @property
    def over_by(self) -> int:
        return max(0, self.prompt + self.reserved - self.context)


def turn_counts(is_question: Sequence[bool], counts: Sequence[int]) -> tuple[int, ...]:
    """Sum message counts over turns; a turn begins at each question."""
    turns: list[int] = []
    for starts, count in zip(is_question, counts, strict=True):
        if starts or not turns:
            turns.append(count)
        else:
            turns[-1] += count
    return tuple(turns)


def fit_options(counts: PromptCounts) -> tuple[FitOption, ...]:
    """The choices that would make it fit, the mildest first. Empty if it fits, or if nothing helps."""
    if not counts.over_by:
        return ()
    options: list[FitOption] = []
    room = counts.context - counts.prompt
    if room >= min(MIN_ANSWER_TOKENS, counts.reserved):
        options.append(FitOption(FitChoice.SHORTER_ANSWER, room))
    larger = -(-(counts.prompt + counts.reserved) // CONTEXT_UNIT) * CONTEXT_UNIT
    larger = min(larger, counts.model_context)
    if larger >= counts.prompt + counts.reserved:
        options.append(FitOption(FitChoice.LARGER_CONTEXT, larger))
    saved = 0
    for number, turn in enumerate(counts.turns, start=1):
        saved += turn
        if saved >= counts.over_by:
            options.append(FitOption(FitChoice.LEAVE_OUT_OLDEST, number))
            options.append(FitOption(FitChoice.NEW_CHAT))
            break
    if counts.documents >= counts.over_by:
        options.append(FitOption(FitChoice.REMOVE_DOCUMENTS))
    return tuple(options)
