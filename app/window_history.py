"""The banner of a chat whose oldest turns are no longer sent, because the person chose that to make a question fit: it
says so, and takes it back. GUI thread; owned by ChatPage.
"""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Signal

from app.chat.models import Chat, NoticeLevel
from app.theme import Theme
from app.widgets.banner import Banner


class LeftOutBanner(Banner):
    """Hidden while the whole chat is sent."""

    restore_requested = Signal(int)  # chat id

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._shown: tuple[int, int] | None = None  # chat id, messages left out

    def show_chat(self, chat: Chat, message_ids: Sequence[int]) -> None:
        """Say how many messages of the shown branch are left out. A start on another branch leaves out nothing, as in
        app/chat/prompt.py. What was dismissed stays away until the number changes."""
        count = message_ids.index(chat.history_from_id) if chat.history_from_id in message_ids else 0
        now = (chat.id, count) if count else None
        if now == self._shown:
            return
        self._shown = now
        if now is None:
            self.hide()
            return
        text = QCoreApplication.translate(
            "ChatPage", "The first %Ln message(s) of this chat are no longer sent to the model.", None, count
        )
        again = QCoreApplication.translate("ChatPage", "Send the whole chat again")
        self.show_text(NoticeLevel.INFO, text, ((again, lambda: self.restore_requested.emit(chat.id)),))
