"""Stage: which chat is shown, and the messages of its branch as the views know them. GUI thread, owned by ChatService.

Chats are read on the store's thread; only the newest request to open one is shown. A message that is being answered
is shown with the text that has arrived, not with what was last saved.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chat.answers import AnswerRunner
from app.chat.budgeting import Budgeter
from app.chat.drafting import Drafting
from app.chat.models import Chat, Message, OpenChat, PendingDocuments
from app.chat.sending import Sender
from app.store import messages
from app.store.store import Store


class Stage(QObject):
    """One for the service."""

    chat_opened = Signal(object)  # OpenChat
    branch_changed = Signal(object)  # OpenChat
    chat_changed = Signal(object)  # Chat
    documents_changed = Signal(object)  # PendingDocuments
    failed = Signal(object, str)  # error, what was being done

    def __init__(
        self,
        store: Store,
        answers: AnswerRunner,
        drafting: Drafting,
        budgeter: Budgeter,
        sending: Sender,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._answers, self._drafting, self._budgeter = store, answers, drafting, budgeter
        self._sending = sending
        self._opening = 0  # number of the newest request to open a chat
        self.chat: Chat | None = None
        self.messages: tuple[Message, ...] = ()

    @property
    def chat_id(self) -> int | None:
        return None if self.chat is None else self.chat.id

    def open(self, load: Callable[[sqlite3.Connection], OpenChat]) -> None:
        """Show what `load` reads, unless another chat is opened meanwhile."""
        self._drafting.save()
        self._opening += 1
        number = self._opening

        def opened(chat: OpenChat) -> None:
            if number == self._opening:
                self.show(chat)

        self._store.submit(load, opened, self._failing("opening a chat"))

    def show(self, opened: OpenChat) -> None:
        """Another chat, just read."""
        chat_id = opened.chat.id
        self._drafting.opened(chat_id, opened.chat.draft, opened.pending_documents)
        self._take(opened)
        self._answers.dismiss(chat_id)
        pending = self._drafting.pending(chat_id)
        ready = tuple(document.info for document in pending if document.info is not None)
        shown = self._as_open_chat()
        self.chat_opened.emit(replace(shown, pending_documents=ready))
        self.documents_changed.emit(PendingDocuments(chat_id, pending))
        self._budgeter.set_pending(pending)
        self._budgeter.show(shown, shown.chat.draft)

    def show_branch(self, opened: OpenChat) -> None:
        """The shown chat read again, with another branch. Of any other chat: nothing to show."""
        if opened.chat.id == self.chat_id:
            self._take(opened)
            shown = self._as_open_chat()
            self.branch_changed.emit(replace(shown, pending_documents=opened.pending_documents))
            self._budgeter.show(shown, shown.chat.draft)

    def change_branch(
        self, operation: Callable[[sqlite3.Connection], object], doing: str, done: Callable[[], None] | None = None
    ) -> bool:
        """Change what the shown chat shows. False, and nothing is done, while it is being asked or answered."""
        chat_id = self.chat_id
        if chat_id is None or self._answers.is_busy(chat_id) or self._sending.is_sending(chat_id):
            return False

        def change(db: sqlite3.Connection) -> OpenChat:
            operation(db)
            return messages.open_chat(db, chat_id)

        def changed(opened: OpenChat) -> None:
            self.show_branch(opened)
            if done is not None:
                done()

        self._store.submit(change, changed, self._failing(doing))
        return True

    def append(self, *added: Message) -> None:
        """Messages at the end of the branch, if their chat is shown."""
        if added and added[0].chat_id == self.chat_id:
            self.messages = (*self.messages, *added)
            self._budgeter.set_messages(self.messages)

    def settle(self, message: Message) -> Message:
        """A message in its final form takes its place, its version numbers kept; returned as it is shown."""
        for index in range(len(self.messages) - 1, -1, -1):
            shown = self.messages[index]
            if shown.id == message.id:
                final = replace(message, version=shown.version, versions=shown.versions)
                self.messages = (*self.messages[:index], final, *self.messages[index + 1 :])
                return final
        return message

    def update_chat(self, chat: Chat) -> None:
        """A chat's own row changed."""
        if chat.id == self.chat_id:
            self.chat = replace(chat, draft=self._drafting.text(chat.id))
            self.chat_changed.emit(self.chat)
            self._budgeter.set_chat(self.chat)

    def _take(self, opened: OpenChat) -> None:
        self.chat = replace(opened.chat, draft=self._drafting.text(opened.chat.id))
        self.messages = self._answers.with_live_text(opened.messages)

    def _as_open_chat(self) -> OpenChat:
        assert self.chat is not None  # set by _take
        return OpenChat(self.chat, self.messages)

    def _failing(self, doing: str) -> Callable[[BaseException], None]:
        return lambda error: self.failed.emit(error, doing)
