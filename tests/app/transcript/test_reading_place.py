"""What one reads stands still while heights change, the end is followed, and a jump arrives."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.transcript.model import MessageState, MessageView, Role
from app.transcript.selection import TextPlace
from app.transcript.text_style import TextStyle
from app.transcript.view import TranscriptView
from tests.app.transcript.conftest import MakeView, at_end, stream, talk


def uneven_talk(count: int) -> list[MessageView]:
    """Answers that are much higher than they are estimated."""
    return [m if m.role is Role.USER else replace(m, text="# Big\n\n" + "word " * 300) for m in talk(count)]


def newest_button(view: TranscriptView) -> QAbstractButton:
    return next(b for b in view.findChildren(QAbstractButton) if b.objectName() == "newestButton")


def test_text_that_is_read_stands_still_when_estimates_above_are_corrected(make_view: MakeView) -> None:
    view = make_view(uneven_talk(60))
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    for _ in range(60):
        row = view.visible_rows()[len(view.visible_rows()) // 2]
        block = view.layout_of_row(row).blocks()[-1].layout
        before = view.row_top(row) + block.top - view.scroll_y()
        bar.setValue(bar.value() - 20)
        assert view.row_top(row) + block.top - view.scroll_y() == pytest.approx(before + 20, abs=2)


def test_resizing_keeps_the_message_in_view(make_view: MakeView) -> None:
    view = make_view(talk(200))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    row = view.visible_rows().start
    view.resize(460, 600)
    assert abs(view.visible_rows().start - row) <= 1


def test_a_new_theme_is_laid_out_without_losing_the_place(make_view: MakeView, style: TextStyle) -> None:
    view = make_view(talk(100))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    row = view.visible_rows().start
    bigger = replace(style, generation=2)
    bigger.body.setPointSizeF(style.body.pointSizeF() * 1.5)
    view.set_style(bigger)
    assert abs(view.visible_rows().start - row) <= 1


def test_the_view_follows_a_growing_answer_at_the_end(make_view: MakeView) -> None:
    view = make_view([*talk(20), MessageView(99, Role.ASSISTANT, "", MessageState.STREAMING)])
    stream(view, 99, "A line of text.\n\n" * 40)
    assert at_end(view)


def test_the_view_stays_where_one_reads_and_offers_the_newest(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([*talk(20), MessageView(99, Role.ASSISTANT, "", MessageState.STREAMING)])
    view.verticalScrollBar().setValue(100)
    place = view.verticalScrollBar().value()
    stream(view, 99, "A line of text.\n\n" * 40)
    assert view.verticalScrollBar().value() == place
    newest = newest_button(view)
    assert newest.isVisible()
    qtbot.mouseClick(newest, Qt.MouseButton.LeftButton)
    assert at_end(view)
    assert not newest.isVisible()


def test_a_jump_brings_a_far_message_into_the_upper_third(make_view: MakeView) -> None:
    view = make_view(uneven_talk(200))
    view.scroll_to_message(41)
    row = view.page.row_of(41)
    assert row == 40
    text = view.layout_of_row(row).blocks()[0].layout
    assert view.row_top(row) + text.top - view.scroll_y() == pytest.approx(view.viewport().height() / 3, abs=2)
    assert not view.follows
    assert newest_button(view).isVisible()
    view.scroll_to_message(99_999)  # nothing of that name
    assert view.visible_rows().start <= row < view.visible_rows().stop


def test_a_jump_that_arrives_at_the_end_follows_again(make_view: MakeView) -> None:
    view = make_view([*uneven_talk(20), MessageView(99, Role.ASSISTANT, "Short.", MessageState.STREAMING)])
    view.verticalScrollBar().setValue(100)
    assert not view.follows
    view.scroll_to_place(TextPlace(99, 1, 0, 0))
    assert view.follows
    assert not newest_button(view).isVisible()
    stream(view, 99, "\n\nA line of text." * 40)
    assert at_end(view)
