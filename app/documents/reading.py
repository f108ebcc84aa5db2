"""From a file to its whole text, with limits and one clear sentence for everything that cannot be read.

Blocking and possibly slow: ChatService calls it on the documents thread. `stop` ends a long PDF between its pages.
"""

import os
import stat
import threading
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.documents import docx_text, pdf_text, plain_text
from app.errors import DocumentError

MAX_FILE_BYTES = 64 << 20
MAX_CHARACTERS = 32_000_000
_PDF_MARK = b"%PDF-"
_ZIP_MARK = b"PK\x03\x04"
_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document's name, whole text, and the size of its file in bytes."""

    name: str
    text: str
    size_bytes: int


class ReadingStoppedError(Exception):
    """The person took the document away while it was read."""


def read_document(path: Path, stop: threading.Event | None = None) -> ReadDocument:
    """Read a text, source, Markdown, PDF or DOCX file. Raises DocumentError, or ReadingStoppedError."""
    stop = stop or threading.Event()
    name = path.name or str(path)
    raw = _read_bytes(path, name)
    text = _text_of(name, path.suffix.lower(), raw, stop)
    if stop.is_set():
        raise ReadingStoppedError
    if not text.strip():
        raise DocumentError(_tr("{name} has no text in it.").format(name=name))
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(
            _tr("{name} has {count} characters; at most {limit} can be read.").format(
                name=name, count=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"
            )
        )
    return ReadDocument(name, text, len(raw))


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        with open(path, "rb", opener=_open_plain) as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise DocumentError(_tr("{name} is not a file.").format(name=name))
            raw = file.read(MAX_FILE_BYTES + 1)
    except IsADirectoryError:
        raise DocumentError(_tr("{name} is a folder; add the files in it.").format(name=name)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(_tr("{name} cannot be read: {reason}.").format(name=name, reason=reason)) from error
    if len(raw) > MAX_FILE_BYTES:
        raise DocumentError(_tr("{name} is larger than {limit} MiB.").format(name=name, limit=MAX_FILE_BYTES >> 20))
    if not raw:
        raise DocumentError(_tr("{name} is empty.").format(name=name))
    return raw


def _open_plain(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe would block for ever; on a file this changes nothing


def _text_of(name: str, suffix: str, raw: bytes, stop: threading.Event) -> str:
    if _PDF_MARK in raw[:1024]:
        return pdf_text.extract(name, raw, stop)
    if raw.startswith(_ZIP_MARK) and (suffix in (".docx", ".docm") or docx_text.is_docx(raw)):
        return docx_text.extract(name, raw)
    if raw.startswith(_OLE_MARK):
        raise DocumentError(_tr("{name} is in an old Office format; save it as .docx or text first.").format(name=name))
    return plain_text.decode(name, raw)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Documents", text)
