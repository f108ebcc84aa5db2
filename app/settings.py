"""The app's settings as one typed, frozen object. What a value may be is said here, beside its field, and nowhere else.

Read and written by app/settings_file.py; the window changes them through app/settings_service.py. Window geometry is
not here (QSettings). Pure; any thread.
"""

from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

SETTINGS_VERSION = 1


class Theme(Enum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class SendKey(Enum):
    ENTER = "enter"
    CTRL_ENTER = "ctrl+enter"


class SessionMode(Enum):
    SPARSE = "sparse"
    DENSE = "dense"
    EXACT = "exact"


_TEMPERATURE = (0.0, 5.0)
_TOP_P = (0.01, 1.0)  # the engine wants more than 0
_TOP_K = (0, 1_000_000)
_MIN_P = (0.0, 1.0)
_MAX_TOKENS = (1, 1_000_000)


def _within(default: float | None, low: float, high: float) -> Any:  # Any: as dataclasses.field, the field's own type
    return field(default=default, metadata=MappingProxyType({"low": low, "high": high}))


@dataclass(frozen=True, slots=True)
class General:
    language: str = ""  # a locale such as "de"; empty follows the system
    reopen_last_chat: bool = True
    notify_when_done: bool = True
    notify_after_s: float = _within(10.0, 0.0, 3600.0)
    inhibit_sleep: bool = True


@dataclass(frozen=True, slots=True)
class Appearance:
    theme: Theme = Theme.SYSTEM
    text_scale: float = _within(1.0, 0.5, 3.0)
    show_sidebar: bool = True
    show_panel: bool = True
    keep_thinking_open: bool = False
    reduce_motion: bool = False


@dataclass(frozen=True, slots=True)
class Composer:
    send_key: SendKey = SendKey.ENTER
    paste_becomes_document: bool = True
    paste_threshold: int = _within(2000, 100, 1_000_000)  # characters


@dataclass(frozen=True, slots=True)
class Answers:
    """Defaults for chats that set nothing themselves. None leaves a number to what the model advises."""

    system_prompt: str = ""
    temperature: float | None = _within(None, *_TEMPERATURE)
    top_p: float | None = _within(None, *_TOP_P)
    top_k: int | None = _within(None, *_TOP_K)
    min_p: float | None = _within(None, *_MIN_P)
    seed: int | None = None
    max_tokens: int = _within(1024, *_MAX_TOKENS)
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class ModelChoice:
    path: str = ""  # empty: the embedded model
    reload_last: bool = True
    backend: str = "auto"
    kv_rounding: str = "auto"
    dtype: str = "auto"
    mode: SessionMode = SessionMode.SPARSE
    context: int = _within(16384, 256, 1_048_576)
    sessions_kept: int = _within(3, 1, 64)
    files: tuple[str, ...] = ()  # added by the person
    folders: tuple[str, ...] = ()  # watched


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of answer settings; None leaves the default."""

    name: str = ""
    system_prompt: str | None = None
    temperature: float | None = _within(None, *_TEMPERATURE)
    top_p: float | None = _within(None, *_TOP_P)
    top_k: int | None = _within(None, *_TOP_K)
    min_p: float | None = _within(None, *_MIN_P)
    max_tokens: int | None = _within(None, *_MAX_TOKENS)
    thinking: bool | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Change one with dataclasses.replace and hand the result to SettingsService."""

    general: General = General()
    appearance: Appearance = Appearance()
    composer: Composer = Composer()
    answers: Answers = Answers()
    model: ModelChoice = ModelChoice()
    presets: tuple[Preset, ...] = ()
