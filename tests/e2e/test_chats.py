"""Search, rename, delete and undo, export and import, with chats that the embedded model answered."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tests.app.window.driver import WindowDriver


def titles(real: WindowDriver) -> list[str]:
    return [row.shown_title for row in real.window.sidebar.rows]


def test_search_rename_delete_and_undo(real: WindowDriver) -> None:
    real.ask("Tell me about salmon.")
    real.wait(lambda: titles(real) == ["Tell me about salmon"])
    real.rename("Fish")
    real.wait(lambda: titles(real) == ["Fish"])
    real.trigger("search")
    real.qtbot.keyClicks(real.window.sidebar.search_field, "salmon")
    real.wait(lambda: any(row.snippet for row in real.window.sidebar.rows))
    real.qtbot.keyClick(real.window.sidebar.search_field, Qt.Key.Key_Return)
    real.wait(lambda: len(real.messages) == 2)
    real.window.sidebar.search_field.clear()
    real.wait(lambda: titles(real) == ["Fish"])
    real.choose_from_menu("Fish", "Delete")
    real.wait(lambda: "Fish" not in titles(real))
    real.qtbot.mouseClick(real.window.toast.undo_button, Qt.MouseButton.LeftButton)
    real.wait(lambda: "Fish" in titles(real) and len(real.messages) == 2)


def test_export_and_import_round_trip(real: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real.ask("Tell me about rain.")
    chat = real.chats.current_chat_id
    before = [(m.role, m.text) for m in real.messages]
    path = tmp_path / "chat.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    real.wait(lambda: titles(real) == ["Tell me about rain"])
    real.choose_from_menu("Tell me about rain", "Export …")
    real.wait(lambda: "exported" in real.window.toast.text)
    assert json.loads(path.read_text())
    real.choose_from_menu("Tell me about rain", "Import chats …")
    real.wait(lambda: real.chats.current_chat_id != chat and len(real.messages) == 2)
    assert [(m.role, m.text) for m in real.messages] == before
