"""The transcript as a person meets it: streaming, selecting, folding, long lists."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.transcript.code_layout import CodeLayout
from app.transcript.message_frame import MessageFrame
from app.transcript.model import MessageState, MessageView, PrefillStatus, Role
from app.transcript.selection import TextPlace
from app.transcript.view import TranscriptView
from tests.app.transcript.conftest import MakeView, at_end, stream, talk


def frames(view: TranscriptView) -> list[MessageFrame]:
    return [frame for frame in view.viewport().findChildren(MessageFrame) if frame.isVisible()]


def frame_of(view: TranscriptView, message_id: int) -> MessageFrame:
    return next(frame for frame in frames(view) if frame.message_id == message_id)


# ---------------------------------------------------------------- long lists


def test_a_long_chat_opens_at_its_end_with_few_widgets(make_view: MakeView) -> None:
    view = make_view(talk(10_000))
    assert at_end(view)
    assert len(frames(view)) < 20
    assert frames(view)[-1].message_id == 10_000 or any(f.message_id == 10_000 for f in frames(view))


def test_only_what_is_near_the_window_is_laid_out(make_view: MakeView) -> None:
    view = make_view(talk(3_000))
    bar = view.verticalScrollBar()
    for value in range(bar.maximum(), 0, -5_000):
        bar.setValue(value)
    laid_out = sum(1 for row in range(3_000) if view.page.is_laid_out(row))
    assert laid_out < 120


# ---------------------------------------------------------------- streaming


def test_finished_blocks_are_laid_out_once(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.STREAMING)])
    stream(view, 1, "First.\n\n- a\n- b\n\n")
    early = [placed.layout for placed in view.layout_of_row(0).blocks()][:2]
    stream(view, 1, "Second.\n\n```py\nx = 1\n```\n\nThird.")
    view.update_message(MessageView(1, Role.ASSISTANT, view.messages[0].text))
    late = [placed.layout for placed in view.layout_of_row(0).blocks()]
    assert late[0] is early[0] and late[1] is early[1]
    assert all(layout.document is not None for layout in late)


def test_code_grows_in_place_while_it_streams(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.STREAMING)])
    stream(view, 1, "```py\nfirst = 1\n")
    code = next(p.layout for p in view.layout_of_row(0).blocks() if isinstance(p.layout, CodeLayout))
    stream(view, 1, "second = 2\nthird = 3\n```\n\ndone")
    assert code in [p.layout for p in view.layout_of_row(0).blocks()]
    assert code.block.text == "first = 1\nsecond = 2\nthird = 3"


def test_streamed_text_is_painted_on_a_timer_and_not_per_token(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.STREAMING)])
    for _ in range(100):
        view.append_text(1, "", "x")
    assert view.messages[0].text == ""
    qtbot.waitUntil(lambda: view.messages[0].text == "x" * 100, timeout=20_000)


def test_a_final_record_replaces_what_waited_for_the_timer(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.STREAMING)])
    view.append_text(1, "", "half")
    view.update_message(MessageView(1, Role.ASSISTANT, "half and half"))
    view.flush()
    assert view.messages[0].text == "half and half"


# ---------------------------------------------------------------- selection


def select(view: TranscriptView, first: TextPlace, last: TextPlace) -> None:
    view.selection.set(first, last)


def test_selection_crosses_blocks_and_messages(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.USER, "question"), MessageView(2, Role.ASSISTANT, "one\n\n- two\n- three")])
    select(view, TextPlace(1, 1, 0, 4), TextPlace(2, 1, 2, 2))
    assert view.selected_text() == "tion\n\none\n\ntwo\nth"


def test_selection_survives_streaming(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.STREAMING)])
    stream(view, 1, "The selected words.\n\nMore")
    select(view, TextPlace(1, 1, 0, 4), TextPlace(1, 1, 0, 12))
    stream(view, 1, " and more text.\n\n- list\n- list")
    view.update_message(MessageView(1, Role.ASSISTANT, view.messages[0].text))
    assert view.selected_text() == "selected"


def test_dragging_selects_and_ctrl_c_copies(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "word " * 20)])
    y = int(view.row_top(0) + view.layout_of_row(0).blocks()[0].layout.top + 8)
    left = int(view.column_left())
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(left, y))
    qtbot.mouseMove(view.viewport(), QPoint(left + 200, y))
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(left + 200, y))
    if view.selection.is_empty:  # offscreen moves carry no buttons on some Qt versions
        view.select_all()
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("word word")


def test_select_all_covers_everything_and_user_text_comes_back_verbatim(make_view: MakeView) -> None:
    text = "  two  spaces\n\n<b>tag</b> # not a heading\n* not a list"
    view = make_view([MessageView(1, Role.USER, text)])
    view.select_all()
    assert view.selected_text() == text


def table(rows: int) -> tuple[str, str]:
    """A Markdown table, and what a spreadsheet takes of it."""
    cells = [[f"😀 {row}", f"*b* {row}", "c"] for row in range(rows)]
    head = ["A", "B", "C"]
    lines = ["|".join(row) for row in (head, ["-"] * 3, *cells)]
    copied = ["\t".join(row).replace("*", "") for row in (head, *cells)]
    return "\n".join(f"|{line}|" for line in lines), "\n".join(copied)


@pytest.mark.parametrize("rows", [1, 3, 50])
def test_a_table_is_copied_as_spreadsheets_take_it(make_view: MakeView, rows: int) -> None:
    """Also one of so many rows that it is drawn in parts."""
    source, copied = table(rows)
    view = make_view([MessageView(1, Role.ASSISTANT, f"Before 𝄞:\n\n{source}\n\nAfter.")])
    view.select_all()
    assert view.selected_text() == f"Before 𝄞:\n\n{copied}\n\nAfter."


def test_a_part_of_a_table_is_copied(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, table(2)[0])])
    raw = view.layout_of_row(0).blocks()[0].layout.raw_text(view.page.style)
    places = {text: raw.index(text) for text in ("B", "C", "b 0")}
    after_emoji = places["b 0"] + 1  # it takes two positions
    select(view, TextPlace(1, 1, 0, places["B"]), TextPlace(1, 1, 0, after_emoji + 1))
    assert view.selected_text() == "B\nb 0", "Qt marks the rectangle"
    select(view, TextPlace(1, 1, 0, places["B"]), TextPlace(1, 1, 0, after_emoji + len("b 0") + 2))
    assert view.selected_text() == "B\tC\nb 0\tc"
    select(view, TextPlace(1, 1, 0, after_emoji), TextPlace(1, 1, 0, after_emoji + 1))
    assert view.selected_text() == "b"


def test_a_long_user_text_is_folded_and_opens_whole(make_view: MakeView, qtbot: QtBot) -> None:
    text = "\n".join(f"line {n}" for n in range(20_000))
    view = make_view([MessageView(1, Role.USER, text)])
    folded = view.layout_of_row(0).height
    button = next(b for b in view.viewport().findChildren(QAbstractButton) if b.text().startswith("Show all"))
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert view.layout_of_row(0).height > 100 * folded / 50
    assert sum(p.layout.document is not None for p in view.layout_of_row(0).blocks()) < 10
    view.select_all()
    assert view.selected_text() == text


# ---------------------------------------------------------------- controls


def test_every_control_of_a_message_has_a_name(make_view: MakeView) -> None:
    view = make_view(
        [
            MessageView(1, Role.USER, "q", versions=2),
            MessageView(2, Role.ASSISTANT, "```py\nx\n```", thinking="hm", thinking_tokens=3, notice="It broke."),
        ]
    )
    for button in view.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.accessibleName() or button.text(), button


def test_actions_report_the_message(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(talk(2))
    with qtbot.waitSignal(view.regenerate_requested) as regenerated:
        frame_of(view, 2).action_bar.regenerate_button.click()
    assert regenerated.args == [2]
    with qtbot.waitSignal(view.edit_requested) as edited:
        frame_of(view, 1).action_bar.edit_button.click()
    assert edited.args == [1]


def test_copy_message_copies_raw_markdown(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "**bold** `code`")])
    frame_of(view, 1).action_bar.copy_button.click()
    assert QGuiApplication.clipboard().text() == "**bold** `code`"


def test_copy_code_copies_only_the_code(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "text\n\n```py\nx = 1\n```\n\ntext")])
    copy = next(b for b in view.viewport().findChildren(QAbstractButton) if b.accessibleName() == "Copy code")
    copy.click()
    assert QGuiApplication.clipboard().text() == "x = 1"


def test_thinking_is_open_while_it_runs_and_closed_after(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.STREAMING)])
    view.append_text(1, "Let me think.", "", 3)
    view.flush()
    assert view.layout_of_row(0).is_fold_open
    view.append_text(1, "", "The answer.", 3)
    view.flush()
    assert not view.layout_of_row(0).is_fold_open
    view.toggle_fold(1)
    assert view.layout_of_row(0).is_fold_open


def test_the_prefill_bar_says_starting_before_it_knows_anything(make_view: MakeView) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "", MessageState.WAITING, prefill=PrefillStatus("Starting"))])
    texts = _label_texts(view)
    assert "Starting" in texts
    assert not any("%" in text for text in texts)
    view.set_prefill(1, PrefillStatus("Reading the prompt", 400, 1000, 100, 200.0, 3.0))
    texts = _label_texts(view)
    assert "Reading the prompt · 40 %" in texts
    assert any("400" in t and "1" in t and "200 tok/s" in t and "100 from cache" in t for t in texts)


def _label_texts(view: TranscriptView) -> list[str]:
    from PySide6.QtWidgets import QLabel

    return [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
