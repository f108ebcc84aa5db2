"""Chats to files: Markdown of the shown branch for people, JSON of everything for another Haloband.

Reads on the store's reading thread and writes the file there; nothing is written unless the whole text is ready.
"""

import dataclasses
import json
import re
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.chat.exchange_format import FORMAT_NAME, FORMAT_VERSION
from app.chat.models import Chat, ExportFormat, Message, MessageState, Role
from app.errors import ExchangeError
from app.files import why_not_written, write_atomic
from app.sentences import translated
from app.store import chats, documents, messages

_FENCE = re.compile(r"`{3,}")


def export_chat(db: sqlite3.Connection, chat_id: int, path: Path, form: ExportFormat) -> Path:
    """Write one chat to `path`. Raises ExchangeError (the file), StoreError, or MissingRowError."""
    render: Callable[[sqlite3.Connection, int], str] = chat_markdown if form is ExportFormat.MARKDOWN else chat_json
    text = render(db, chat_id)
    try:
        write_atomic(path, text.encode())
    except OSError as error:
        sentence = QCoreApplication.translate("Exchange", "{path} was not written: {reason}.")
        raise ExchangeError(sentence.format(path=path, reason=translated(why_not_written(error)))) from error
    return path


# ---- JSON


def chat_json(db: sqlite3.Connection, chat_id: int) -> str:
    """One chat with all its versions."""
    whole = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "chats": [_chat_object(db, chats.load_chat(db, chat_id))],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _chat_object(db: sqlite3.Connection, chat: Chat) -> dict[str, object]:
    found = messages.all_messages(db, chat.id)
    selected = messages.selected_ids(db, chat.id)
    return {
        "title": chat.title,
        "title_is_manual": chat.title_is_manual,
        "pinned": chat.pinned,
        "created_at": chat.created_at,
        "system_prompt": chat.system_prompt,
        "settings": _without_none(dataclasses.asdict(chat.settings)),
        "messages": [_message_object(db, message, message.id in selected) for message in found],
    }


def _message_object(db: sqlite3.Connection, message: Message, is_selected: bool) -> dict[str, object]:
    streaming = message.state is MessageState.STREAMING  # in the file it has ended where it is now
    attached = [{"name": name, "text": text} for name, text in documents.texts_of_message(db, message.id)]
    whole = {
        "id": message.id,
        "parent": message.parent_id,
        "selected": is_selected,
        "role": message.role.value,
        "text": message.text,
        "reasoning": message.reasoning or None,
        "state": MessageState.INTERRUPTED.value if streaming else message.state.value,
        "created_at": message.created_at,
        "model": message.model or None,
        "error": message.error or None,
        "finish_reason": message.finish_reason.value if message.finish_reason else None,
        "usage": dataclasses.asdict(message.usage) if message.usage else None,
        "timings": _without_none(dataclasses.asdict(message.timings)) if message.timings else None,
        "reasoning_s": message.reasoning_s,
        "reasoning_tokens": message.reasoning_tokens or None,
        "documents": attached or None,
    }
    return {key: value for key, value in whole.items() if value is not None or key == "parent"}


def _without_none(values: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


# ---- Markdown


def chat_markdown(db: sqlite3.Connection, chat_id: int) -> str:
    """The shown branch: a heading for each message, documents in fences, thinking in a quote."""
    opened = messages.open_chat(db, chat_id)
    parts = [f"# {opened.chat.title or _tr('Chat')}"]
    if opened.chat.system_prompt:
        parts.append(f"## {_tr('System prompt')}\n\n{opened.chat.system_prompt}")
    for message in opened.messages:
        parts.append(_message_markdown(db, message))
    return "\n\n".join(parts) + "\n"


def _message_markdown(db: sqlite3.Connection, message: Message) -> str:
    who = _tr("You") if message.role is Role.USER else message.model or _tr("Answer")
    when = datetime.fromtimestamp(message.created_at).strftime("%Y-%m-%d %H:%M")
    parts = [f"## {who} ({when})"]
    for name, text in documents.texts_of_message(db, message.id):
        fence = _longer_fence(text)
        parts.append(f"{_tr('Document: {name}').format(name=name)}\n\n{fence}\n{text}\n{fence}")
    if message.reasoning:
        quoted = "\n".join(f"> {line}" for line in message.reasoning.splitlines())
        parts.append(f"> {_tr('Thinking')}\n>\n{quoted}")
    if message.text:
        parts.append(message.text)
    if message.state is not MessageState.COMPLETE:
        parts.append(f"*{_state_words(message)}*")
    return "\n\n".join(parts)


def _state_words(message: Message) -> str:
    words = {
        MessageState.STREAMING: _tr("still being answered"),
        MessageState.STOPPED: _tr("stopped"),
        MessageState.FAILED: _tr("failed"),
        MessageState.INTERRUPTED: _tr("interrupted"),
    }[message.state]
    return f"{words}: {translated(message.error)}" if message.error else words


def _longer_fence(text: str) -> str:
    """A fence that no line of the text can close."""
    return "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])


def _tr(text: str) -> str:
    return QCoreApplication.translate("Exchange", text)
