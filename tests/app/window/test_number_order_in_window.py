"""In a mirrored window no button, list or table puts a number on the wrong side of what it counts."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractTableModel, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QCheckBox, QComboBox, QTabBar, QWidget

from tests.app.reading_order import as_drawn
from tests.app.window.conftest import OpenDriver

COUNTED = re.compile(r"^\W*\d[\d.,]*\W*[^\W\d]")
SIGNS = str.maketrans("", "", "\u2068\u2069")


@pytest.fixture
def right_to_left(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(
        "app.main_window.install_language", lambda app, _: app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    )
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if isinstance(model, QAbstractTableModel):
        for row in range(model.rowCount()):
            yield from (str(model.index(row, column).data() or "") for column in range(model.columnCount()))


def drawn_texts(window: QWidget) -> Iterator[str]:
    """Every text that is not drawn by a label: a label takes its direction from its text, these from the window."""
    for widget in window.findChildren(QWidget):
        if isinstance(widget, QAbstractButton):
            yield widget.text()
        elif isinstance(widget, QComboBox):
            yield from (widget.itemText(index) for index in range(widget.count()))
        elif isinstance(widget, QTabBar):
            yield from (widget.tabText(index) for index in range(widget.count()))
        elif isinstance(widget, QAbstractItemView):
            yield from cells(widget)


def test_numbers_stand_before_what_they_count(right_to_left: None, open_driver: OpenDriver) -> None:
    driver = open_driver()
    driver.ask("hello")
    for box in driver.window.panel.findChildren(QCheckBox):
        box.setChecked(True)  # tables instead of charts
    driver.window.commands.show_qualification()
    driver.trigger("settings")
    driver.trigger("models")
    texts = {line for text in drawn_texts(driver.window) for line in text.split("\n") if COUNTED.match(line)}
    wrong = {text for text in texts if as_drawn(text).strip() != text.translate(SIGNS).strip()}
    assert wrong == set()
    assert any("KiB" in text for text in texts)
