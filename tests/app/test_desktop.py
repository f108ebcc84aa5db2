"""Best effort towards the desktop: nothing fails without it, and the sleep lock ends with us."""

import stat
import threading
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


def test_without_the_tool_nothing_is_blocked_and_nothing_fails() -> None:
    blocker = SleepBlocker("no-such-tool-anywhere")
    blocker.set_active(True)
    assert not blocker.is_active
    blocker.set_active(False)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def put_tool(log: Path, then: str) -> str:
    """A tool that writes to the log that it started and does what is said `then`."""
    tool = log.with_name("inhibit")
    tool.write_text(f'#!/bin/sh\necho "started $*" >> {log}\n{then}\necho ended >> {log}\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return str(tool)


def wait_for(log: Path, word: str, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: log.exists() and word in log.read_text(), timeout=10_000)


def waiting_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "sleep-blocker"]


def test_the_tool_runs_while_active_and_ends_afterwards(qtbot: QtBot, log: Path) -> None:
    blocker = SleepBlocker(put_tool(log, "cat"))
    blocker.set_active(True)
    blocker.set_active(True)
    wait_for(log, "started", qtbot)
    assert log.read_text().count("started") == 1
    assert "--what=sleep:idle" in log.read_text()
    assert waiting_threads(), "the tool ended while its pipe was open"
    blocker.set_active(False)
    wait_for(log, "ended", qtbot)
    qtbot.waitUntil(lambda: not waiting_threads(), timeout=10_000)


def test_a_blocker_dropped_while_active_ends_its_tool(qtbot: QtBot, log: Path) -> None:
    """The window is closed in the middle of an answer. pytest-qt fails the test for any warning of Qt's."""
    blocker = SleepBlocker(put_tool(log, "cat"))
    blocker.set_active(True)
    wait_for(log, "started", qtbot)
    del blocker
    wait_for(log, "ended", qtbot)


def test_a_tool_that_ends_by_itself_leaves_nothing_behind_and_can_be_asked_again(qtbot: QtBot, log: Path) -> None:
    """As systemd-inhibit does where no logind runs."""
    blocker = SleepBlocker(put_tool(log, "exit 1"))
    for times in (1, 2):
        blocker.set_active(True)
        qtbot.waitUntil(lambda: not waiting_threads(), timeout=10_000)
        assert log.read_text().count("started") == times
        blocker.set_active(False)


def test_a_tool_that_does_not_start_is_no_error(qtbot: QtBot, log: Path) -> None:
    tool = Path(put_tool(log, "cat"))
    tool.write_text("#!/no/such/interpreter\n")
    blocker = SleepBlocker(str(tool))
    blocker.set_active(True)
    qtbot.waitUntil(lambda: not waiting_threads(), timeout=10_000)
    blocker.set_active(False)
    assert not log.exists()
