"""Notifications and the sleep lock, on recorders instead of a desktop."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chat.models import ChatStatus
from app.desktop import Notifier, SleepBlocker
from app.generation import GenerationState
from app.settings_file import SettingsFile
from app.settings_service import SettingsService
from app.window_away import AwayWatch
from tests.app.window.driver import WindowDriver


class RecordingNotifier(Notifier):
    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []

    def notify(self, key: str, title: str, body: str) -> bool:
        self.shown.append((title, body))
        return True


class RecordingBlocker(SleepBlocker):
    def __init__(self) -> None:
        super().__init__("none")
        self.wanted: list[bool] = []

    def set_active(self, active: bool) -> None:
        self.wanted.append(active)


@pytest.fixture
def settings(tmp_path: Path, qapp: object) -> Iterator[SettingsService]:
    service = SettingsService(SettingsFile(tmp_path / "settings.toml"))
    service.change(lambda s: replace(s, general=replace(s.general, notify_after_s=0.0)))
    yield service
    service.close()


def watch(driver: WindowDriver, settings: SettingsService) -> tuple[AwayWatch, RecordingNotifier, RecordingBlocker]:
    """A watch over a window that is never in front."""
    notifier, blocker, hidden = RecordingNotifier(), RecordingBlocker(), QWidget()
    driver.qtbot.addWidget(hidden)
    made = AwayWatch(hidden, driver.chats, settings, notifier, blocker)
    made.titles = {1: "Rivers"}
    return made, notifier, blocker


def test_the_end_of_an_answer_is_notified_once(driver: WindowDriver, settings: SettingsService) -> None:
    made, notifier, blocker = watch(driver, settings)
    for state in (GenerationState.PREFILLING, GenerationState.DECODING, GenerationState.DONE, GenerationState.IDLE):
        made.on_status_changed(ChatStatus(1, state))
    assert notifier.shown == [("Rivers", "The answer is ready.")]
    assert blocker.wanted == [True, True, False, False]


def test_a_failure_says_so(driver: WindowDriver, settings: SettingsService) -> None:
    made, notifier, _ = watch(driver, settings)
    made.on_status_changed(ChatStatus(1, GenerationState.PREFILLING))
    made.on_status_changed(ChatStatus(1, GenerationState.FAILED))
    assert notifier.shown == [("Rivers", "The answer failed.")]


def test_short_answers_and_a_switched_off_setting_are_silent(
    driver: WindowDriver, settings: SettingsService, qtbot: QtBot
) -> None:
    made, notifier, blocker = watch(driver, settings)
    settings.change(lambda s: replace(s, general=replace(s.general, notify_after_s=3600.0, inhibit_sleep=False)))
    made.on_status_changed(ChatStatus(1, GenerationState.DECODING))
    made.on_status_changed(ChatStatus(1, GenerationState.DONE))
    settings.change(lambda s: replace(s, general=replace(s.general, notify_after_s=0.0, notify_when_done=False)))
    made.on_status_changed(ChatStatus(1, GenerationState.DECODING))
    made.on_status_changed(ChatStatus(1, GenerationState.DONE))
    assert notifier.shown == []
    assert not any(blocker.wanted)
