"""Search, rename, delete and undo, export and import, with chats that the embedded model answered."""

import json
from pathlib import Path

from app.chat.models import ExportFormat
from tests.app.window.driver import WindowDriver


def titles(real: WindowDriver) -> list[str]:
    return [row.shown_title for row in real.window.sidebar.rows]


def test_search_rename_delete_and_undo(real: WindowDriver) -> None:
    real.ask("Tell me about salmon.")
    chat = real.chats.current_chat_id
    assert chat is not None
    real.window.sidebar.rename_requested.emit(chat, "Fish")
    real.wait(lambda: "Fish" in titles(real))
    real.trigger("search")
    real.qtbot.keyClicks(real.window.sidebar.search_field, "salmon")
    real.wait(lambda: any(row.snippet for row in real.window.sidebar.rows))
    real.window.sidebar.search_field.clear()
    real.window.sidebar.delete_requested.emit(chat)
    real.wait(lambda: "Fish" not in titles(real))
    real.window.toast.undo_button.click()
    real.wait(lambda: "Fish" in titles(real) and len(real.messages) == 2)


def test_export_and_import_round_trip(real: WindowDriver, tmp_path: Path) -> None:
    real.ask("Tell me about rain.")
    chat = real.chats.current_chat_id
    assert chat is not None
    before = [(m.role, m.text) for m in real.messages]
    path = tmp_path / "chat.json"
    with real.qtbot.waitSignal(real.chats.exported, timeout=60_000):
        real.chats.export_chat(chat, path, ExportFormat.JSON)
    assert json.loads(path.read_text())
    with real.qtbot.waitSignal(real.chats.imported, timeout=60_000) as imported:
        real.chats.import_chats(path)
    (ids,) = imported.args
    real.chats.open_chat(ids[0])
    real.wait(lambda: real.chats.current_chat_id == ids[0])
    assert [(m.role, m.text) for m in real.messages] == before
