"""Best effort towards the desktop: nothing fails without it, and the sleep lock ends with us."""

import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtDBus import QDBusMessage
from pytestqt.qtbot import QtBot

from app.desktop import Notifier, SleepBlocker


class Bus:
    """A session bus that keeps what is sent to it."""

    def __init__(self, is_connected: bool) -> None:
        self.is_connected = is_connected
        self.sent: list[QDBusMessage] = []

    def isConnected(self) -> bool:
        return self.is_connected

    def send(self, message: QDBusMessage) -> bool:
        self.sent.append(message)
        return True


def put_bus(monkeypatch: pytest.MonkeyPatch, is_connected: bool) -> Bus:
    bus = Bus(is_connected)
    monkeypatch.setattr("app.desktop.QDBusConnection", SimpleNamespace(sessionBus=lambda: bus))
    return bus


def test_without_a_session_bus_nothing_is_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    bus = put_bus(monkeypatch, is_connected=False)
    assert Notifier().notify("key", "Title", "Text") is False
    assert not bus.sent


def test_a_notification_goes_to_the_portal(monkeypatch: pytest.MonkeyPatch) -> None:
    bus = put_bus(monkeypatch, is_connected=True)
    assert Notifier().notify("key", "Title", "Text") is True
    (message,) = bus.sent
    assert message.service() == "org.freedesktop.portal.Desktop" and message.member() == "AddNotification"
    assert message.arguments() == ["key", {"title": "Title", "body": "Text"}]


def test_without_the_tool_nothing_is_blocked_and_nothing_fails(qtbot: QtBot) -> None:
    blocker = SleepBlocker("no-such-tool-anywhere")
    blocker.set_active(True)
    assert not blocker.is_active
    blocker.set_active(False)


def test_the_tool_runs_while_active_and_ends_afterwards(qtbot: QtBot, tmp_path: Path) -> None:
    log = tmp_path / "log"
    tool = tmp_path / "inhibit"
    tool.write_text(f'#!/bin/sh\necho "started $*" >> {log}\ncat\necho ended >> {log}\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    blocker = SleepBlocker(str(tool))
    blocker.set_active(True)
    blocker.set_active(True)
    qtbot.waitUntil(lambda: log.exists() and "started" in log.read_text(), timeout=10_000)
    assert log.read_text().count("started") == 1
    assert "--what=sleep:idle" in log.read_text()
    blocker.set_active(False)
    qtbot.waitUntil(lambda: "ended" in log.read_text(), timeout=10_000)
