"""Colours one code document in slices, so that long code never holds the GUI thread. GUI thread, owned by CodeLayout.

A pass walks pygments' lazy token stream for a few milliseconds at a time. A later pass over longer code touches only
the stretches whose colour differs from the pass before.
"""

import time
from collections.abc import Iterator

from PySide6.QtGui import QColor, QTextCursor, QTextDocument

from app.transcript.highlight import coloured_spans
from app.transcript.text_style import TextStyle

_CHECK_EVERY = 32  # tokens between looks at the clock


class CodeHighlighter:
    """State of the colouring of one document."""

    def __init__(self) -> None:
        self._spans: Iterator[tuple[int, int, str | None]] | None = None
        self._applied: list[tuple[int, int, str | None]] = []
        self._at = 0
        self._units: list[int] | None = None
        self._code = ""

    @property
    def is_done(self) -> bool:
        return self._spans is None

    def start(self, code: str, language: str, style: TextStyle) -> None:
        """Begin a pass over `code`, which the document already holds."""
        self._code = code
        self._units = utf16_offsets(code)
        self._spans = coloured_spans(code, language, style.theme.code)
        self._at = 0

    def covers(self, code: str) -> bool:
        """True if the running or last pass was over this very code."""
        return self._code == code

    def step(self, document: QTextDocument, style: TextStyle, budget_s: float) -> bool:
        """Colour for about `budget_s` seconds. True when the pass is done."""
        if self._spans is None:
            return True
        deadline = time.monotonic() + budget_s
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for count, span in enumerate(self._spans, start=1):
            self._take(span, cursor, style)
            if count % _CHECK_EVERY == 0 and time.monotonic() > deadline:
                break
        else:
            self._spans = None
            del self._applied[self._at :]
        cursor.endEditBlock()
        return self._spans is None

    def _take(self, span: tuple[int, int, str | None], cursor: QTextCursor, style: TextStyle) -> None:
        is_new = self._at >= len(self._applied)
        if is_new or self._applied[self._at] != span:
            if not is_new:
                self._applied[self._at] = span
            else:
                self._applied.append(span)
            if not (is_new and span[2] is None):
                self._colour(span, cursor, style)
        self._at += 1

    def _colour(self, span: tuple[int, int, str | None], cursor: QTextCursor, style: TextStyle) -> None:
        start, length, colour = span
        units = self._units
        first, last = (start, start + length) if units is None else (units[start], units[start + length])
        cursor.setPosition(first)
        cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        look = style.code_format()
        if colour is not None:
            look.setForeground(QColor(colour))
        cursor.setCharFormat(look)


def utf16_offsets(text: str) -> list[int] | None:
    """UTF-16 offset of every character and of the end; None if all are one unit and no map is needed."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + (2 if character > "\uffff" else 1))
    return offsets
