"""From the chat domain's records to what the transcript shows: words, numbers, states. Pure; GUI thread."""

from PySide6.QtCore import QCoreApplication

from app.chat.models import ChatStatus, Message, MessageState, Role
from app.generation import STATE_LABELS, GenerationState, is_busy
from app.sentences import translated
from app.transcript import model as view
from app.widgets import formats
from engine.events import FinishReason, PrefillAdvanced

_WAITING = frozenset(
    {GenerationState.LOADING, GenerationState.QUEUED, GenerationState.PREFILLING, GenerationState.STOPPING}
)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Messages", text)


def message_view(message: Message, status: ChatStatus | None) -> view.MessageView:
    """The transcript's record of a message; `status` is its chat's, for an answer that is being made."""
    running = status if status is not None and status.message_id == message.id and is_busy(status.state) else None
    state = _state(message, running)
    waits = running is not None and state is view.MessageState.WAITING
    return view.MessageView(
        id=message.id,
        role=view.Role.USER if message.role is Role.USER else view.Role.ASSISTANT,
        text=message.text,
        state=state,
        thinking=message.reasoning,
        thinking_tokens=message.reasoning_tokens or None,
        thinking_s=message.reasoning_s,
        attachments=tuple(view.Attachment(d.id, d.name, d.size_bytes, d.tokens) for d in message.documents),
        version=message.version,
        versions=message.versions,
        stats="" if message.state is MessageState.STREAMING else stats_line(message),
        notice=_notice(message),
        prefill=prefill_status(running) if waits and running is not None else None,
    )


def _state(message: Message, running: ChatStatus | None) -> view.MessageState:
    match message.state:
        case MessageState.COMPLETE:
            return view.MessageState.COMPLETE
        case MessageState.FAILED:
            return view.MessageState.FAILED
        case MessageState.STOPPED | MessageState.INTERRUPTED:
            return view.MessageState.STOPPED
        case MessageState.STREAMING:
            waits = running is not None and running.state in _WAITING and not message.text and not message.reasoning
            return view.MessageState.WAITING if waits else view.MessageState.STREAMING


def _notice(message: Message) -> str:
    if message.state is MessageState.INTERRUPTED:
        return _tr("The program ended while this was being written. What had arrived was kept.")
    if message.state is MessageState.FAILED:
        return translated(message.error) or _tr("The answer could not be finished. What had arrived was kept.")
    if message.finish_reason is FinishReason.CONTEXT:
        return _tr("The context is full. Start a new chat, or use a larger context in Settings.")
    return ""


def finish_words(reason: FinishReason) -> str:
    """Why an answer ended, in a few words."""
    return {
        FinishReason.END: _tr("finished"),
        FinishReason.LENGTH: _tr("length limit reached"),
        FinishReason.CONTEXT: _tr("context full"),
        FinishReason.STOPPED: _tr("stopped"),
    }[reason]


def stats_line(message: Message) -> str:
    """Tokens, speed, time to first token and stop reason of an answer; empty for a question."""
    if message.role is Role.USER or message.usage is None:
        return ""
    parts = [formats.tokens(message.usage.completion_tokens)]
    timings = message.timings
    if timings is not None and timings.decode_tok_s is not None:
        parts.append(formats.speed(timings.decode_tok_s))
    if timings is not None and timings.first_token_s is not None:
        parts.append(_tr("first token after {time}").format(time=formats.duration(timings.first_token_s)))
    if message.finish_reason is not None:
        parts.append(finish_words(message.finish_reason))
    return " · ".join(parts)


def prefill_status(status: ChatStatus) -> view.PrefillStatus:
    """What stands in the answer's place before its first word."""
    if status.state is GenerationState.PREFILLING:
        return _reading(status.prefill)
    if status.state is GenerationState.QUEUED and status.ahead > 1:
        waiting = QCoreApplication.translate("Messages", "Waiting for %Ln other job(s)", None, status.ahead)
        return view.PrefillStatus(waiting)
    return view.PrefillStatus(QCoreApplication.translate("GenerationState", STATE_LABELS[status.state]))


def _reading(progress: PrefillAdvanced | None) -> view.PrefillStatus:
    if progress is None or progress.tok_s is None:
        return view.PrefillStatus(_tr("Reading the prompt · starting"))
    left = max(0, progress.tokens_total - progress.tokens_done)
    return view.PrefillStatus(
        _tr("Reading the prompt"),
        tokens_done=progress.tokens_done,
        tokens_total=progress.tokens_total,
        cached=progress.cached,
        tok_s=progress.tok_s,
        eta_s=left / progress.tok_s if progress.tok_s > 0 else None,
    )
