"""The invisible frame over one visible message: it holds the message's controls, its name for screen readers, and the
focus ring. The view paints the text itself; frames are recycled as messages scroll by. GUI thread."""

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QEnterEvent, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolButton, QWidget

from app.theme import RADIUS, Theme
from app.transcript.controls import ActionBar, AttachmentList, CodeChrome, FoldButton, NoticeBox, PrefillBar
from app.transcript.message_layout import MessageLayout
from app.transcript.model import MessageView, PrefillStatus, Role
from app.transcript.slots import Slot, SlotKind
from app.widgets import formats

_SPOKEN_CHARACTERS = 2_000
FRAME_MARGIN = 8  # the frame is wider than its message, so that flat buttons may stand out at the sides


def _tr(text: str) -> str:
    return QCoreApplication.translate("Transcript", text)


class MessageFrame(QWidget):
    """Controls of one message. Signals carry the message's id."""

    edit_requested = Signal(int)
    regenerate_requested = Signal(int)
    branch_requested = Signal(int)
    delete_requested = Signal(int)
    version_requested = Signal(int, int)
    document_requested = Signal(int)  # a document's id
    fold_toggled = Signal(int)
    expand_toggled = Signal(int)
    scrolled_sideways = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._layout: MessageLayout | None = None
        self.is_last = False
        self._is_hovered = False
        self.action_bar = ActionBar(theme, self)
        self._fold: FoldButton | None = None
        self._prefill: PrefillBar | None = None
        self._notice: NoticeBox | None = None
        self._attachments: AttachmentList | None = None
        self._show_all: QToolButton | None = None
        self._code: dict[tuple[int, int], CodeChrome] = {}
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.action_bar.edit_requested.connect(lambda: self._emit(self.edit_requested))
        self.action_bar.regenerate_requested.connect(lambda: self._emit(self.regenerate_requested))
        self.action_bar.branch_requested.connect(lambda: self._emit(self.branch_requested))
        self.action_bar.delete_requested.connect(lambda: self._emit(self.delete_requested))
        self.action_bar.version_requested.connect(self._on_version_requested)

    # ------------------------------------------------------------ content

    def bind(
        self,
        layout: MessageLayout,
        *,
        position: int,
        total: int,
        visible: tuple[float, float],
        theme: Theme,
    ) -> None:
        """Show the controls of `layout` at their places; code heads only within `visible` (message coordinates)."""
        self._layout = layout
        self.is_last = position == total
        if theme is not self._theme:
            self._theme = theme
            self.action_bar.set_theme(theme)
            for chrome in self._code.values():
                chrome.set_theme(theme)
        self._speak(layout.view, position, total)
        shown = {slot.kind for slot in layout.slots}
        for kind, widget in self._single_widgets():
            if kind not in shown:
                widget.hide()
        for slot in layout.slots:
            if slot.kind is not SlotKind.CODE:
                self._place(slot, layout)
        self._place_code(layout, visible)
        self._show_actions()

    def _speak(self, view: MessageView, position: int, total: int) -> None:
        who = _tr("Question {position} of {total}") if view.role is Role.USER else _tr("Answer {position} of {total}")
        self.setAccessibleName(who.format(position=position, total=total))
        self.setAccessibleDescription(view.text[:_SPOKEN_CHARACTERS])

    def _single_widgets(self) -> list[tuple[SlotKind, QWidget]]:
        pairs = (
            (SlotKind.FOLD, self._fold),
            (SlotKind.PREFILL, self._prefill),
            (SlotKind.NOTICE, self._notice),
            (SlotKind.ATTACHMENTS, self._attachments),
            (SlotKind.SHOW_ALL, self._show_all),
        )
        return [(kind, widget) for kind, widget in pairs if widget is not None]

    def _place(self, slot: Slot, layout: MessageLayout) -> None:
        widget: QWidget
        match slot.kind:
            case SlotKind.ACTIONS:
                widget = self.action_bar
            case SlotKind.FOLD:
                widget = self._fold_button(layout)
            case SlotKind.PREFILL:
                widget = self._prefill_bar(layout.view)
            case SlotKind.NOTICE:
                widget = self._notice_box(layout.view)
            case SlotKind.ATTACHMENTS:
                widget = self._attachment_list(layout.view)
            case _:
                widget = self._show_all_button(layout)
        rect = slot.rect.toAlignedRect().translated(FRAME_MARGIN, 0)
        if slot.kind in (SlotKind.FOLD, SlotKind.SHOW_ALL):
            rect.setWidth(min(rect.width(), widget.sizeHint().width()))
        widget.setGeometry(rect)
        widget.show()

    def _fold_button(self, layout: MessageLayout) -> QWidget:
        if self._fold is None:
            self._fold = FoldButton(self._theme, self)
            self._fold.clicked.connect(lambda: self._emit(self.fold_toggled))
        self._fold.show_message(layout.view, is_open=layout.is_fold_open, theme=self._theme)
        return self._fold

    def _prefill_bar(self, view: MessageView) -> QWidget:
        if self._prefill is None:
            self._prefill = PrefillBar(self._theme, self)
        self._prefill.show_status(view.prefill)
        return self._prefill

    def show_prefill(self, status: PrefillStatus) -> None:
        if self._prefill is not None:
            self._prefill.show_status(status)

    def _notice_box(self, view: MessageView) -> QWidget:
        if self._notice is None:
            self._notice = NoticeBox(self._theme, self)
            self._notice.retry_requested.connect(lambda: self._emit(self.regenerate_requested))
        self._notice.show_message(view)
        return self._notice

    def _attachment_list(self, view: MessageView) -> QWidget:
        if self._attachments is None:
            self._attachments = AttachmentList(self._theme, self)
            self._attachments.preview_requested.connect(self.document_requested)
        self._attachments.show_attachments(view.attachments, self._theme)
        return self._attachments

    def _show_all_button(self, layout: MessageLayout) -> QWidget:
        if self._show_all is None:
            self._show_all = QToolButton(self)
            self._show_all.setAutoRaise(True)
            self._show_all.setProperty("tone", "muted")
            self._show_all.clicked.connect(lambda: self._emit(self.expand_toggled))
        characters = formats.count(len(layout.view.text))
        more = _tr("Show all {count} characters").format(count=characters)
        self._show_all.setText(_tr("Show less") if layout.is_expanded else more)
        self._show_all.setAccessibleName(self._show_all.text())
        return self._show_all

    def _place_code(self, layout: MessageLayout, visible: tuple[float, float]) -> None:
        slots = {
            slot.key: slot
            for slot in layout.slots
            if slot.kind is SlotKind.CODE and slot.rect.top() < visible[1] and slot.rect.bottom() > visible[0]
        }
        for key in [key for key in self._code if key not in slots]:
            self._code.pop(key).discard()
        for key, slot in slots.items():
            if key not in self._code:
                chrome = CodeChrome(self._theme, self)
                chrome.scrolled.connect(self.scrolled_sideways)
                self._code[key] = chrome
            assert slot.block is not None
            self._code[key].show_block(slot.block, round(slot.rect.x()) + FRAME_MARGIN, round(slot.rect.y()))
            self._code[key].show()

    # ------------------------------------------------------------ actions, hover, focus

    @property
    def message_id(self) -> int:
        assert self._layout is not None
        return self._layout.view.id

    def focus_chain(self) -> list[QWidget]:
        """This frame and its controls, in the order that Tab should visit them."""
        controls: list[QWidget] = [widget for _, widget in self._single_widgets()]
        controls += [button for key in sorted(self._code) for button in self._code[key].findChildren(QToolButton)]
        controls += self.action_bar.findChildren(QToolButton)
        return [self, *controls]

    def set_hovered(self, hovered: bool) -> None:
        if hovered != self._is_hovered:
            self._is_hovered = hovered
            self._show_actions()

    def _show_actions(self) -> None:
        if self._layout is not None:
            near = self._is_hovered or self.is_last or self.hasFocus() or self._has_focus_inside()
            self.action_bar.show_message(self._layout.view, buttons=near)

    def _has_focus_inside(self) -> bool:
        focused = self.window().focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.set_hovered(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.set_hovered(False)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._show_actions()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._show_actions()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.accent), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)

    def _emit(self, signal: SignalInstance) -> None:
        signal.emit(self.message_id)

    def _on_version_requested(self, offset: int) -> None:
        self.version_requested.emit(self.message_id, offset)
