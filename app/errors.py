"""The app's own errors, and the one rule that decides which words a person sees for any error.

`UserError` (the world: a file, a folder, a number) and `StoreError` (the chats on disk) are shown as they are, in one
sentence. `EngineError` is the machine failing us. Everything else is our bug: the window says so and the trace goes to
the log. Pure Python; usable on every thread.
"""

import logging
from dataclasses import dataclass
from enum import Enum

from engine.errors import EngineError, UserError

log = logging.getLogger("haloband.errors")

__all__ = [
    "DocumentError",
    "EngineError",
    "ErrorText",
    "ExchangeError",
    "SettingsError",
    "StoreError",
    "StoreProblem",
    "UserError",
    "describe_error",
    "record_error",
]


class StoreProblem(Enum):
    """What went wrong with the store; a view may offer a different remedy for each."""

    DAMAGED = "damaged"
    LOCKED = "locked"
    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"
    NEWER = "newer"
    OTHER = "other"


class StoreError(Exception):
    """The chats could not be read or written. One sentence: what happened, what was kept, what to do."""

    def __init__(self, message: str, problem: StoreProblem = StoreProblem.OTHER) -> None:
        super().__init__(message)
        self.problem = problem


class SettingsError(UserError):
    """A settings file or value that cannot be used. Names the file or the key."""


class DocumentError(UserError):
    """A document that cannot be read. Names the file and the reason."""


class ExchangeError(UserError):
    """A chat file that cannot be imported or exported. Names the file and the place in it."""


@dataclass(frozen=True, slots=True)
class ErrorText:
    """What to show for an error. `is_bug` means the message is generic and the details are in the log."""

    message: str
    is_bug: bool


def describe_error(error: BaseException) -> ErrorText:
    """The words for an error: its own sentence if a person can act on it, otherwise that it is our fault."""
    if isinstance(error, UserError | StoreError | EngineError):
        return ErrorText(str(error) or type(error).__name__, is_bug=False)
    if isinstance(error, MemoryError):
        return ErrorText("There is not enough memory for this. Close other programs or use a shorter context.", False)
    detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ErrorText(f"Haloband made a mistake ({detail}). The details are in the log.", is_bug=True)


def record_error(error: BaseException, doing: str) -> ErrorText:
    """Describe an error and write it to the log: with its trace if it is a bug, in one line otherwise."""
    text = describe_error(error)
    if text.is_bug:
        log.error("bug while %s", doing, exc_info=error)
    else:
        log.warning("%s: %s", doing, text.message)
    return text
