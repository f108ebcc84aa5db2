"""Export and import through the menus and the file dialogs, and what the window says of them."""

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from tests.app.window.driver import WindowDriver


def choose(monkeypatch: pytest.MonkeyPatch, method: str, path: Path) -> None:
    """The next file dialog answers with this path."""
    monkeypatch.setattr(QFileDialog, method, lambda *_: (str(path), ""))


def menu(driver: WindowDriver, name: str) -> None:
    """Choose an entry of the menu of the chat or of the program."""
    buttons = (driver.window.header.more_button, driver.window.sidebar.more_button)
    action = driver.window.shortcuts[name]
    assert any(action in button.menu().actions() for button in buttons)
    action.trigger()


@pytest.mark.parametrize("suffix", [".md", ".json"])
def test_a_chat_is_exported_and_that_is_said(
    driver: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    driver.ask("Who are you?")
    path = tmp_path / f"chat{suffix}"
    choose(monkeypatch, "getSaveFileName", path)
    menu(driver, "export")
    driver.wait(driver.window.toast.isVisible)
    assert driver.window.toast.text == f"The chat was exported to chat{suffix}."
    assert not driver.window.toast.undo_button.isVisible()
    text = path.read_text()
    assert "Who are you?" in text
    assert (suffix == ".json") == text.startswith("{")


@pytest.mark.parametrize("name", ["notes", "notes.json", "notes.md"])
@pytest.mark.parametrize("chosen", ["Markdown (*.md)", "JSON (*.json)", ""])
def test_the_chosen_form_is_written_under_its_own_ending(
    driver: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, chosen: str
) -> None:
    driver.ask("Who are you?")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), chosen))
    menu(driver, "export")
    driver.wait(driver.window.toast.isVisible)
    is_json = "JSON" in chosen or name.endswith(".json")
    (written,) = tmp_path.glob("notes*")
    assert written.name == ("notes.json" if is_json else "notes.md")
    assert written.read_text().startswith("{") == is_json


@pytest.mark.parametrize("chosen", ["Markdown (*.md)", "JSON (*.json)"])
@pytest.mark.parametrize("replaces", [True, False])
def test_a_file_that_the_dialog_did_not_ask_about_is_replaced_only_after_a_question(
    driver: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, *, replaces: bool
) -> None:
    driver.ask("Who are you?")
    path = tmp_path / ("notes.json" if "JSON" in chosen else "notes.md")
    path.write_text("my own notes")
    answers = iter([(str(tmp_path / "notes"), chosen), ("", "")])
    asked: list[str] = []

    def question(_parent: QWidget, _title: str, text: str) -> QMessageBox.StandardButton:
        asked.append(text)
        return QMessageBox.StandardButton.Yes if replaces else QMessageBox.StandardButton.No

    offered: list[str] = []

    def choose_name(*given: str) -> tuple[str, str]:
        offered.append(given[-1])
        return next(answers)

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose_name)
    monkeypatch.setattr(QMessageBox, "question", question)
    menu(driver, "export")
    assert asked == [f"{path.name} is already there. Replace it?"]
    if replaces:
        driver.wait(driver.window.toast.isVisible)
        assert "Who are you?" in path.read_text()
    else:
        assert next(answers, None) is None  # the dialog came again
        assert offered == ["Markdown (*.md)", chosen], "with the form that was chosen"
        assert path.read_text() == "my own notes"


def test_imported_chats_are_counted_and_the_first_is_shown(
    driver: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chats.json"
    chats = [
        {"title": title, "messages": [{"role": "user", "content": f"Question of {title}"}]} for title in ("One", "Two")
    ]
    path.write_text(json.dumps(chats))
    choose(monkeypatch, "getOpenFileName", path)
    menu(driver, "import")
    driver.wait(lambda: driver.messages)
    assert driver.messages[0].text == "Question of One"
    assert driver.window.toast.text.startswith("2 chat")
    driver.wait(lambda: {"One", "Two"} <= {row.shown_title for row in driver.window.sidebar.rows})


def test_what_is_no_chat_is_said_in_a_banner(
    driver: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chats.json"
    path.write_text("[1, 2")
    choose(monkeypatch, "getOpenFileName", path)
    menu(driver, "import")
    driver.wait(lambda: any("chats.json" in b.text for b in driver.window.chat.banners.shown))


def test_the_message_stands_at_the_foot_of_the_page_that_is_shown(driver: WindowDriver) -> None:
    toast, window = driver.window.toast, driver.window

    def foot() -> int:
        return toast.mapToGlobal(toast.rect().bottomLeft()).y()

    toast.say("Done.")
    body = window.chat.body
    assert foot() == body.mapToGlobal(body.rect().bottomLeft()).y() - 8
    driver.composer.field.setPlainText("line\n" * 8)  # the composer grows and takes from the transcript
    driver.wait(lambda: foot() == body.mapToGlobal(body.rect().bottomLeft()).y() - 8)
    before = foot()
    driver.trigger("settings")
    pages = window.pages
    driver.wait(lambda: foot() == pages.mapToGlobal(pages.rect().bottomLeft()).y() - 8)
    assert foot() > before
