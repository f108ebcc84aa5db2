"""Our own JSON form of chats: the names in it and the records an import is checked into before anything is stored.

`format` and `version` say what the file is. A chat's messages are listed parents first and refer to one another by
their `id` within the file; `selected` marks the version that is shown.
"""

from dataclasses import dataclass, field

from app.chat.models import ChatSettings, MessageState, Role
from engine.events import FinishReason, Timings, Usage

FORMAT_NAME = "haloband-chats"
FORMAT_VERSION = 1

MAX_FILE_BYTES = 256 << 20
MAX_CHATS = 10_000
MAX_MESSAGES = 200_000  # in one file
MAX_TEXT_CHARACTERS = 32_000_000


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message to store. `parent` is an index into the chat's messages, always smaller than its own; None: a root."""

    role: Role
    text: str
    parent: int | None
    reasoning: str = ""
    state: MessageState = MessageState.COMPLETE
    created_at: float | None = None
    model: str = ""
    error: str = ""
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    timings: Timings | None = None
    reasoning_s: float | None = None
    reasoning_tokens: int = 0
    is_selected: bool = True
    documents: tuple[tuple[str, str], ...] = ()  # (name, text)


@dataclass(frozen=True, slots=True)
class ImportedChat:
    """A chat to store."""

    messages: tuple[ImportedMessage, ...]
    title: str = ""
    title_is_manual: bool = False
    pinned: bool = False
    created_at: float | None = None
    system_prompt: str | None = None
    settings: ChatSettings = field(default_factory=ChatSettings)
