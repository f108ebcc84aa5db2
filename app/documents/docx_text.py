"""The text of a DOCX file, through python-docx: headings, paragraphs and tables in order. Documents thread.

The file is untrusted: what it would unpack to is measured first, and any failure of the parser is one sentence.
"""

import io
import logging
import zipfile
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.errors import DocumentError

MAX_UNPACKED_BYTES = 256 << 20
_MAIN_PART = "word/document.xml"
log = logging.getLogger("haloband.documents")


def is_docx(raw: bytes) -> bool:
    """Whether a zip file holds a Word document."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return _MAIN_PART in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def extract(name: str, raw: bytes) -> str:
    """Paragraphs on lines of their own, headings as Markdown, table rows with bars. Raises DocumentError."""
    import docx  # here: lxml takes a while to import, and few questions carry a Word file

    try:
        _check_size(name, raw)
        return "\n".join(_lines(docx.Document(io.BytesIO(raw))))
    except DocumentError:
        raise
    except Exception as error:  # a parser of damaged files may fail in any way, none of them ours
        log.info("python-docx: %s: %r", name, error)
        raise DocumentError(_tr("{name} is damaged or not a Word file that can be read.").format(name=name)) from error


def _check_size(name: str, raw: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
        if any(part.flag_bits & 1 for part in archive.infolist()):
            raise DocumentError(_tr("{name} is protected by a password.").format(name=name))
    if unpacked > MAX_UNPACKED_BYTES:
        raise DocumentError(
            _tr("{name} would unpack to more than {limit} MiB.").format(name=name, limit=MAX_UNPACKED_BYTES >> 20)
        )


def _lines(container: Any) -> Iterator[str]:  # Any: python-docx has no types
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            yield from _table_lines(block)
        else:
            yield _heading_mark(block) + block.text


def _table_lines(table: Any) -> Iterator[str]:
    for row in table.rows:
        cells: list[str] = []
        seen: list[object] = []
        for cell in row.cells:  # a merged cell is listed once for each column it spans
            if cell._tc not in seen:
                seen.append(cell._tc)
                cells.append(" ".join(cell.text.split()))
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _heading_mark(paragraph: Any) -> str:
    style = paragraph.style.name if paragraph.style is not None else ""
    level = style.removeprefix("Heading ") if style and style.startswith("Heading ") else ""
    return "#" * min(int(level), 6) + " " if level.isdigit() and level != "0" else ""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Documents", text)
