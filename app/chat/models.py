"""The records of the chat domain: what the store keeps, what the service hands to views. Frozen, so they cross threads.

Ids are plain integers given by the store; `chat_id` is the conversation_id of app/protocol. Times are seconds since
1970 (wall clock, for display and order only).
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from app.generation import GenerationState
from engine.events import FinishReason, PrefillAdvanced, Timings, Usage
from engine.model_info import ModelInfo
from engine.partial_sampling import UNSAID, PartialSampling


class Role(Enum):
    USER = "user"
    ASSISTANT = "assistant"


class MessageState(Enum):
    """How far a message got. Only answers are ever anything but COMPLETE."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    STOPPED = "stopped"  # the person stopped it
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the program ended while it was being written


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What a chat sets for itself; None means the app's default from Settings."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    thinking: bool | None = None
    preset: str | None = None


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """One row of the chat list."""

    id: int
    title: str  # empty until a first question gives it one
    pinned: bool
    updated_at: float
    state: GenerationState = GenerationState.IDLE  # of the running answer; not stored


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat without its messages."""

    id: int
    title: str
    title_is_manual: bool
    pinned: bool
    draft: str
    system_prompt: str | None  # None: the app's default
    settings: ChatSettings
    history_from_id: int | None  # messages before this one are no longer sent to the model
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document without its text (which may be megabytes; ask the service for it)."""

    id: int
    name: str
    size_bytes: int
    characters: int
    tokens: int | None  # None until counted
    sha256: str
    preview: str  # the first 500 characters


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the selected branch; `version` of `versions` counts from 1 among those that share a parent."""

    id: int
    chat_id: int
    parent_id: int | None
    role: Role
    text: str
    reasoning: str
    state: MessageState
    created_at: float
    documents: tuple[DocumentInfo, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    timings: Timings | None = None
    reasoning_s: float | None = None
    reasoning_tokens: int = 0
    model: str = ""
    error: str = ""
    version: int = 1
    versions: int = 1


@dataclass(frozen=True, slots=True)
class OpenChat:
    """A chat with the messages of its selected branch, oldest first, and the documents waiting in its composer."""

    chat: Chat
    messages: tuple[Message, ...]
    pending_documents: tuple[DocumentInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatStatus:
    """What a chat's answer is doing now. `prefill` and `tok_s` are the newest known while busy."""

    chat_id: int
    state: GenerationState
    message_id: int | None = None  # the answer being made
    ahead: int = 0  # jobs before this one while queued
    prefill: PrefillAdvanced | None = None
    tokens: int = 0
    tok_s: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text to append to an answer that a view shows."""

    chat_id: int
    message_id: int
    reasoning: str
    text: str
    tokens: int
    reasoning_tokens: int
    tok_s: float | None


class PendingState(Enum):
    READING = "reading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A chip in the composer. `info` is None while the file is being read or when that failed."""

    key: int  # names the chip from the first moment; equals info.id once stored
    name: str
    state: PendingState
    info: DocumentInfo | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class PendingDocuments:
    chat_id: int
    documents: tuple[PendingDocument, ...]


class ModelState(Enum):
    NONE = "none"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The model as the status line shows it. While LOADING, `info` is still the previous model's, if there was one."""

    state: ModelState
    path: Path | None = None
    info: ModelInfo | None = None
    done_bytes: int = 0
    total_bytes: int = 0
    message: str = ""

    @property
    def advice(self) -> PartialSampling:
        """What the model advises for sampling; nothing without a model."""
        return UNSAID if self.info is None else self.info.advice


class NoticeLevel(Enum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for a person. `key` names notices that replace one another; `is_sticky` ones stay until cleared
    (an empty `text` with the same key clears)."""

    level: NoticeLevel
    text: str
    key: str = ""
    is_sticky: bool = False
    is_bug: bool = False


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """Something was deleted and can be brought back with ChatService.undo(token)."""

    token: int
    text: str


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A chat that matches, with the best place. message_id is None when only the title matches.

    `snippet` is plain text; `marks` are (start, length) of the matching words in it.
    """

    chat_id: int
    title: str
    message_id: int | None
    snippet: str
    marks: tuple[tuple[int, int], ...]
    updated_at: float


@dataclass(frozen=True, slots=True)
class SearchResults:
    query: str
    hits: tuple[SearchHit, ...]


class ExportFormat(Enum):
    MARKDOWN = "markdown"
    JSON = "json"
