"""Choose a file to export a chat to, or to import chats from. GUI thread."""

import re
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.chat.models import ExportFormat
from app.chat.service import ChatService


def _tr(text: str) -> str:
    return QCoreApplication.translate("Exchange", text)


def file_name_for(title: str) -> str:
    """A file name made from a chat's title: no separators, not hidden, at most 60 characters."""
    cleaned = re.sub(r"[^\w\-. ]+", " ", title, flags=re.UNICODE)
    return re.sub(r"\s+", " ", cleaned).strip(" .")[:60].strip() or "chat"


def choose_and_export(parent: QWidget, chats: ChatService, chat_id: int, title: str) -> None:
    """Ask where to and as what, then export. A file is only replaced after a question."""
    markdown, as_json = _tr("Markdown (*.md)"), _tr("JSON (*.json)")
    name, chosen = str(Path.home() / f"{file_name_for(title)}.md"), markdown
    while True:
        name, chosen = QFileDialog.getSaveFileName(parent, _tr("Export chat"), name, f"{markdown};;{as_json}", chosen)
        if not name:
            return
        path, form = complete(Path(name), is_json=chosen == as_json)
        # The dialog asked about the name as it was typed.
        if path == Path(name) or not path.exists() or _may_replace(parent, path):
            chats.export_chat(chat_id, path, form)
            return


def complete(path: Path, *, is_json: bool) -> tuple[Path, ExportFormat]:
    """The file to write and its form: JSON where that was chosen or the name says so, else Markdown. A name without an
    ending gets that of the form, and the ending of the other form gives way to it."""
    if is_json or path.suffix.lower() == ".json":
        form, ending, other = ExportFormat.JSON, ".json", ".md"
    else:
        form, ending, other = ExportFormat.MARKDOWN, ".md", ".json"
    return path.with_suffix(ending) if path.suffix.lower() in ("", other) else path, form


def _may_replace(parent: QWidget, path: Path) -> bool:
    text = _tr("{file} is already there. Replace it?").format(file=path.name)
    return QMessageBox.question(parent, _tr("Export chat"), text) is QMessageBox.StandardButton.Yes


def choose_and_import(parent: QWidget, chats: ChatService) -> None:
    """Ask for a file of chats, then import it."""
    name, _ = QFileDialog.getOpenFileName(parent, _tr("Import chats"), str(Path.home()), _tr("Chats (*.json)"))
    if name:
        chats.import_chats(Path(name))
