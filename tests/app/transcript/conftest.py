"""A transcript view with our light theme, shown offscreen."""

from collections.abc import Callable

import pytest
from PySide6.QtGui import QFont, QFontDatabase
from pytestqt.qtbot import QtBot

from app.theme import light_palette, theme_from_palette
from app.transcript.model import MessageView, Role
from app.transcript.text_style import TextStyle
from app.transcript.view import TranscriptView

MakeView = Callable[..., TranscriptView]


@pytest.fixture
def style(qapp: object) -> TextStyle:
    body, title, small = QFont(), QFont(), QFont()
    title.setPointSizeF(body.pointSizeF() * 1.3)
    small.setPointSizeF(body.pointSizeF() * 0.9)
    code = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    return TextStyle(theme_from_palette(light_palette()), body, title, small, small, code, 1)


@pytest.fixture
def make_view(qtbot: QtBot, style: TextStyle) -> MakeView:
    def make(messages: list[MessageView], width: int = 800, height: int = 600) -> TranscriptView:
        view = TranscriptView(style)
        qtbot.addWidget(view)
        view.resize(width, height)
        view.show()
        view.set_messages(messages)
        return view

    return make


def talk(
    count: int, text: str = "A paragraph of an answer.\n\nAnd one more, a little longer than the first."
) -> list[MessageView]:
    """`count` messages, question and answer in turn; ids from 1."""
    roles = (Role.USER, Role.ASSISTANT)
    return [MessageView(n + 1, roles[n % 2], f"Message {n + 1}. {text}") for n in range(count)]


def at_end(view: TranscriptView) -> bool:
    bar = view.verticalScrollBar()
    return bar.value() == bar.maximum()


def stream(view: TranscriptView, message_id: int, text: str, size: int = 7) -> None:
    for at in range(0, len(text), size):
        view.append_text(message_id, "", text[at : at + size])
        view.flush()
