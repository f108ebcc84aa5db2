"""Rows of the database to the records of app/chat/models.py and back. Pure functions; store's thread."""

import dataclasses
import json
import sqlite3
from typing import Any

from app.chat.models import Chat, ChatSettings, ChatSummary, DocumentInfo, Message, MessageState, Role
from engine.events import FinishReason, Timings, Usage

PREVIEW_CHARACTERS = 500


def clean_text(text: str) -> str:
    """The text with lone surrogates (which no encoding can hold) replaced; everything else is kept verbatim."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def chat_summary(row: sqlite3.Row) -> ChatSummary:
    return ChatSummary(row["id"], row["title"], bool(row["pinned"]), row["updated_at"])


def chat(row: sqlite3.Row) -> Chat:
    return Chat(
        id=row["id"],
        title=row["title"],
        title_is_manual=bool(row["title_is_manual"]),
        pinned=bool(row["pinned"]),
        draft=row["draft"],
        system_prompt=row["system_prompt"],
        settings=read_chat_settings(row["settings"]),
        history_from_id=row["history_from_id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def document(row: sqlite3.Row) -> DocumentInfo:
    return DocumentInfo(
        row["id"], row["name"], row["size_bytes"], row["characters"], row["tokens"], row["sha256"], row["preview"]
    )


def message(row: sqlite3.Row, documents: tuple[DocumentInfo, ...], version: int, versions: int) -> Message:
    return Message(
        id=row["id"],
        chat_id=row["chat_id"],
        parent_id=row["parent_id"],
        role=Role(row["role"]),
        text=row["text"],
        reasoning=row["reasoning"],
        state=MessageState(row["state"]),
        created_at=row["created_at"],
        documents=documents,
        finish_reason=FinishReason(row["finish_reason"]) if row["finish_reason"] else None,
        usage=_usage(row),
        timings=_timings(row),
        reasoning_s=row["reasoning_s"],
        reasoning_tokens=row["reasoning_tokens"],
        model=row["model"],
        error=row["error"],
        version=version,
        versions=versions,
    )


def _usage(row: sqlite3.Row) -> Usage | None:
    if row["prompt_tokens"] is None:
        return None
    return Usage(row["prompt_tokens"], row["cached_tokens"], row["completion_tokens"])


def _timings(row: sqlite3.Row) -> Timings | None:
    if row["prefill_s"] is None:
        return None
    return Timings(row["prefill_s"], row["decode_s"], row["first_token_s"], row["prefill_tok_s"], row["decode_tok_s"])


def read_chat_settings(text: str) -> ChatSettings:
    """Settings of a chat from their JSON. What cannot be used is left out, for the file may be older or newer."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return ChatSettings()
    return chat_settings_from(raw) if isinstance(raw, dict) else ChatSettings()


def chat_settings_from(raw: dict[str, Any]) -> ChatSettings:
    """Settings from untrusted JSON values: those of the right type and range."""
    return ChatSettings(
        temperature=_number(raw, "temperature", 0.0, 5.0),
        top_p=_number(raw, "top_p", 0.01, 1.0),
        top_k=_whole(raw, "top_k", 0, 1_000_000),
        min_p=_number(raw, "min_p", 0.0, 1.0),
        seed=_whole(raw, "seed", -(2**63), 2**63 - 1),
        max_tokens=_whole(raw, "max_tokens", 1, 1_000_000),
        thinking=raw["thinking"] if isinstance(raw.get("thinking"), bool) else None,
        preset=clean_text(raw["preset"])[:200] if isinstance(raw.get("preset"), str) else None,
    )


def write_chat_settings(settings: ChatSettings, stored: str) -> str:
    """JSON of the settings over what was stored, so that keys of a newer version stay."""
    try:
        raw = json.loads(stored)
    except (ValueError, RecursionError):
        raw = {}
    kept = raw if isinstance(raw, dict) else {}
    for entry in dataclasses.fields(ChatSettings):
        value = getattr(settings, entry.name)
        if value is None:
            kept.pop(entry.name, None)
        else:
            kept[entry.name] = value
    return json.dumps(kept)


def _number(raw: dict[str, Any], key: str, low: float, high: float) -> float | None:
    value = raw.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        return None
    return float(value)


def _whole(raw: dict[str, Any], key: str, low: int, high: int) -> int | None:
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high else None
