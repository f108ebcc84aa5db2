"""The line of figures below an answer."""

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.chat.models import Message, MessageState, Role
from app.window_language import install_language
from app.window_messages import stats_line
from engine.events import FinishReason, Timings, Usage

ANSWER = Message(
    1, 1, None, Role.ASSISTANT, "Yes.", "", MessageState.COMPLETE, 0.0, finish_reason=FinishReason.END,
    usage=Usage(4, 0, 2), timings=Timings(0.03, 0.1, 0.033, 133.0, 20.5),
)  # fmt: skip


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "2 tokens · 20.5 tok/s · first token after 33 ms · finished"),
        ("de", "2 Tokens · 20,5 Tok/s · erstes Token nach 33 ms · fertig"),
    ],
)
def test_a_quick_first_token_is_told_in_milliseconds(language: str, line: str, qapp: QApplication) -> None:
    before = QLocale()
    install_language(qapp, language)
    assert stats_line(ANSWER) == line
    install_language(qapp, "en")
    QLocale.setDefault(before)
