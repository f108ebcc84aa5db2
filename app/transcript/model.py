"""What the transcript shows: frozen records, one a message. The window builds them from the store and the service.

The view knows nothing of the store or the engine; it is given these and gives back message ids.
"""

from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    USER = "user"
    ASSISTANT = "assistant"


class MessageState(Enum):
    """What a message is doing."""

    COMPLETE = "complete"
    WAITING = "waiting"  # the model loads, another answer goes first, or the prompt is being read
    STREAMING = "streaming"
    STOPPED = "stopped"  # ended early by the person, or cut off by a crash
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A document that went with a question. `tokens` is None until counted."""

    id: int
    name: str
    size_bytes: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class PrefillStatus:
    """How far the prompt has been read. `label` says what happens; numbers are None until the first chunk is done."""

    label: str
    tokens_done: int | None = None
    tokens_total: int | None = None
    cached: int = 0
    tok_s: float | None = None
    eta_s: float | None = None


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message as shown. `stats` is the line of numbers under an answer, `notice` what went wrong and what to do."""

    id: int
    role: Role
    text: str
    state: MessageState = MessageState.COMPLETE
    thinking: str = ""
    thinking_tokens: int | None = None
    thinking_s: float | None = None
    attachments: tuple[Attachment, ...] = ()
    version: int = 1
    versions: int = 1
    stats: str = ""
    notice: str = ""
    prefill: PrefillStatus | None = None
