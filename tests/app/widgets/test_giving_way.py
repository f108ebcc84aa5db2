"""Widgets that fit themselves into little room: the flowing row of buttons, the label with an ellipsis, the chips."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.chat.models import NoticeLevel, PendingDocument, PendingState
from app.composer.chips import ChipList
from app.theme import light_palette, theme_from_palette
from app.widgets.banner import Banner
from app.widgets.elided_label import ElidedLabel
from app.widgets.flow_layout import FlowLayout

THEME = theme_from_palette(light_palette())


@pytest.fixture
def box(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def flow(box: QWidget, width: int, count: int = 5) -> list[QPushButton]:
    layout = FlowLayout()
    box.setLayout(layout)
    buttons = [QPushButton(f"button {n}") for n in range(count)]
    for made in buttons:
        layout.addWidget(made)
    box.resize(width, layout.heightForWidth(width))
    box.show()
    return buttons


@pytest.mark.parametrize("width", [80, 200, 333, 2_000])
def test_a_flow_stays_inside_and_never_overlaps(box: QWidget, width: int) -> None:
    buttons = flow(box, width)
    for button in buttons:
        assert button.geometry().left() >= 0
        assert button.geometry().right() < max(width, button.sizeHint().width())
        assert not any(button.geometry().intersects(other.geometry()) for other in buttons if other is not button)


def test_a_flow_goes_from_right_to_left_where_one_reads_so(box: QWidget) -> None:
    buttons = flow(box, 2_000)
    layout = box.layout()
    assert layout is not None
    box.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    layout.setGeometry(box.rect())
    assert buttons[0].x() > buttons[1].x()


@pytest.mark.parametrize("width", [30, 60, 5_000])
def test_an_elided_label_fits_and_keeps_its_whole_text(qtbot: QtBot, width: int) -> None:
    text = "a text that is somewhat longer than the room"
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText(text)
    label.resize(width, 20)
    label.show()
    assert label.text() == text == label.accessibleName()
    assert (label.toolTip() == text) == (width < label.sizeHint().width())
    assert label.fontMetrics().horizontalAdvance(label.shown_text) <= max(width, label.minimumSizeHint().width())


def test_a_banner_replaces_its_buttons(qtbot: QtBot) -> None:
    banner = Banner(THEME)
    qtbot.addWidget(banner)
    pressed: list[str] = []
    banner.show_text(NoticeLevel.WARNING, "First", (("One", lambda: pressed.append("one")),))
    banner.show_text(NoticeLevel.ERROR, "Second", (("Two", lambda: pressed.append("two")),))
    assert [b.text() for b in banner.buttons] == ["Two"]
    banner.buttons[0].click()
    assert pressed == ["two"]
    assert banner.text == "Second"


def test_many_chips_scroll_and_keep_their_height(qtbot: QtBot) -> None:
    chips = ChipList(THEME)
    qtbot.addWidget(chips)
    documents = tuple(PendingDocument(n, f"file {n}.txt", PendingState.READING) for n in range(20))
    chips.show_documents(documents[:2])
    two = chips.height()
    chips.show_documents(documents)
    assert two < chips.height() < 5 * two
    first = chips.chip(0)
    assert first is not None
    chips.show_documents(documents[:5])
    assert chips.chip(0) is first
