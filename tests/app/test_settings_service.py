"""Settings in force at once, on disk a moment later, and a failure to write is one sentence."""

from dataclasses import replace
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.settings import Settings, Theme
from app.settings_file import SettingsFile
from app.settings_service import SettingsService


def dark(settings: Settings) -> Settings:
    return replace(settings, appearance=replace(settings.appearance, theme=Theme.DARK))


def test_a_change_is_told_once_and_written(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.toml"
    service = SettingsService(SettingsFile(path))
    told: list[tuple[Settings, Settings]] = []
    service.changed.connect(lambda now, before: told.append((now, before)))
    service.change(dark)
    service.change(dark)  # the same again is no change
    assert told == [(dark(Settings()), Settings())]
    qtbot.waitUntil(path.exists, timeout=90_000)
    service.close()
    assert SettingsFile(path).load().settings == dark(Settings())


def test_close_writes_what_waits(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    service = SettingsService(SettingsFile(path))
    service.change(dark)
    service.close()
    assert SettingsFile(path).load().settings == dark(Settings())


def test_a_failure_is_said_and_the_change_stays_in_force(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("in the way")
    service = SettingsService(SettingsFile(tmp_path / "config" / "settings.toml"))
    assert len(service.load_problems) == 1
    told: list[str] = []
    service.problem_found.connect(told.append)
    service.change(dark)
    qtbot.waitUntil(lambda: bool(told), timeout=90_000)
    assert "were not saved" in told[0]
    assert service.settings == dark(Settings())
    service.close()
