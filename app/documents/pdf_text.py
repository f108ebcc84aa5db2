"""The text of a PDF, through pypdf. Documents thread.

The file is untrusted: any failure of the parser becomes one sentence. The parser is imported with the first PDF, so
that the window does not wait for it.
"""

import io
import logging
import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.errors import DocumentError

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 5000
MAX_CHARACTERS = 32_000_000
log = logging.getLogger("haloband.documents")
logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns about every small fault of every file


def extract(name: str, raw: bytes, stop: threading.Event) -> str:
    """Pages in order, separated by a blank line. Raises DocumentError. Ends early when `stop` is set."""
    try:
        from pypdf import PdfReader

        reader = PdfReader(io.BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(_tr("{name} is protected by a password.").format(name=name))
        count = len(reader.pages)
        if count > MAX_PAGES:
            raise DocumentError(
                _tr("{name} has {count} pages; at most {limit} can be read.").format(
                    name=name, count=f"{count:,}", limit=f"{MAX_PAGES:,}"
                )
            )
        text = "\n\n".join(_pages(name, reader, stop))
    except DocumentError:
        raise
    except Exception as error:  # a parser of damaged files may fail in any way, none of them ours
        log.info("pypdf: %s: %r", name, error)
        raise DocumentError(_tr("{name} is damaged or not a PDF that can be read.").format(name=name)) from error
    if not text and not stop.is_set():
        raise DocumentError(_tr("{name} has no text, only pictures; it would need text recognition.").format(name=name))
    return text


def _pages(name: str, reader: "PdfReader", stop: threading.Event) -> list[str]:
    pages: list[str] = []
    total = 0
    for page in reader.pages:
        if stop.is_set():
            break
        text = page.extract_text().strip()
        total += len(text)
        if total > MAX_CHARACTERS:
            raise DocumentError(
                _tr("{name} has more than {limit} characters.").format(name=name, limit=f"{MAX_CHARACTERS:,}")
            )
        if text:
            pages.append(text)
    return pages


def _tr(text: str) -> str:
    return QCoreApplication.translate("Documents", text)
