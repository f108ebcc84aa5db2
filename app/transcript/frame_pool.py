"""Recycles the frames that hold the controls of visible messages, gathers their signals and orders them for Tab. GUI
thread; owned by the view."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.transcript.message_frame import MessageFrame

_SPARE = 12


class FramePool(QObject):
    """Frames by message id."""

    edit_requested = Signal(int)
    regenerate_requested = Signal(int)
    branch_requested = Signal(int)
    delete_requested = Signal(int)
    version_requested = Signal(int, int)
    document_requested = Signal(int)
    fold_toggled = Signal(int)
    expand_toggled = Signal(int)
    scrolled_sideways = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._used: dict[int, MessageFrame] = {}
        self._spare: list[MessageFrame] = []
        self._focus_order: tuple[int, ...] = ()

    def frame(self, message_id: int, parent: QWidget, theme: Theme) -> MessageFrame:
        """The frame of a message: its own, a spare one, or a new one."""
        frame = self._used.get(message_id)
        if frame is None:
            frame = self._spare.pop() if self._spare else self._make(parent, theme)
            self._used[message_id] = frame
        return frame

    def existing(self, message_id: int) -> MessageFrame | None:
        return self._used.get(message_id)

    def keep(self, message_ids: set[int]) -> None:
        """Put away the frames of all other messages."""
        for message_id in [key for key in self._used if key not in message_ids]:
            frame = self._used.pop(message_id)
            frame.hide()
            if len(self._spare) < _SPARE:
                self._spare.append(frame)
            else:
                frame.deleteLater()

    def clear(self) -> None:
        self.keep(set())

    def order_focus(self, view: QWidget, message_ids: Sequence[int]) -> None:
        """Let Tab go from the view through these messages, top to bottom; new widgets would come last in the window."""
        shown = tuple(message_ids)
        if shown == self._focus_order:
            return
        self._focus_order = shown
        before = view
        for message_id in shown:
            frame = self._used.get(message_id)
            for widget in frame.focus_chain() if frame is not None else ():
                QWidget.setTabOrder(before, widget)
                before = widget

    def _make(self, parent: QWidget, theme: Theme) -> MessageFrame:
        frame = MessageFrame(theme, parent)
        frame.edit_requested.connect(self.edit_requested)
        frame.regenerate_requested.connect(self.regenerate_requested)
        frame.branch_requested.connect(self.branch_requested)
        frame.delete_requested.connect(self.delete_requested)
        frame.version_requested.connect(self.version_requested)
        frame.document_requested.connect(self.document_requested)
        frame.fold_toggled.connect(self.fold_toggled)
        frame.expand_toggled.connect(self.expand_toggled)
        frame.scrolled_sideways.connect(self.scrolled_sideways)
        return frame
