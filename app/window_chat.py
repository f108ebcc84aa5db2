"""The chat in the middle of the window: banners, transcript, composer, and the wires between them and `ChatService`;
those of the composer are in window_composing.py. GUI thread."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chat.models import (
    Chat,
    ChatStatus,
    Message,
    MessageState,
    OpenChat,
    Role,
    TextDelta,
)
from app.chat.service import ChatService
from app.composer.composer import Composer
from app.generation import ANNOUNCEMENTS, GenerationState
from app.settings import SendKey, Settings
from app.theme import Theme
from app.transcript.model import MessageView
from app.transcript.text_style import TextStyle
from app.transcript.view import TranscriptView
from app.widgets.toast import announce
from app.window_banners import Banners
from app.window_composing import Composing
from app.window_document import DocumentDialog
from app.window_empty import EmptyState
from app.window_find import FindBar
from app.window_messages import message_view, prefill_status
from app.window_opening import Opening


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChatPage", text)


_OVERHANG = 12


class ChatPage(QWidget):
    """Shows the current chat of the service."""

    def __init__(self, service: ChatService, style: TextStyle, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._service = service
        self._theme = theme
        self._messages: dict[int, Message] = {}
        self._announced: GenerationState | None = None
        self._jump_to: int | None = None
        self._opening = Opening(self._view_of, self)
        self.transcript = TranscriptView(style)
        self.composer = Composer(service.paste_text, theme)
        self.composing = Composing(service, self.composer, self)
        self.find_bar = FindBar(self.transcript, theme)
        self.empty = EmptyState(theme)
        self.body = QWidget()  # the transcript, or what stands in its place
        self.body.setMinimumHeight(1)  # in a low window the composer and the banners go first
        self.banners = Banners(theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.find_bar)
        column.addWidget(self.banners)
        column.addWidget(self.body, 1)
        column.addWidget(self.composer)
        body = QVBoxLayout(self.body)
        body.setContentsMargins(0, 0, 0, 0)
        body.addWidget(self.transcript)
        body.addWidget(self.empty)
        self._connect_service()
        self._connect_views()
        self._show_empty()

    def _connect_service(self) -> None:
        service = self._service
        service.chat_opened.connect(self._on_chat_opened)
        service.branch_changed.connect(self._on_branch_changed)
        service.chat_changed.connect(self._show_left_out)
        service.message_added.connect(self._on_message_added)
        service.message_changed.connect(self._on_message_changed)
        service.text_arrived.connect(self._on_text_arrived)
        service.status_changed.connect(self._on_status_changed)
        service.notice.connect(self.banners.show_notice)
        service.document_text_ready.connect(self._on_document_text_ready)

    def _connect_views(self) -> None:
        transcript, service = self.transcript, self._service
        self.composer.recall_requested.connect(self.edit_last)
        transcript.edit_requested.connect(self._edit)
        transcript.regenerate_requested.connect(service.regenerate)
        transcript.branch_requested.connect(service.branch_chat)
        transcript.delete_requested.connect(service.delete_message)
        transcript.version_requested.connect(service.select_version)
        transcript.document_requested.connect(service.request_document_text)
        self.banners.left_out.restore_requested.connect(service.restore_history)
        self.find_bar.closed.connect(self.focus_composer)
        self.empty.attach_requested.connect(self.composing.choose_files)
        self.empty.example_chosen.connect(self._on_example_chosen)

    # ------------------------------------------------------------ the service speaks

    def _on_chat_opened(self, opened: OpenChat) -> None:
        self._messages = {message.id: message for message in opened.messages}
        self._show_empty()  # before the messages come, so that they are laid out once, at the width they will have
        self._opening.start(opened.messages, self._show_opened)
        self.composing.show_chat(opened)
        self._announced = self._service.status(opened.chat.id).state
        self._show_left_out(opened.chat)
        self.focus_composer()

    def _view_of(self, message: Message) -> MessageView:
        return message_view(message, self._service.status(message.chat_id))

    def _show_opened(self, views: list[MessageView]) -> None:
        self.transcript.set_messages(views)
        self._jump()

    def _on_branch_changed(self, opened: OpenChat) -> None:
        self._opening.finish()
        self._messages = {message.id: message for message in opened.messages}
        self.transcript.set_messages([self._view_of(m) for m in opened.messages], keep_place=True)
        self._show_left_out(opened.chat)
        self._show_empty()

    def _on_message_added(self, message: Message) -> None:
        if message.chat_id != self._service.current_chat_id:
            return
        self._opening.finish()
        self._messages[message.id] = message
        if message.role is Role.USER:
            self.transcript.scroll_to_newest()
        self.transcript.add_message(self._view_of(message))
        self._show_empty()

    def _on_message_changed(self, message: Message) -> None:
        if message.id not in self._messages:
            return
        self._opening.finish()
        self._messages[message.id] = message
        view = self._view_of(message)
        if message.state is MessageState.STREAMING:  # its text so far is the transcript's, not the record's
            self.transcript.update_state(view)
        else:
            self.transcript.update_message(view)

    def _on_text_arrived(self, delta: TextDelta) -> None:
        if delta.chat_id == self._service.current_chat_id:
            self._opening.finish()
            self.transcript.append_text(delta.message_id, delta.reasoning, delta.text, delta.reasoning_tokens or None)

    def _on_status_changed(self, status: ChatStatus) -> None:
        if status.chat_id != self._service.current_chat_id:
            return
        self._opening.finish()
        self.composer.set_state(status.state)
        self._show_progress(status)
        if status.state is not self._announced:
            self._announced = status.state
            if status.state in ANNOUNCEMENTS:
                announce(self, QCoreApplication.translate("GenerationState", ANNOUNCEMENTS[status.state]))

    def _show_progress(self, status: ChatStatus) -> None:
        message = self._messages.get(status.message_id) if status.message_id is not None else None
        if message is None or message.state is not MessageState.STREAMING:
            return
        if status.state is not self._announced:
            self.transcript.update_state(message_view(message, status))
        self.transcript.set_prefill(message.id, prefill_status(status))

    def _show_left_out(self, chat: Chat) -> None:
        self.banners.show_chat(chat, tuple(self._messages))

    # ------------------------------------------------------------ the person acts

    def edit_last(self) -> None:
        """Change the last question."""
        questions = [m for m in self._messages.values() if m.role is Role.USER]
        if questions:
            self._edit(questions[-1].id)

    def _edit(self, message_id: int) -> None:
        message = self._messages.get(message_id)
        if message is not None:
            self.composer.begin_edit(message_id, message.text)

    def last_answer(self) -> str:
        """The newest answer's Markdown, empty if there is none."""
        answers = [m for m in self.transcript.messages if m.role.value == Role.ASSISTANT.value]
        return answers[-1].text if answers else ""

    def focus_composer(self) -> None:
        self.composer.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def jump_to(self, message_id: int | None) -> None:
        """After the chat that is about to be opened is shown, the open one too, go to this message."""
        self._jump_to = message_id

    def _jump(self) -> None:
        message_id = self._jump_to
        if message_id is not None and message_id in self._messages:
            self._jump_to = None
            self._opening.finish()
            self.transcript.scroll_to_message(message_id)

    def _on_document_text_ready(self, key: int, text: str) -> None:
        names = [d.name for m in self._messages.values() for d in m.documents if d.id == key]
        chip = self.composer.chips.chip(key)
        title = chip.title if chip is not None else names[0] if names else _tr("Document")
        DocumentDialog(title, text, self).open()

    def _on_example_chosen(self, text: str) -> None:
        self.composing.propose(text)
        self.focus_composer()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._align_to_column()

    def _align_to_column(self) -> None:
        """Composer and banners stand under and over the reading column, a little wider than its text."""
        bar = self.transcript.verticalScrollBar().sizeHint().width()
        left, width = self.transcript.column_in(self.width() - bar)
        margin = max(8, round(left) - _OVERHANG)
        other = max(8, self.width() - margin - round(width) - 2 * _OVERHANG)
        self.composer.set_margins(margin, other)
        self.banners.set_margins(margin, other)

    def _show_empty(self) -> None:
        is_empty = not self._messages
        self.empty.setVisible(is_empty)
        self.transcript.setVisible(not is_empty)

    # ------------------------------------------------------------ looks

    def apply_settings(self, settings: Settings) -> None:
        self.composer.field.sends_with_ctrl = settings.composer.send_key is SendKey.CTRL_ENTER
        self.transcript.set_thinking_open(settings.appearance.keep_thinking_open)

    def set_theme(self, theme: Theme, style: TextStyle) -> None:
        self._theme = theme
        self.transcript.set_style(style)
        self.composer.set_theme(theme)
        self.composer.meter.set_numeric_font(style.numeric)
        self._align_to_column()
        self.find_bar.set_theme(theme)
        self.empty.set_theme(theme)
        self.banners.set_theme(theme)
