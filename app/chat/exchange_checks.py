"""Checking one chat of our own JSON form, value by value. Every error names the file and the place in it. Pure."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication

from app.chat.exchange_format import MAX_TEXT_CHARACTERS, ImportedChat, ImportedMessage
from app.chat.models import MessageState, Role
from app.errors import ExchangeError
from app.store.rows import chat_settings_from, clean_text
from engine.events import FinishReason, Timings, Usage

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
MAX_TOKENS = 1 << 40
MAX_SECONDS = 1e9
LAST_TIME = 253_370_764_800.0  # the beginning of the year 9999: a date in every time zone
_KINDS = {
    str: "a text",
    int: "a whole number",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    float: "a number",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file we are, for errors."""

    name: str

    def inside(self, part: str) -> "Place":
        return Place(f"{self.name}, {part}")

    def error(self, problem: str) -> ExchangeError:
        return ExchangeError(f"{self.name}: {problem}.")

    def is_object(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(_tr("this should be an object"))
        return value

    def field(self, value: dict[str, Any], key: str, kind: type[T]) -> T:
        """A field that must be there."""
        found = self.optional(value, key, kind)
        if found is None:
            raise self.error(_tr("{key} is missing").format(key=key))
        return found

    def optional(self, value: dict[str, Any], key: str, kind: type[T]) -> T | None:
        """A field of the right type, or None where it is missing or null."""
        found = value.get(key)
        if found is None:
            return None
        if kind is not bool and isinstance(found, bool):
            raise self.error(_tr("{key} should be {kind}").format(key=key, kind=_KINDS[kind]))
        if kind is float and isinstance(found, int):
            found = float(found)
        if not isinstance(found, kind):
            raise self.error(_tr("{key} should be {kind}").format(key=key, kind=_KINDS[kind]))
        return found

    def text(self, value: str) -> str:
        if len(value) > MAX_TEXT_CHARACTERS:
            raise self.error(_tr("a text is longer than {limit} characters").format(limit=f"{MAX_TEXT_CHARACTERS:,}"))
        return clean_text(value)

    def optional_text(self, value: dict[str, Any], key: str) -> str:
        return self.text(self.optional(value, key, str) or "")

    def number(self, value: dict[str, Any], key: str, high: float) -> float | None:
        found = self.optional(value, key, float)
        if found is not None and not (math.isfinite(found) and 0 <= found <= high):
            raise self.error(_tr("{key} is out of range").format(key=key))
        return found

    def whole(self, value: dict[str, Any], key: str) -> int | None:
        found = self.optional(value, key, int)
        if found is not None and not 0 <= found <= MAX_TOKENS:
            raise self.error(_tr("{key} is out of range").format(key=key))
        return found

    def choice(self, value: dict[str, Any], key: str, kind: type[E]) -> E | None:
        found = self.optional(value, key, str)
        if found is None:
            return None
        try:
            return kind(found)
        except ValueError:
            raise self.error(_tr("{key} has the unknown value {found!r}").format(key=key, found=found[:40])) from None


def own_chat(value: Any, place: Place) -> ImportedChat:
    """One checked chat. Raises ExchangeError."""
    chat = place.is_object(value)
    entries = place.field(chat, "messages", list)
    places: dict[int, int] = {}  # id in the file -> index
    found: list[ImportedMessage] = []
    for number, entry in enumerate(entries, start=1):
        where = place.inside(f"message {number}")
        message = where.is_object(entry)
        own_id = where.field(message, "id", int)
        if own_id in places:
            raise where.error(_tr("its id {id} is used twice").format(id=own_id))
        found.append(_message(message, where, places))
        places[own_id] = len(found) - 1
    system_prompt = place.optional(chat, "system_prompt", str)
    return ImportedChat(
        messages=tuple(found),
        title=place.optional_text(chat, "title"),
        title_is_manual=bool(place.optional(chat, "title_is_manual", bool)),
        pinned=bool(place.optional(chat, "pinned", bool)),
        created_at=place.number(chat, "created_at", LAST_TIME),
        system_prompt=None if system_prompt is None else place.text(system_prompt),
        settings=chat_settings_from(place.optional(chat, "settings", dict) or {}),
    )


def _message(message: dict[str, Any], place: Place, places: dict[int, int]) -> ImportedMessage:
    parent = place.optional(message, "parent", int)
    if parent is not None and parent not in places:
        raise place.error(_tr("its parent {id} does not come before it").format(id=parent))
    role = place.choice(message, "role", Role)
    if role is None:
        raise place.error(_tr("{key} is missing").format(key="role"))
    state = place.choice(message, "state", MessageState) or MessageState.COMPLETE
    selected = place.optional(message, "selected", bool)
    return ImportedMessage(
        role=role,
        text=place.optional_text(message, "text"),
        parent=None if parent is None else places[parent],
        reasoning=place.optional_text(message, "reasoning"),
        state=MessageState.INTERRUPTED if state is MessageState.STREAMING else state,
        created_at=place.number(message, "created_at", LAST_TIME),
        model=place.optional_text(message, "model"),
        error=place.optional_text(message, "error"),
        finish_reason=place.choice(message, "finish_reason", FinishReason),
        usage=_usage(message, place),
        timings=_timings(message, place),
        reasoning_s=place.number(message, "reasoning_s", MAX_SECONDS),
        reasoning_tokens=place.whole(message, "reasoning_tokens") or 0,
        is_selected=selected is not False,
        documents=_documents(message, place),
    )


def _documents(message: dict[str, Any], place: Place) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for number, entry in enumerate(place.optional(message, "documents", list) or [], start=1):
        where = place.inside(f"document {number}")
        document = where.is_object(entry)
        found.append((where.text(where.field(document, "name", str)), where.text(where.field(document, "text", str))))
    return tuple(found)


def _usage(message: dict[str, Any], place: Place) -> Usage | None:
    raw = place.optional(message, "usage", dict)
    if raw is None:
        return None
    counts = [place.whole(raw, key) or 0 for key in ("prompt_tokens", "cached_tokens", "completion_tokens")]
    return Usage(*counts)


def _timings(message: dict[str, Any], place: Place) -> Timings | None:
    raw = place.optional(message, "timings", dict)
    if raw is None:
        return None
    return Timings(
        place.number(raw, "prefill_s", MAX_SECONDS) or 0.0,
        place.number(raw, "decode_s", MAX_SECONDS) or 0.0,
        *(place.number(raw, key, MAX_SECONDS) for key in ("first_token_s", "prefill_tok_s", "decode_tok_s")),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Exchange", text)
