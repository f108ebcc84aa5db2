"""In a mirrored window, words that run from left to right keep their order: no button, list, table or menu puts a
number on the wrong side of what it counts, or the dots of "Save…" before the word."""

import re
from collections.abc import Iterator

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QCheckBox, QComboBox, QTabBar, QWidget

from app.composer.chips import Chip
from tests.app.reading_order import as_drawn
from tests.app.window.conftest import OpenDriver

WORD = re.compile(r"[^\W\d_]{2}|\d\W*[^\W\d_]")  # or a number and a unit of one letter
SIGNS = str.maketrans("", "", "\u2068\u2069")


def cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if isinstance(model, QAbstractTableModel):
        for column in range(model.columnCount()):
            yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
            yield from (str(model.index(row, column).data() or "") for row in range(model.rowCount()))


def drawn_texts(window: QWidget) -> Iterator[str]:
    """Every text that is not drawn by a label: a label takes its direction from its text, these from the window."""
    for action in window.findChildren(QAction):
        yield action.text()
    for widget in window.findChildren(QWidget):
        if isinstance(widget, QAbstractButton):
            yield widget.text()
        elif isinstance(widget, QComboBox):
            yield from (widget.itemText(index) for index in range(widget.count()))
        elif isinstance(widget, QTabBar):
            yield from (widget.tabText(index) for index in range(widget.count()))
        elif isinstance(widget, QAbstractItemView):
            yield from cells(widget)


def test_words_keep_their_order(right_to_left: None, open_driver: OpenDriver) -> None:
    driver = open_driver()
    driver.window.settings.row("answers", "thinking").control.setChecked(True)
    driver.chats.paste_text("A halo is a ring of light. " * 200)
    driver.wait(lambda: [chip for chip in driver.window.findChildren(Chip) if chip.preview_button.isVisible()])
    driver.ask("hello")
    window = driver.window
    for box in window.panel.findChildren(QCheckBox):
        box.setChecked(True)  # tables instead of charts
    window.commands.show_qualification()
    for page in ("settings", "models", "doctor", "help", "shortcuts"):
        driver.trigger(page)
    window.header.settings_button.click()
    window.sidebar.menu_for(window.sidebar.rows[0], QModelIndex())
    texts = {line for text in drawn_texts(window) for line in text.split("\n") if WORD.search(line)}
    wrong = {text for text in texts if as_drawn(text).strip() != text.translate(SIGNS).strip()}
    assert wrong == set()
    plain = {text.translate(SIGNS) for text in texts}
    assert plain >= {"Export …", "Add file …", "Qualification…", "A file…", "Why is the sky blue?"}
    for part in ("KiB", "Thought for", "Pasted text"):
        assert any(part in text for text in plain), part
    assert any(re.fullmatch(r"\d+\.\d s", text) for text in plain)
