"""AnswerRunner: the answers being made, one for each conversation, from engine events to statuses, text and store.

GUI thread, owned by ChatService. An answer belongs to its conversation and not to what is shown: it goes on when
another chat is opened, and its text is kept here until the store has it.
"""

import time
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from app.chat.answer_saver import AnswerSaver, StreamedText
from app.chat.effective import AnswerSettings
from app.chat.models import ChatStatus, Message, MessageState, TextDelta
from app.engine_host import EngineHost
from app.generation import GenerationState, Trigger, is_busy, next_state
from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    AnswerStarted,
    Event,
    JobQueued,
    ModelLoaded,
    PrefillProgressed,
    TextArrived,
)
from app.protocol.requests import PromptMessage
from app.store.messages import AnswerEnd
from app.store.store import Store
from engine.events import FinishReason


@dataclass(slots=True)
class RunningAnswer:
    """One answer under way. `message` is the record it began with."""

    job_id: int
    message: Message
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    reasoning_tokens: int = 0
    reasoning_began: float | None = None
    reasoning_s: float | None = None
    is_dirty: bool = False

    def add(self, event: TextArrived) -> None:
        now = time.monotonic()
        if event.reasoning and self.reasoning_began is None:
            self.reasoning_began = now
        if event.text and self.reasoning_began is not None and self.reasoning_s is None:
            self.reasoning_s = now - self.reasoning_began
        self.reasoning_tokens = event.reasoning_tokens
        self.text.append(event.text)
        self.reasoning.append(event.reasoning)
        self.is_dirty = True

    def take_unsaved(self) -> tuple[int, str, str] | None:
        if not self.is_dirty:
            return None
        self.is_dirty = False
        return self.message.id, "".join(self.text), "".join(self.reasoning)

    def so_far(self) -> Message:
        """The message with the text that has arrived."""
        return replace(
            self.message,
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            reasoning_tokens=self.reasoning_tokens,
            reasoning_s=self.reasoning_s,
        )

    def end(self, state: MessageState, event: AnswerFinished | AnswerFailed) -> AnswerEnd:
        if self.reasoning_began is not None and self.reasoning_s is None:
            self.reasoning_s = time.monotonic() - self.reasoning_began
        finished = event.finished if isinstance(event, AnswerFinished) else None
        return AnswerEnd(
            state=state,
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            finish_reason=finished.reason if finished else None,
            usage=finished.usage if finished else None,
            timings=finished.timings if finished else None,
            reasoning_s=self.reasoning_s,
            reasoning_tokens=self.reasoning_tokens,
            error=event.message if isinstance(event, AnswerFailed) else "",
        )


class AnswerRunner(QObject):
    """Statuses of all conversations, and the answers that run."""

    status_changed = Signal(object)  # ChatStatus
    text_arrived = Signal(object)  # TextDelta
    message_changed = Signal(object)  # Message, at its end
    ended = Signal(int)  # chat id, after the status and the message were told
    notice = Signal(object)

    def __init__(self, store: Store, host: EngineHost, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._running: dict[int, RunningAnswer] = {}  # by job id
        self._statuses: dict[int, ChatStatus] = {}  # by chat id; a chat without one is idle
        self._is_closing = False
        self.saver = AnswerSaver(store, self._streams, parent=self)
        self.saver.notice.connect(self.notice)

    # ---- asked by the service

    def status(self, chat_id: int) -> ChatStatus:
        return self._statuses.get(chat_id, ChatStatus(chat_id, GenerationState.IDLE))

    def is_busy(self, chat_id: int) -> bool:
        return is_busy(self.status(chat_id).state)

    def busy_states(self) -> dict[int, GenerationState]:
        """States of all conversations that work or wait."""
        return {key: status.state for key, status in self._statuses.items() if is_busy(status.state)}

    def start(
        self,
        message: Message,
        prompt: tuple[PromptMessage, ...],
        settings: AnswerSettings,
        *,
        context: int,
        mode: str,
        is_loading: bool,
    ) -> None:
        """Ask the engine for the text of `message`, an empty answer that is committed already."""
        job_id = self._host.ask(
            message.chat_id,
            prompt,
            settings.sampling,
            max_tokens=settings.max_tokens,
            context=context,
            thinking=settings.thinking,
            mode=mode,
        )
        self._running[job_id] = RunningAnswer(job_id, message)
        self.saver.watch()
        trigger = Trigger.ASKED_WHILE_LOADING if is_loading else Trigger.ASKED
        state = next_state(self.status(message.chat_id).state, trigger)
        self._set_status(ChatStatus(message.chat_id, state, message.id))

    def end_unasked(self, message: Message) -> None:
        """An empty answer that is committed, but is not wanted any more: stopped, and the engine never hears of it."""
        self.saver.finish(message.chat_id, message.id, AnswerEnd(MessageState.STOPPED, ""))
        self.message_changed.emit(replace(message, state=MessageState.STOPPED))

    def stop(self, chat_id: int) -> None:
        """Stop the conversation's answer; a conversation that does not work, or stops already, is left alone."""
        status = self.status(chat_id)
        if not is_busy(status.state) or status.state is GenerationState.STOPPING:
            return
        self._advance(chat_id, Trigger.STOP_REQUESTED)
        for job_id, answer in list(self._running.items()):
            if answer.message.chat_id == chat_id:
                self._host.stop(job_id)

    def dismiss(self, chat_id: int) -> None:
        """The person has seen how the last answer ended."""
        if self.status(chat_id).state is GenerationState.DONE:
            self._advance(chat_id, Trigger.DISMISSED)

    def with_live_text(self, stored: tuple[Message, ...]) -> tuple[Message, ...]:
        """Messages as stored, the one that is being answered with the text that has arrived since it was saved."""
        live = {answer.message.id: answer for answer in self._running.values()}
        if not any(message.state is MessageState.STREAMING and message.id in live for message in stored[-1:]):
            return stored
        *before, last = stored
        return (*before, replace(live[last.id].so_far(), version=last.version, versions=last.versions))

    def begin_close(self) -> None:
        """The program ends: answers that stop from now on were interrupted, not stopped by the person."""
        self._is_closing = True

    def close(self) -> None:
        """After the engine has ended: close what it could not, and give the store everything that waits."""
        for answer in list(self._running.values()):
            self._end(answer, MessageState.INTERRUPTED, AnswerFailed(answer.job_id, answer.message.chat_id, "", False))
        self.saver.try_all()

    # ---- told by the engine

    def on_event(self, event: Event) -> None:
        """Every event of the host comes through here; those of others are passed over."""
        if isinstance(event, ModelLoaded):
            self._on_model_loaded()
        elif (answer := self._running.get(event.job_id)) is not None:
            self._on_answer_event(answer, event)

    def _on_model_loaded(self) -> None:
        for chat_id, state in self.busy_states().items():
            if state is GenerationState.LOADING:
                self._advance(chat_id, Trigger.MODEL_READY)

    def _on_answer_event(self, answer: RunningAnswer, event: Event) -> None:
        chat_id = answer.message.chat_id
        if isinstance(event, TextArrived):
            self._on_text(answer, event)
        elif isinstance(event, PrefillProgressed):
            self._set_status(replace(self.status(chat_id), prefill=event.progress))
        elif isinstance(event, JobQueued):
            self._set_status(replace(self.status(chat_id), ahead=event.ahead))
        elif isinstance(event, AnswerStarted):
            self._advance(chat_id, Trigger.STARTED)
        elif isinstance(event, AnswerFinished):
            was_stopped = event.finished.reason is FinishReason.STOPPED
            how = MessageState.INTERRUPTED if self._is_closing else MessageState.STOPPED
            self._end(answer, how if was_stopped else MessageState.COMPLETE, event)
        elif isinstance(event, AnswerFailed):
            self._end(answer, MessageState.FAILED, event)

    def _on_text(self, answer: RunningAnswer, event: TextArrived) -> None:
        answer.add(event)
        chat_id = answer.message.chat_id
        status = replace(self.status(chat_id), tokens=event.tokens, tok_s=event.tok_s)
        if status.state is GenerationState.PREFILLING:
            status = replace(status, state=next_state(status.state, Trigger.FIRST_TOKEN))
        self._set_status(status)
        self.text_arrived.emit(
            TextDelta(
                chat_id,
                answer.message.id,
                event.reasoning,
                event.text,
                event.tokens,
                event.reasoning_tokens,
                event.tok_s,
            )
        )

    def _end(self, answer: RunningAnswer, state: MessageState, event: AnswerFinished | AnswerFailed) -> None:
        self._running.pop(answer.job_id, None)
        chat_id = answer.message.chat_id
        end = answer.end(state, event)
        self.saver.finish(chat_id, answer.message.id, end)
        self.message_changed.emit(
            replace(
                answer.so_far(),
                state=state,
                finish_reason=end.finish_reason,
                usage=end.usage,
                timings=end.timings,
                error=end.error,
            )
        )
        failed = state is MessageState.FAILED
        status = self.status(chat_id)
        new_state = next_state(status.state, Trigger.FAILED if failed else Trigger.FINISHED)
        self._set_status(replace(status, state=new_state, ahead=0, error=end.error))
        self.ended.emit(chat_id)

    # ---- inside

    def _streams(self) -> list[StreamedText]:
        return list(self._running.values())

    def _advance(self, chat_id: int, trigger: Trigger) -> None:
        status = self.status(chat_id)
        if status.state is GenerationState.STOPPING and trigger is not Trigger.FINISHED:
            return  # a start or a load that crossed the stop on its way
        self._set_status(replace(status, state=next_state(status.state, trigger), ahead=0))

    def _set_status(self, status: ChatStatus) -> None:
        if self.status(status.chat_id) != status:
            self._statuses[status.chat_id] = status
            self.status_changed.emit(status)
