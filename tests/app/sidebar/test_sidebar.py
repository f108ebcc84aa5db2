"""The sidebar by itself: rows, marks, search, menus."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.chat.models import ChatSummary, SearchHit, SearchResults
from app.generation import GenerationState
from app.sidebar.chat_delegate import ChatDelegate
from app.sidebar.chat_model import ChatListModel, ChatRole, ChatRow, rows_of_chats, rows_of_hits
from app.sidebar.sidebar import Sidebar
from app.theme import light_palette, theme_from_palette

CHATS = (
    ChatSummary(1, "Rivers", True, 3.0, GenerationState.DECODING),
    ChatSummary(2, "", False, 2.0),
    ChatSummary(3, "Mountains", False, 1.0),
)


@pytest.fixture
def sidebar(qtbot: QtBot) -> Sidebar:
    made = Sidebar(theme_from_palette(light_palette()), QFont())
    qtbot.addWidget(made)
    made.resize(240, 600)
    made.show()
    return made


def titles(sidebar: Sidebar) -> list[str]:
    return [row.shown_title for row in sidebar.rows]


def test_rows_say_what_they_are(sidebar: Sidebar) -> None:
    sidebar.show_chats(CHATS)
    assert titles(sidebar) == ["Rivers", "New chat", "Mountains"]
    spoken = sidebar.list.model().index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Rivers, pinned, Answering"


def test_an_empty_list_says_what_to_do_next(sidebar: Sidebar) -> None:
    sidebar.show_chats(())
    assert sidebar.empty_text.startswith("No chats yet")
    sidebar.show_chats(CHATS)
    assert sidebar.empty_text == ""


def test_search_shows_hits_and_clearing_it_shows_the_chats(sidebar: Sidebar, qtbot: QtBot) -> None:
    sidebar.show_chats(CHATS)
    with qtbot.waitSignal(sidebar.search_changed) as asked:
        sidebar.search_field.setText("snow")
    assert asked.args == ["snow"]
    sidebar.show_hits(SearchResults("snow", (SearchHit(3, "Mountains", 9, "much snow there", ((5, 4),), 1.0),)))
    assert titles(sidebar) == ["Mountains"]
    sidebar.show_hits(SearchResults("snow", ()))
    assert sidebar.empty_text.startswith("Nothing found")
    with qtbot.waitSignal(sidebar.search_changed):
        sidebar.search_field.clear()
    sidebar.show_hits(SearchResults("", ()))
    assert titles(sidebar) == ["Rivers", "New chat", "Mountains"]
    assert sidebar.empty_text == ""


def test_hits_of_an_older_search_are_not_shown(sidebar: Sidebar, qtbot: QtBot) -> None:
    sidebar.show_chats(CHATS)
    with qtbot.waitSignal(sidebar.search_changed):
        sidebar.search_field.setText("new words")
    before = titles(sidebar)
    sidebar.show_hits(SearchResults("old words", ()))
    assert titles(sidebar) == before


@pytest.mark.parametrize("before", ["", "plain words ", "😀 and 𝄞 before "])
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_match_is_bold_at_its_own_place(sidebar: Sidebar, before: str, *, mirrored: bool) -> None:
    hit = SearchHit(3, "Mountains", 9, f"{before}snow falls", ((len(before), 4),), 1.0)
    delegate = sidebar.list.itemDelegate()
    assert isinstance(delegate, ChatDelegate)
    layout = delegate.snippet_layout(rows_of_hits((hit,))[0], 600.0, mirrored=mirrored)
    units = layout.text().encode("utf-16-le")
    marked = [units[2 * f.start : 2 * (f.start + f.length)].decode("utf-16-le") for f in layout.formats()]
    assert marked == ["snow"]
    begins_left = layout.lineAt(0).naturalTextRect().left() < 1
    assert begins_left is not mirrored


@pytest.mark.parametrize("width", range(40, 400, 9))
def test_a_snippet_fits_with_its_matches_in_bold(sidebar: Sidebar, width: int) -> None:
    text = "snow falls and snowmen stand in the snow"
    marks = tuple((at.start(), at.end() - at.start()) for at in re.finditer(r"snow\w*", text))
    row = rows_of_hits((SearchHit(3, "Mountains", 9, text, marks, 1.0),))[0]
    delegate = sidebar.list.itemDelegate()
    assert isinstance(delegate, ChatDelegate)
    layout = delegate.snippet_layout(row, width, mirrored=False)  # a line does not keep its layout
    assert layout.lineAt(0).naturalTextWidth() <= width


def test_enter_in_the_search_opens_the_first_hit(sidebar: Sidebar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(sidebar.search_changed):
        sidebar.search_field.setText("snow")
    sidebar.show_hits(SearchResults("snow", (SearchHit(3, "Mountains", 9, "snow", (), 1.0),)))
    with qtbot.waitSignal(sidebar.hit_opened) as opened:
        qtbot.keyClick(sidebar.search_field, Qt.Key.Key_Return)
    assert opened.args == [3, 9]


def test_keys_open_and_delete(sidebar: Sidebar, qtbot: QtBot) -> None:
    sidebar.show_chats(CHATS)
    sidebar.list.setCurrentIndex(sidebar.list.model().index(2, 0))
    with qtbot.waitSignal(sidebar.chat_opened) as opened:
        qtbot.keyClick(sidebar.list, Qt.Key.Key_Return)
    with qtbot.waitSignal(sidebar.delete_requested) as deleted:
        qtbot.keyClick(sidebar.list, Qt.Key.Key_Delete)
    assert opened.args == deleted.args == [3]


def test_the_menu_offers_the_opposite_of_what_is(sidebar: Sidebar) -> None:
    sidebar.show_chats(CHATS)
    pinned, plain = sidebar.rows[0], sidebar.rows[2]
    words = [action.text() for action in sidebar.menu_for(pinned, QModelIndex()).actions()]
    assert "Unpin" in words and "Delete" in words
    assert "Pin" in [action.text() for action in sidebar.menu_for(plain, QModelIndex()).actions()]
    assert "Import chats …" in [action.text() for action in sidebar.menu_for(None, QModelIndex()).actions()]


def test_a_change_of_one_row_does_not_reset_the_list(qtbot: QtBot) -> None:
    model = ChatListModel()
    model.show_rows(rows_of_chats(CHATS))
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.show_rows(rows_of_chats((*CHATS[:2], ChatSummary(3, "Hills", False, 1.0))))
    assert model.index(2, 0).data(ChatRole.ROW).title == "Hills"


ROWS = st.lists(st.integers(1, 8), unique=True)


@given(ROWS, ROWS, st.integers(0, 7))
def test_the_current_row_follows_its_chat(before: list[int], after: list[int], number: int) -> None:
    model = ChatListModel()
    model.show_rows([ChatRow(n, f"Chat {n}") for n in before])
    kept = QPersistentModelIndex(model.index(number % len(before), 0)) if before else None
    model.show_rows([ChatRow(n, f"Chat {n}") for n in after])
    assert [row.chat_id for row in model.rows] == after
    if kept is not None:
        chat = before[number % len(before)]
        assert (kept.row() if kept.isValid() else -1) == (after.index(chat) if chat in after else -1)


def calls_in(work: Callable[[], object]) -> int:
    """How many Python functions `work` calls."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("moved", [None, 900])
@pytest.mark.parametrize(("gone", "come"), [(0, 0), (2, 0), (0, 2), (2, 2)])
def test_a_small_change_of_a_long_list_looks_at_each_row_once(moved: int | None, gone: int, come: int) -> None:
    model = ChatListModel()
    before = [ChatRow(n, f"Chat {n}") for n in range(1_000)]
    model.show_rows(before)
    after = [*(ChatRow(n, "New") for n in range(2_000, 2_000 + come)), *(replace(row) for row in before[gone:])]
    if moved is not None:
        after.insert(0, after.pop(moved))
    calls = calls_in(lambda: model.show_rows(after))
    assert list(model.rows) == after
    assert calls < 1.1 * len(after)


def test_rows_that_are_changed_later_are_not_shown() -> None:
    model = ChatListModel()
    rows = [ChatRow(n, f"Chat {n}") for n in range(100)]
    model.show_rows(rows)
    rows.clear()
    assert model.rowCount() == 100


def changed(*order: int, state: GenerationState = GenerationState.DECODING) -> tuple[ChatSummary, ...]:
    by_id = {chat.id: chat for chat in CHATS}
    return tuple(replace(by_id[n], state=state) for n in order)


@pytest.mark.parametrize(
    "later",
    [
        changed(1, 2, 3),
        changed(3, 2, 1),
        changed(2, 3),
        (*changed(3, 1, 2), ChatSummary(4, "Lakes", False, 0.5)),
        (*(ChatSummary(n, "Lakes", False, 9.0) for n in range(10, 60)), *changed(1, 2, 3)),
    ],
)
def test_delete_hits_the_row_that_the_keyboard_is_on_whatever_changes(
    sidebar: Sidebar, qtbot: QtBot, later: tuple[ChatSummary, ...]
) -> None:
    sidebar.show_chats(CHATS)
    sidebar.set_current(1)
    qtbot.keyClick(sidebar.list, Qt.Key.Key_Down)
    sidebar.show_chats(later)
    with qtbot.waitSignal(sidebar.delete_requested) as deleted:
        qtbot.keyClick(sidebar.list, Qt.Key.Key_Delete)
    assert deleted.args == [2]


def test_a_chat_that_is_opened_takes_the_keyboard_once(sidebar: Sidebar, qtbot: QtBot) -> None:
    sidebar.show_chats(CHATS)
    sidebar.set_current(4)  # its row comes later
    sidebar.show_chats((ChatSummary(4, "Lakes", False, 4.0), *CHATS))
    assert sidebar.list.currentIndex().row() == 0
    qtbot.keyClick(sidebar.list, Qt.Key.Key_Down)
    sidebar.show_chats((ChatSummary(4, "Lakes", False, 5.0, GenerationState.DONE), *CHATS))
    assert sidebar.list.currentIndex().row() == 1
    sidebar.set_current(3)
    assert sidebar.list.currentIndex().row() == 3


def test_opening_the_second_hit_of_a_chat_does_not_jump_to_the_first(sidebar: Sidebar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(sidebar.search_changed):
        sidebar.search_field.setText("snow")
    hits = tuple(SearchHit(3, "Mountains", n, "snow", (), 1.0) for n in (7, 8))
    sidebar.show_hits(SearchResults("snow", hits))
    sidebar.list.setCurrentIndex(sidebar.list.model().index(1, 0))
    sidebar.set_current(3)
    assert sidebar.list.currentIndex().row() == 1


@pytest.mark.parametrize("later", [changed(1, 2, 3, state=GenerationState.DONE), changed(3, 2, 1)])
def test_a_title_that_is_being_written_stays(sidebar: Sidebar, later: tuple[ChatSummary, ...]) -> None:
    sidebar.show_chats(CHATS)
    sidebar.set_current(3)
    sidebar.rename_current()
    (editor,) = sidebar.list.findChildren(QLineEdit)
    editor.selectAll()
    editor.insert("Half a title")
    sidebar.show_chats(later)
    assert sidebar.list.findChildren(QLineEdit) == [editor]
    assert editor.text() == "Half a title"


def test_renaming_from_elsewhere_is_of_the_open_chat(sidebar: Sidebar) -> None:
    sidebar.show_chats(CHATS)
    sidebar.set_current(1)
    sidebar.list.setCurrentIndex(sidebar.list.model().index(2, 0))
    sidebar.search_field.setFocus()
    sidebar.rename_current()
    (editor,) = sidebar.list.findChildren(QLineEdit)
    assert editor.text() == "Rivers"


@pytest.mark.parametrize(("is_on_hit", "title"), [(False, "Rivers"), (True, "Mountains")])
def test_renaming_ends_a_search_whose_hits_have_no_title(
    sidebar: Sidebar, qtbot: QtBot, is_on_hit: bool, title: str
) -> None:
    sidebar.show_chats(CHATS)
    sidebar.set_current(1)
    with qtbot.waitSignal(sidebar.search_changed):
        sidebar.search_field.setText("snow")
    sidebar.show_hits(SearchResults("snow", (SearchHit(3, "Mountains", 9, "much snow there", ((5, 4),), 1.0),)))
    sidebar.list.setCurrentIndex(sidebar.list.model().index(0, 0))
    (sidebar.list if is_on_hit else sidebar.search_field).setFocus()
    sidebar.rename_current()
    (editor,) = sidebar.list.findChildren(QLineEdit)
    assert (editor.text(), sidebar.search_field.text(), len(sidebar.rows)) == (title, "", 3)
    assert not sidebar._search_timer.isActive(), "it would take the keyboard to the open chat, and end the writing"


def test_renaming_twice_goes_on_with_the_title(sidebar: Sidebar) -> None:
    sidebar.show_chats(CHATS)
    sidebar.set_current(1)
    sidebar.rename_current()
    (editor,) = sidebar.list.findChildren(QLineEdit)
    editor.setText("Half a title")
    sidebar.rename_current()
    assert sidebar.list.findChildren(QLineEdit) == [editor] and editor.text() == "Half a title"


@pytest.mark.parametrize("title", ["", "   ", "Mountains"])
def test_an_empty_or_equal_title_renames_nothing(qtbot: QtBot, title: str) -> None:
    model = ChatListModel()
    model.show_rows(rows_of_chats(CHATS))
    with qtbot.assertNotEmitted(model.renamed):
        assert not model.setData(model.index(2, 0), title)
