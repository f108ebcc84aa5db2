"""Choose a file to export a chat to, or to import chats from. GUI thread."""

import re
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chat.models import ExportFormat
from app.chat.service import ChatService


def _tr(text: str) -> str:
    return QCoreApplication.translate("Exchange", text)


def file_name_for(title: str) -> str:
    """A file name made from a chat's title: no separators, not hidden, at most 60 characters."""
    cleaned = re.sub(r"[^\w\-. ]+", " ", title, flags=re.UNICODE)
    return re.sub(r"\s+", " ", cleaned).strip(" .")[:60].strip() or "chat"


def choose_and_export(parent: QWidget, chats: ChatService, chat_id: int, title: str) -> None:
    """Ask where to and as what, then export."""
    markdown, as_json = _tr("Markdown (*.md)"), _tr("JSON (*.json)")
    suggested = str(Path.home() / f"{file_name_for(title)}.md")
    name, chosen = QFileDialog.getSaveFileName(parent, _tr("Export chat"), suggested, f"{markdown};;{as_json}")
    if not name:
        return
    path = Path(name)
    is_json = path.suffix.lower() == ".json" or (chosen == as_json and not path.suffix)
    if not path.suffix:
        path = path.with_suffix(".json" if is_json else ".md")
    chats.export_chat(chat_id, path, ExportFormat.JSON if is_json else ExportFormat.MARKDOWN)


def choose_and_import(parent: QWidget, chats: ChatService) -> None:
    """Ask for a file of chats, then import it."""
    name, _ = QFileDialog.getOpenFileName(parent, _tr("Import chats"), str(Path.home()), _tr("Chats (*.json)"))
    if name:
        chats.import_chats(Path(name))
