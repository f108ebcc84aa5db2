"""The composer at the foot of a chat: the card with chips, field, meter and the one main button. GUI thread.

It shows what `ChatService` says (draft, documents, budget, state) and reports what the person does; it decides nothing
about whether a question fits or a paste is long. While an earlier question is changed, the draft and its documents wait
out of sight.
"""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.chat.budget import ContextBudget, FitOption, SendRefused
from app.chat.editable import is_editable
from app.chat.models import NoticeLevel, PendingDocuments
from app.composer.chips import ChipList
from app.composer.editor import ComposerEdit
from app.composer.fit_words import option_words
from app.composer.meter import ContextMeter
from app.generation import GenerationState, PrimaryAction, controls, is_busy
from app.theme import Theme
from app.widgets.banner import Banner
from app.widgets.basics import IconButton, restyle
from app.widgets.icons import icon

_SIDE_MARGIN = 24
_LOW_WINDOW = 640  # pixels; below, the field leaves more of the height to the rest


def _tr(text: str) -> str:
    return QCoreApplication.translate("Composer", text)


class Composer(QWidget):
    """Signals say what the person wants; setters show what is."""

    send_requested = Signal(object)  # FitOption or None
    stop_requested = Signal()
    edit_submitted = Signal(int, str, object)  # message id, changed question, FitOption or None
    recall_requested = Signal()
    draft_changed = Signal(str)
    files_chosen = Signal(object)  # list[Path]
    attach_requested = Signal()
    document_removed = Signal(int)
    document_inserted = Signal(int)
    document_previewed = Signal(int)

    def __init__(self, takes_paste: Callable[[str], bool], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._makes_document = takes_paste
        self._state = GenerationState.IDLE
        self._budget: ContextBudget | None = None
        self._has_documents = False
        self._edited_id: int | None = None
        self._draft_before_edit = ""
        self._refused: SendRefused | None = None
        self._changed_since = False  # the question, since it was refused
        self._is_setting = False
        self._has_refused_documents = False
        self.refusal = Banner(theme)
        self.editing = Banner(theme)
        self.chips = ChipList(theme)
        self.field = ComposerEdit(self._takes_paste)
        self.meter = ContextMeter(theme)
        self.attach_button = IconButton("attach", _tr("Add documents"), theme)
        self.primary_button = QToolButton()
        self._card = QFrame()
        self._column = QVBoxLayout(self)
        self._build()
        self._connect()
        QWidget.setTabOrder(self.field, self.attach_button)
        QWidget.setTabOrder(self.attach_button, self.primary_button)
        self._refresh()

    def _build(self) -> None:
        self._card.setObjectName("composerCard")
        self.field.setPlaceholderText(_tr("Ask something, or paste or drop a document"))
        self.field.setAccessibleName(_tr("Question"))
        self.primary_button.setProperty("kind", "primary")
        self.primary_button.setIconSize(QSize(18, 18))
        self.primary_button.setFixedSize(QSize(36, 32))
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.attach_button)
        foot.addStretch(1)
        foot.addWidget(self.meter)
        foot.addWidget(self.primary_button)
        card = QVBoxLayout(self._card)
        card.setContentsMargins(10, 8, 8, 8)
        card.setSpacing(4)
        card.addWidget(self.chips)
        card.addWidget(self.field)
        card.addLayout(foot)
        column = self._column
        column.setContentsMargins(_SIDE_MARGIN, 4, _SIDE_MARGIN, 16)
        column.setSpacing(8)
        for widget in (self.refusal, self.editing, self._card):
            column.addWidget(widget)

    def _connect(self) -> None:
        self.field.submitted.connect(self._on_submitted)
        self.field.textChanged.connect(self._on_text_changed)
        self.field.height_wanted.connect(self._fit_height)
        self.field.files_dropped.connect(self.files_chosen)
        self.field.recall_requested.connect(self.recall_requested)
        self.field.focus_changed.connect(lambda on: self._mark("focused", on))
        self.field.drag_changed.connect(lambda on: self._mark("dropping", on))
        self.attach_button.clicked.connect(self.attach_requested)
        self.primary_button.clicked.connect(self._on_primary_clicked)
        self.chips.remove_requested.connect(self.document_removed)
        self.chips.insert_requested.connect(self.document_inserted)
        self.chips.preview_requested.connect(self.document_previewed)
        self.editing.dismissed.connect(self.end_edit)

    # ------------------------------------------------------------ what is shown

    def set_state(self, state: GenerationState) -> None:
        self._state = state
        if is_busy(state):
            self.refusal.hide()  # what is being answered was not refused
        self._refresh()

    def set_budget(self, budget: ContextBudget | None) -> None:
        self._budget = budget
        self.meter.show_budget(budget)
        if budget is not None and self._fits_now(budget):
            self.refusal.hide()

    def _fits_now(self, budget: ContextBudget) -> bool:
        """True if what was refused fits by now: the person changed it or the context since. A budget that comes without
        that is of an older count."""
        refused = self._refused
        if refused is None or not refused.is_of_draft or budget.used is None or not budget.fits:
            return False
        return self._changed_since or budget.context != refused.budget.context

    def set_margins(self, left: int, right: int) -> None:
        """Where the card stands between the edges of the page."""
        self._column.setContentsMargins(left, 4, right, 16)

    def set_documents(self, pending: PendingDocuments) -> None:
        self._changed_since = True
        self._has_documents = bool(pending.documents)
        self.chips.show_documents(pending.documents)
        self._refresh()

    def set_draft(self, text: str) -> None:
        """Show a stored draft. Does not report it back."""
        self._is_setting = True
        self.field.setPlainText(text)
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)
        self._is_setting = False
        self._fit_height()
        self._refresh()

    def take_draft(self, text: str) -> None:
        """The service changed the draft: show it now, or when the edit that stands before it ends."""
        if self._edited_id is not None:
            self._draft_before_edit = text
        elif text != self.field.toPlainText():
            self.set_draft(text)

    def show_refusal(self, refused: SendRefused) -> None:
        self._refused, self._changed_since = refused, False
        actions = tuple((option_words(option), self._chooser(refused, option)) for option in refused.options)
        self.refusal.show_text(NoticeLevel.WARNING, refused.message, actions)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for widget in (self.refusal, self.editing, self.chips, self.meter):
            widget.set_theme(theme)
        self.attach_button.set_theme(theme)
        self._refresh()
        self._fit_height()

    # ------------------------------------------------------------ editing an earlier question

    @property
    def edited_message_id(self) -> int | None:
        return self._edited_id

    def begin_edit(self, message_id: int, text: str) -> None:
        """Change an earlier question; the draft comes back afterwards."""
        if self._edited_id is None:
            self._draft_before_edit = self.field.toPlainText()
        self._edited_id = message_id
        self._show_editing()
        self._show_what_waits(False)
        self.set_draft(text)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._refresh()

    def end_edit_of(self, message_id: int, text: str) -> None:
        """A changed question is stored beside this one. What was changed since stays in the field."""
        self.refusal.hide()
        if self._edited_id == message_id and self.field.toPlainText() == text:
            self.end_edit()

    def end_edit(self) -> None:
        if self._edited_id is None:
            return
        self._edited_id = None
        self.editing.hide()
        self._show_what_waits(True)
        if self._refused is not None and not self._refused.is_of_draft:
            self.refusal.hide()
        self.set_draft(self._draft_before_edit)
        self._draft_before_edit = ""

    def _show_what_waits(self, on: bool) -> None:
        """The documents of the draft, and the meter, which counts the draft and not the question that is changed."""
        self.chips.set_away(not on)
        self.meter.setVisible(on)

    def _show_editing(self) -> None:
        self._has_refused_documents = False
        self.editing.show_text(NoticeLevel.INFO, _tr("Editing an earlier question. The old one stays reachable."))

    def refuse_documents(self) -> None:
        """Say why what was dropped or pasted now is not taken, until the person goes on writing."""
        self._has_refused_documents = True
        reason = _tr("An earlier question takes no new documents. Send them with a new question.")
        self.editing.show_text(NoticeLevel.WARNING, reason)

    def _takes_paste(self, text: str) -> bool:
        if self._edited_id is None:
            return self._makes_document(text)
        if is_editable(text):
            return False  # a document would wait with the draft; the text belongs to the question that is changed
        self.refuse_documents()
        return True

    def _chooser(self, refused: SendRefused, option: FitOption) -> Callable[[], None]:
        def choose() -> None:
            self.refusal.hide()
            if self._edited_id is not None and self._edited_id == refused.edits:
                self._submit_edit(self._edited_id, option)  # as it is now: it may have been changed since
            else:
                self.send_requested.emit(option)

        return choose

    def _has_input(self) -> bool:
        return (self._has_documents and self._edited_id is None) or not self.field.document().isEmpty()

    def _refresh(self) -> None:
        now = controls(self._state, has_input=self._has_input())
        sends = now.primary is PrimaryAction.SEND
        name = _tr("Stop") if not sends else _tr("Ask again") if self._edited_id is not None else _tr("Send")
        self.primary_button.setAccessibleName(name)
        self.primary_button.setToolTip(name if sends else _tr("Stop (Esc)"))
        colour = self._theme.on_accent if now.primary_is_enabled else self._theme.muted
        self.primary_button.setIcon(icon("send" if sends else "stop", self._theme, colour))
        self.primary_button.setEnabled(now.primary_is_enabled)

    def _on_text_changed(self) -> None:
        self._refresh()
        if self._is_setting:
            return
        if self._edited_id is None:
            self._changed_since = True
            self.draft_changed.emit(self.field.toPlainText())
        elif self._has_refused_documents:
            self._show_editing()

    def _on_primary_clicked(self) -> None:
        if controls(self._state, has_input=True).primary is PrimaryAction.STOP:
            self.stop_requested.emit()
        else:
            self._on_submitted()

    def _on_submitted(self) -> None:
        if self._edited_id is not None:
            self._submit_edit(self._edited_id, None)
            return
        now = controls(self._state, has_input=self._has_input())
        if now.primary is PrimaryAction.SEND and now.primary_is_enabled:
            self.send_requested.emit(None)

    def _submit_edit(self, message_id: int, option: FitOption | None) -> None:
        text = self.field.toPlainText()
        if text.strip():  # it stays in the field until it is stored: it may be refused
            self.edit_submitted.emit(message_id, text, option)

    def _mark(self, name: str, on: bool) -> None:
        self._card.setProperty(name, on)
        restyle(self._card)

    def _fit_height(self) -> None:
        height = self.window().height()
        self.chips.set_limit(height // 6)
        limit = max(60, height // 3 if height > _LOW_WINDOW else height // 6)
        self.field.setFixedHeight(self.field.wanted_height(limit))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()
