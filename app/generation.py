"""The life of one answer as a person sees it: one enum, one transition table, and pure functions from the state to
what buttons and labels show. Owned by ChatService on the GUI thread; views only read it. No Qt objects here.
"""

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from PySide6.QtCore import QT_TRANSLATE_NOOP


class GenerationState(Enum):
    """Where a conversation's answer is. A conversation with no answer under way is IDLE, DONE or FAILED."""

    IDLE = "idle"
    LOADING = "loading"  # asked; the model is still being read
    QUEUED = "queued"  # asked; another conversation's answer or a benchmark goes first
    PREFILLING = "prefilling"
    DECODING = "decoding"
    STOPPING = "stopping"
    DONE = "done"  # the last answer ended, also when stopped
    FAILED = "failed"


class Trigger(Enum):
    """What happened to a conversation."""

    ASKED = "asked"
    ASKED_WHILE_LOADING = "asked_while_loading"
    MODEL_READY = "model_ready"
    STARTED = "started"
    FIRST_TOKEN = "first_token"
    STOP_REQUESTED = "stop_requested"
    FINISHED = "finished"
    FAILED = "failed"
    DISMISSED = "dismissed"


class IllegalTransitionError(RuntimeError):
    """A trigger that a state does not know: a bug of ours, never a user's mistake."""


_S, _T = GenerationState, Trigger

TRANSITIONS: MappingProxyType[tuple[GenerationState, Trigger], GenerationState] = MappingProxyType(
    {
        **{(state, _T.ASKED): _S.QUEUED for state in (_S.IDLE, _S.DONE, _S.FAILED)},
        **{(state, _T.ASKED_WHILE_LOADING): _S.LOADING for state in (_S.IDLE, _S.DONE, _S.FAILED)},
        (_S.LOADING, _T.MODEL_READY): _S.QUEUED,
        (_S.LOADING, _T.STARTED): _S.PREFILLING,
        (_S.QUEUED, _T.STARTED): _S.PREFILLING,
        (_S.PREFILLING, _T.FIRST_TOKEN): _S.DECODING,
        **{(state, _T.STOP_REQUESTED): _S.STOPPING for state in (_S.LOADING, _S.QUEUED, _S.PREFILLING, _S.DECODING)},
        **{(state, _T.FINISHED): _S.DONE for state in (_S.LOADING, _S.QUEUED, _S.PREFILLING, _S.DECODING, _S.STOPPING)},
        **{(state, _T.FAILED): _S.FAILED for state in (_S.LOADING, _S.QUEUED, _S.PREFILLING, _S.DECODING, _S.STOPPING)},
        (_S.DONE, _T.DISMISSED): _S.IDLE,
        (_S.FAILED, _T.DISMISSED): _S.IDLE,
    }
)

_BUSY = frozenset({_S.LOADING, _S.QUEUED, _S.PREFILLING, _S.DECODING, _S.STOPPING})


def next_state(state: GenerationState, trigger: Trigger) -> GenerationState:
    """The state after `trigger`. Raises IllegalTransitionError if the table has no such row."""
    try:
        return TRANSITIONS[(state, trigger)]
    except KeyError:
        raise IllegalTransitionError(f"{trigger.value} does not apply to {state.value}") from None


def is_busy(state: GenerationState) -> bool:
    """True while an answer is under way or waiting."""
    return state in _BUSY


class PrimaryAction(Enum):
    """What the one main button does."""

    SEND = "send"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Controls:
    """What the window lets a person do, derived from the state and nothing else."""

    primary: PrimaryAction
    primary_is_enabled: bool
    can_edit: bool  # edit a question, switch versions, delete a message
    can_regenerate: bool  # also while answering: the running answer is stopped first
    shows_prefill: bool  # the bar in the answer's place
    shows_activity: bool  # the working mark in the chat list


def controls(state: GenerationState, *, has_input: bool, fits: bool = True) -> Controls:
    """Buttons as a function of the state. `has_input`: text or documents wait in the composer; `fits`: the context."""
    busy = is_busy(state)
    return Controls(
        primary=PrimaryAction.STOP if busy else PrimaryAction.SEND,
        primary_is_enabled=state is not _S.STOPPING if busy else has_input and fits,
        can_edit=not busy,
        can_regenerate=state is not _S.STOPPING,
        shows_prefill=state in (_S.LOADING, _S.QUEUED, _S.PREFILLING),
        shows_activity=busy,
    )


# Source strings; a view shows QCoreApplication.translate("GenerationState", STATE_LABELS[state]).
STATE_LABELS: MappingProxyType[GenerationState, str] = MappingProxyType(
    {
        _S.IDLE: str(QT_TRANSLATE_NOOP("GenerationState", "Ready")),
        _S.LOADING: str(QT_TRANSLATE_NOOP("GenerationState", "Loading the model")),
        _S.QUEUED: str(QT_TRANSLATE_NOOP("GenerationState", "Waiting for another answer")),
        _S.PREFILLING: str(QT_TRANSLATE_NOOP("GenerationState", "Reading the prompt")),
        _S.DECODING: str(QT_TRANSLATE_NOOP("GenerationState", "Answering")),
        _S.STOPPING: str(QT_TRANSLATE_NOOP("GenerationState", "Stopping")),
        _S.DONE: str(QT_TRANSLATE_NOOP("GenerationState", "Finished")),
        _S.FAILED: str(QT_TRANSLATE_NOOP("GenerationState", "Failed")),
    }
)

# Said once to a screen reader when a state is entered; states that are not here are not announced.
ANNOUNCEMENTS: MappingProxyType[GenerationState, str] = MappingProxyType(
    {
        _S.PREFILLING: str(QT_TRANSLATE_NOOP("GenerationState", "Reading prompt")),
        _S.DECODING: str(QT_TRANSLATE_NOOP("GenerationState", "Answering")),
        _S.DONE: str(QT_TRANSLATE_NOOP("GenerationState", "Finished")),
        _S.FAILED: str(QT_TRANSLATE_NOOP("GenerationState", "Failed")),
    }
)
