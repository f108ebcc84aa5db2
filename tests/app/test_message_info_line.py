"""The line of figures below an answer."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from app.chat.models import Message, MessageState, Role
from app.window_language import install_language
from app.window_messages import stats_line
from engine.events import FinishReason, Timings, Usage

ANSWER = Message(
    1, 1, None, Role.ASSISTANT, "Yes.", "", MessageState.COMPLETE, 0.0, finish_reason=FinishReason.END,
    usage=Usage(4, 0, 2), timings=Timings(0.03, 0.1, 0.033, 133.0, 20.5),
)  # fmt: skip


@pytest.fixture
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    install_language(qapp, request.param)
    yield
    install_language(qapp, "en")


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "2 tokens · 20.5 tok/s · first token after 33 ms · finished"),
        ("de", "2 Tokens · 20,5 Tok/s · erstes Token nach 33 ms · fertig"),
    ],
    indirect=["language"],
)
def test_a_quick_first_token_is_told_in_milliseconds(language: None, line: str) -> None:
    assert stats_line(ANSWER) == line
