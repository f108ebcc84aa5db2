"""The field a question is typed in: Enter sends, it grows with the text, long pastes and files are handed on.

A QPlainTextEdit, because it stays quick with a megabyte in it. GUI thread; owned by `Composer`.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

_LEAST_LINES = 1


class ComposerEdit(QPlainTextEdit):
    """Text of the question. `takes_paste` is asked for every pasted text; True means it became a document."""

    submitted = Signal()
    files_dropped = Signal(object)  # list[Path]
    recall_requested = Signal()  # Up in an empty field
    drag_changed = Signal(bool)
    focus_changed = Signal(bool)
    height_wanted = Signal()

    def __init__(self, takes_paste: Callable[[str], bool], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._takes_paste = takes_paste
        self.sends_with_ctrl = False
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(4)
        self.textChanged.connect(self.height_wanted)

    # ------------------------------------------------------------ height

    def wanted_height(self, limit: int) -> int:
        """Pixels for the whole text, at least one line, at most `limit`."""
        lines = max(_LEAST_LINES, round(self.document().size().height()))
        margin = 2 * self.document().documentMargin() + 2
        return min(limit, round(lines * QFontMetricsF(self.font()).lineSpacing() + margin))

    # ------------------------------------------------------------ keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._sends(event.modifiers()):
            self.submitted.emit()
            return
        if event.key() == Qt.Key.Key_Up and not event.modifiers() and self.document().isEmpty():
            self.recall_requested.emit()
            return
        super().keyPressEvent(event)

    def _sends(self, modifiers: Qt.KeyboardModifier) -> bool:
        relevant = modifiers & ~Qt.KeyboardModifier.KeypadModifier
        wanted = Qt.KeyboardModifier.ControlModifier if self.sends_with_ctrl else Qt.KeyboardModifier.NoModifier
        return relevant == wanted

    # ------------------------------------------------------------ paste and drop

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(_paths(source)) or source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = _paths(source)
        if paths:
            self.files_dropped.emit(paths)
            return
        text = source.text()
        if text and not self._takes_paste(text):
            self.insertPlainText(text)
            self.ensureCursorVisible()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _paths(event.mimeData()):
            event.acceptProposedAction()
            self.drag_changed.emit(True)
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if _paths(event.mimeData()):
            event.acceptProposedAction()
        else:
            super().dragMoveEvent(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drag_changed.emit(False)
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self.drag_changed.emit(False)
        paths = _paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.files_dropped.emit(paths)
        else:
            super().dropEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.focus_changed.emit(event.type() == QEvent.Type.FocusIn)
        return super().event(event)


def local_files(data: QMimeData) -> list[Path]:
    """The local files that a drag or a paste carries."""
    return _paths(data)


def _paths(data: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()] if data.hasUrls() else []
