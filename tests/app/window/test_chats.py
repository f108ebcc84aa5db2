"""The list of chats, pages, shortcuts and settings of the whole window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from app.settings import Theme
from app.widgets.elided_label import ElidedLabel
from app.window_actions import ACTIONS
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver


def titles(driver: WindowDriver) -> list[str]:
    return [row.shown_title for row in driver.window.sidebar.rows]


def test_rename_pin_delete_and_undo(driver: WindowDriver) -> None:
    driver.ask("Tell me about rivers")
    chat = driver.chats.current_chat_id
    assert chat is not None
    driver.window.sidebar.rename_requested.emit(chat, "Rivers")
    driver.wait(lambda: "Rivers" in titles(driver))
    driver.window.sidebar.pin_requested.emit(chat, True)
    driver.wait(lambda: driver.window.sidebar.rows[0].pinned)
    driver.window.sidebar.delete_requested.emit(chat)
    driver.wait(lambda: "Rivers" not in titles(driver))
    driver.wait(driver.window.toast.isVisible)
    driver.window.toast.undo_button.click()
    driver.wait(lambda: "Rivers" in titles(driver))
    driver.wait(lambda: driver.chats.current_chat_id == chat and len(driver.messages) == 2)


def test_the_header_names_what_is_shown_and_the_window_its_chat(driver: WindowDriver) -> None:
    window, header = driver.window, driver.window.header
    shown = header.findChild(ElidedLabel)
    assert (shown.text(), window.windowTitle(), header.back_button.isVisible()) == ("New chat", "Haloband", False)
    driver.ask("Rivers")
    driver.wait(lambda: window.windowTitle() == "Rivers – Haloband")
    assert shown.text() == "Rivers"
    for action, title in (("settings", "Settings"), ("models", "Models"), ("doctor", "This computer")):
        driver.trigger(action)
        assert (shown.text(), window.windowTitle()) == (title, "Rivers – Haloband")
        assert header.back_button.isVisible()
        assert not header.settings_button.isVisible()
    header.back_button.click()
    assert (shown.text(), header.back_button.isVisible()) == ("Rivers", False)
    assert window.focusWidget() is driver.composer.field


def test_search_finds_words_of_messages_and_opens_the_place(driver: WindowDriver) -> None:
    driver.ask("Where do salmon spawn?")
    salmon = driver.chats.current_chat_id
    driver.trigger("new_chat")
    driver.wait(lambda: driver.chats.current_chat_id != salmon)
    driver.trigger("search")
    driver.qtbot.keyClicks(driver.window.sidebar.search_field, "salmon")
    driver.wait(lambda: any(row.snippet for row in driver.window.sidebar.rows))
    driver.qtbot.keyClick(driver.window.sidebar.search_field, Qt.Key.Key_Return)
    driver.wait(lambda: driver.chats.current_chat_id == salmon and driver.messages)


def test_a_hit_in_the_open_chat_goes_to_its_place(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(answer=tuple(f"line {n}\n\n" for n in range(60))))
    driver.ask("A question about zebras")
    driver.ask("Another one")
    chat, question = driver.chats.current_chat_id, driver.messages[0].id
    assert chat is not None
    bar = driver.window.chat.transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    for message_id, row in ((question, 0), (driver.messages[2].id, 2)):
        with driver.qtbot.waitSignal(driver.chats.chat_opened, timeout=20_000):
            driver.window.sidebar.hit_opened.emit(chat, message_id)
        assert driver.window.chat.transcript.visible_rows().start in (row - 1, row)
    assert 0 < bar.value() < bar.maximum()


def test_find_in_chat_selects_the_match(driver: WindowDriver) -> None:
    driver.ask("needle in a haystack")
    driver.trigger("find")
    driver.qtbot.keyClicks(driver.window.chat.find_bar.field, "hay")
    driver.wait(lambda: driver.window.chat.transcript.selected_text() == "hay")
    driver.trigger("stop")
    assert not driver.window.chat.find_bar.isVisible()


@pytest.mark.parametrize("theme", list(Theme))
def test_themes_switch_live(driver: WindowDriver, theme: Theme) -> None:
    driver.ask("A question")
    row = driver.window.settings.row("appearance", "theme").control
    for choice in (Theme.DARK, Theme.LIGHT, theme):
        row.setCurrentIndex(list(Theme).index(choice))
    is_dark = QApplication.palette().base().color().lightness() < 128
    if theme is not Theme.SYSTEM:
        assert is_dark == (theme is Theme.DARK)
    assert driver.window.chat.transcript.text_style.theme.is_dark == is_dark


def test_text_size_changes_and_comes_back(driver: WindowDriver) -> None:
    driver.ask("A question")
    normal = QApplication.font().pointSizeF()
    driver.trigger("larger")
    driver.trigger("larger")
    assert QApplication.font().pointSizeF() == pytest.approx(normal * 1.2)
    assert driver.window.chat.transcript.text_style.body.pointSizeF() == pytest.approx(normal * 1.2)
    driver.trigger("normal")
    assert QApplication.font().pointSizeF() == pytest.approx(normal)


def test_settings_are_kept_over_a_restart(open_driver: OpenDriver) -> None:
    driver = open_driver()
    driver.trigger("sidebar")
    row = driver.window.settings.row("answers", "temperature")
    row.own.setChecked(True)
    row.control.setValue(0.2)
    again = open_driver()
    assert not again.window.sidebar.isVisible()
    assert again.window.services.settings.settings.answers.temperature == pytest.approx(0.2)


def test_every_action_of_the_table_works(driver: WindowDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    driver.ask("A question")
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getOpenFileNames", lambda *_: ([], ""))
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getOpenFileName", lambda *_: ("", ""))
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_: ("", ""))
    for spec in ACTIONS:
        if spec.name not in ("close", "quit"):
            driver.trigger(spec.name)
    driver.wait_for_end()
    for dialog in driver.window.findChildren(QDialog):
        dialog.close()


def test_copy_last_answer(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.trigger("copy_answer")
    assert QGuiApplication.clipboard().text() == "Hello, world."


def test_every_control_has_a_name(driver: WindowDriver) -> None:
    driver.ask("A question")
    pages: list[QWidget] = [driver.window.chat, driver.window.models, driver.window.settings]
    for page in pages:
        driver.window.pages.show_page(page)
        for widget in driver.window.findChildren(QAbstractButton):
            if widget.isVisible():
                assert widget.accessibleName() or widget.text(), widget.objectName()
        for widget in driver.window.findChildren(QWidget):
            takes_keys = widget.isVisible() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
            if takes_keys and not isinstance(widget, QAbstractButton):
                names = [
                    widget.accessibleName(),
                    widget.parentWidget().accessibleName() if widget.parentWidget() else "",
                ]
                assert any(names), f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"


def test_the_models_page_shows_the_embedded_model_in_use(driver: WindowDriver) -> None:
    driver.trigger("models")
    driver.wait(lambda: driver.window.models.cards)
    card = driver.window.models.cards[0]
    assert card.entry.path is None
    assert card.entry.problem == "" and card.entry.fits
    assert card.use_button.text() == "In use"


def test_a_bad_model_file_is_named_with_its_reason(driver: WindowDriver, tmp_path: object) -> None:
    from pathlib import Path

    bad = Path(str(tmp_path)) / "broken.gguf"
    bad.write_bytes(b"not a model at all")
    driver.window.models.add_file(bad)
    driver.wait(lambda: len(driver.window.models.cards) == 2)
    card = driver.window.models.cards[1]
    assert "broken.gguf" in card.entry.problem
    assert not card.use_button.isEnabled()
