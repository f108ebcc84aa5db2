"""Files to chats: our own JSON, and OpenAI-style message lists (one JSON value, or one on each line).

The file is untrusted: every value is checked for type, range and size before anything is stored, and an error names
the place. `read_chats` runs on the documents thread, `store_chat` on the store's thread, so that the text of a running
answer is saved between two of them.
"""

import json
import math
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.chat.exchange_checks import Place, own_chat
from app.chat.exchange_format import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MAX_CHATS,
    MAX_FILE_BYTES,
    MAX_MESSAGES,
    ImportedChat,
    ImportedMessage,
)
from app.chat.models import Role
from app.chat.titles import title_from_question
from app.errors import ExchangeError
from app.store import chats, documents, messages
from app.store.documents import NewDocument
from app.store.messages import AnswerEnd

_SYSTEM_ROLES = frozenset({"system", "developer"})


def read_chats(path: Path) -> tuple[ImportedChat, ...]:
    """The chats of a file, checked. Raises ExchangeError."""
    name = path.name
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ExchangeError(_tr("{name} cannot be read: {reason}.").format(name=name, reason=error.strerror)) from error
    if len(raw) > MAX_FILE_BYTES:
        raise ExchangeError(_tr("{name} is larger than {limit} MiB.").format(name=name, limit=MAX_FILE_BYTES >> 20))
    found = tuple(chat for chat in _chats_of(_parse(name, raw), Place(name)) if chat.messages)
    if not found:
        raise ExchangeError(_tr("{name} has no messages in it.").format(name=name))
    if len(found) > MAX_CHATS or sum(len(chat.messages) for chat in found) > MAX_MESSAGES:
        raise ExchangeError(
            _tr("{name} has more than {chats} chats or {messages} messages.").format(
                name=name, chats=f"{MAX_CHATS:,}", messages=f"{MAX_MESSAGES:,}"
            )
        )
    return found


def _parse(name: str, raw: bytes) -> list[Any]:
    """The JSON values of the file: one, or one a line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExchangeError(
            _tr("{name} is not JSON: byte {place} is not UTF-8.").format(name=name, place=f"{error.start:,}")
        ) from error
    try:
        return [_loads(text)]
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith("{") and lines[0].rstrip().endswith("}"):
            return [_parse_line(name, number, line) for number, line in enumerate(lines, start=1)]
        raise ExchangeError(_tr("{name} is not JSON: {reason}.").format(name=name, reason=error)) from error
    except RecursionError as error:
        raise ExchangeError(_tr("{name} is nested too deeply.").format(name=name)) from error


def _parse_line(name: str, number: int, line: str) -> Any:
    try:
        return _loads(line)
    except (ValueError, RecursionError) as error:
        raise ExchangeError(
            _tr("{name}, line {number} is not JSON: {reason}.").format(name=name, number=number, reason=error)
        ) from error


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant, parse_int=_bounded_int)


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


def _bounded_int(text: str) -> int | float:
    return int(text) if len(text) <= 20 else math.inf  # no number in a chat is longer; int() of a long one is slow


def _chats_of(values: list[Any], place: Place) -> Iterable[ImportedChat]:
    for number, value in enumerate(values, start=1):
        where = place if len(values) == 1 else place.inside(f"line {number}")
        if isinstance(value, dict) and "format" in value:
            yield from _own_chats(value, where)
        elif isinstance(value, dict) and "messages" in value:
            yield _openai_chat(where.field(value, "messages", list), where, value.get("title"))
        elif (
            isinstance(value, list)
            and value
            and all(isinstance(entry, dict) and "messages" in entry for entry in value)
        ):
            for index, entry in enumerate(value, start=1):
                chat_place = where.inside(f"chat {index}")
                yield _openai_chat(chat_place.field(entry, "messages", list), chat_place, entry.get("title"))
        elif isinstance(value, list):
            yield _openai_chat(value, where, None)
        else:
            raise where.error(_tr("this is neither a Haloband export nor a list of messages"))


def _is_list_of_chats(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, dict) and "messages" in e for e in value)


def _own_chats(value: dict[str, Any], place: Place) -> Iterable[ImportedChat]:
    if value["format"] != FORMAT_NAME:
        raise place.error(_tr("its format is not {name}").format(name=FORMAT_NAME))
    version = place.field(value, "version", int)
    if version != FORMAT_VERSION:
        raise place.error(
            _tr("it has version {version}; this Haloband reads version {own}").format(
                version=version, own=FORMAT_VERSION
            )
        )
    for number, chat in enumerate(place.field(value, "chats", list), start=1):
        yield own_chat(chat, place.inside(f"chat {number}"))


def _openai_chat(entries: list[Any], place: Place, title: object) -> ImportedChat:
    """A straight line of messages; system messages become the system prompt."""
    system: list[str] = []
    found: list[ImportedMessage] = []
    for number, entry in enumerate(entries, start=1):
        where = place.inside(f"message {number}")
        role = where.field(where.is_object(entry), "role", str)
        text = _openai_text(entry.get("content"), where)
        if role in _SYSTEM_ROLES:
            system.append(text)
        elif role in ("user", "assistant"):
            reasoning = entry.get("reasoning_content")
            found.append(
                ImportedMessage(
                    Role(role),
                    text,
                    len(found) - 1 if found else None,
                    reasoning=where.text(reasoning) if isinstance(reasoning, str) else "",
                )
            )
        else:
            raise where.error(_tr("the role {role!r} is not known").format(role=role[:40]))
    named = place.text(title) if isinstance(title, str) else ""
    question = next((message.text for message in found if message.role is Role.USER), "")
    return ImportedChat(
        tuple(found),
        title=named or title_from_question(question),
        title_is_manual=bool(named),
        system_prompt="\n\n".join(system) if system else None,
    )


def _openai_text(content: Any, place: Place) -> str:
    """A message's text: a string, or a list of parts of which all are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return place.text(content)
    if not isinstance(content, list):
        raise place.error(_tr("content should be a text or a list of parts"))
    parts: list[str] = []
    for number, part in enumerate(content, start=1):
        where = place.inside(f"part {number}")
        kind = where.field(where.is_object(part), "type", str)
        if kind not in ("text", "input_text", "output_text"):
            raise where.error(_tr("only text can be imported, not {kind!r}").format(kind=kind[:40]))
        parts.append(where.text(where.field(part, "text", str)))
    return "\n".join(parts)


def store_chat(db: sqlite3.Connection, chat: ImportedChat) -> int:
    """Store one checked chat in one transaction; returns its id."""
    chat_id = chats.create_chat(db, chat.title, created_at=chat.created_at)
    if chat.title_is_manual:
        chats.set_title(db, chat_id, chat.title, manual=True)
    chats.set_pinned(db, chat_id, chat.pinned)
    chats.set_system_prompt(db, chat_id, chat.system_prompt)
    chats.set_settings(db, chat_id, chat.settings)
    ids: list[int] = []
    for message in chat.messages:
        parent_id = None if message.parent is None else ids[message.parent]
        message_id = messages.add_message(
            db, chat_id, parent_id, message.role, message.text, created_at=message.created_at, model=message.model
        )
        ids.append(message_id)
        if message.role is Role.ASSISTANT:
            messages.finish_answer(db, message_id, _end_of(message))
        for name, text in message.documents:
            documents.add_document(db, chat_id, NewDocument(name, text, len(text.encode(errors="replace"))), message_id)
    for message_id, message in zip(ids, chat.messages, strict=True):
        if message.is_selected:
            messages.select(db, message_id)
    return chat_id


def _end_of(message: ImportedMessage) -> AnswerEnd:
    return AnswerEnd(
        message.state,
        message.text,
        message.reasoning,
        message.finish_reason,
        message.usage,
        message.timings,
        message.reasoning_s,
        message.reasoning_tokens,
        message.error,
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Exchange", text)
