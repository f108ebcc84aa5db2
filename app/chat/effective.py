"""Which settings an answer really uses: the chat's own, then those of its preset, then the app's; where these leave a
number open, the worker takes the model's. Pure."""

from dataclasses import dataclass
from typing import TypeVar

from app.chat.models import Chat
from app.protocol.requests import SamplingChoice
from app.settings import Preset, Settings
from engine.partial_sampling import PartialSampling

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Everything an answer needs beside its messages."""

    sampling: SamplingChoice
    max_tokens: int
    thinking: bool
    system_prompt: str


def effective_settings(chat: Chat, settings: Settings) -> AnswerSettings:
    """The settings of the chat's next answer. A preset that no longer exists counts for nothing."""
    own, defaults = chat.settings, settings.answers
    preset = next((entry for entry in settings.presets if entry.name == own.preset), Preset())
    wishes = PartialSampling(
        temperature=_first(own.temperature, preset.temperature, defaults.temperature),
        top_p=_first(own.top_p, preset.top_p, defaults.top_p),
        top_k=_first(own.top_k, preset.top_k, defaults.top_k),
        min_p=_first(own.min_p, preset.min_p, defaults.min_p),
    )
    return AnswerSettings(
        SamplingChoice(wishes, own.seed if own.seed is not None else defaults.seed),
        _first(own.max_tokens, preset.max_tokens, defaults.max_tokens),
        _first(own.thinking, preset.thinking, defaults.thinking),
        _first(chat.system_prompt, preset.system_prompt, defaults.system_prompt),
    )


def _first(own: T | None, preset: T | None, default: T) -> T:
    if own is not None:
        return own
    return default if preset is None else preset
