"""What an answer under way takes of the context, from what the worker says anyway: nothing is counted for it. Pure;
kept by Budgeter on the GUI thread.
"""

from dataclasses import dataclass, replace

from app.protocol.events import AnswerFailed, AnswerFinished, AnswerStarted, Event, PrefillProgressed, TextArrived


@dataclass(frozen=True, slots=True)
class RunningContext:
    """Tokens of one chat's running answer. `prompt` is None until something has counted it; `read` of the prompt are
    held by the session; `answer_limit` is what the answer may become, `answer` what it is. `has_ended`: these are the
    last figures, shown until the chat is counted again."""

    prompt: int | None
    read: int
    answer_limit: int
    answer: int = 0
    has_ended: bool = False

    @property
    def total(self) -> int | None:
        """Prompt and answer so far."""
        return None if self.prompt is None else self.prompt + self.answer

    @property
    def reserved(self) -> int:
        """What is still kept for the answer."""
        return max(0, self.answer_limit - self.answer)


def advanced(running: RunningContext, event: Event) -> RunningContext:
    """The figures after an event of the same chat; the same record after one that says nothing about them."""
    if isinstance(event, AnswerStarted):
        return replace(running, prompt=event.prompt_tokens)
    if isinstance(event, PrefillProgressed):
        return replace(running, prompt=event.progress.tokens_total, read=event.progress.tokens_done)
    if isinstance(event, TextArrived):
        return replace(running, answer=event.tokens, read=(running.prompt or 0) + event.tokens)
    if isinstance(event, AnswerFinished | AnswerFailed):
        return replace(running, has_ended=True)
    return running
