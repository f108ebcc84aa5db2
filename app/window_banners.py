"""The sentences over the transcript: what went wrong, what is no longer sent. One banner for each key. GUI thread;
owned by ChatPage."""

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chat.models import Chat, Notice, NoticeLevel
from app.sentences import translated
from app.theme import Theme
from app.widgets.banner import Banner
from app.widgets.toast import announce
from app.window_history import LeftOutBanner


class Banners(QWidget):
    """Takes no room while there is nothing to say."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._by_key: dict[str, Banner] = {}
        self.left_out = LeftOutBanner(theme)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(24, 0, 24, 0)
        self._column.addWidget(self.left_out)

    @property
    def shown(self) -> tuple[Banner, ...]:
        return tuple(banner for banner in self._all() if not banner.isHidden())

    def show_notice(self, notice: Notice) -> None:
        """A sentence; an empty text takes the banner of its key away."""
        banner = self._by_key.get(notice.key)
        if not notice.text:
            if banner is not None:
                banner.hide()
            return
        if banner is None:
            banner = self._by_key[notice.key] = Banner(self._theme)
            self._column.addWidget(banner)
        text = translated(notice.text)
        banner.show_text(notice.level, text)
        if notice.level is not NoticeLevel.INFO:
            announce(self, text)

    def show_chat(self, chat: Chat, message_ids: Sequence[int]) -> None:
        """What of this chat is no longer sent."""
        self.left_out.show_chat(chat, message_ids)

    def set_margins(self, left: int, right: int) -> None:
        """Where the banners stand between the edges of the page."""
        self._column.setContentsMargins(left, 0, right, 0)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for banner in self._all():
            banner.set_theme(theme)

    def _all(self) -> tuple[Banner, ...]:
        return (self.left_out, *self._by_key.values())
