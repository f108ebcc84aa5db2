"""What the desktop does for us: a notification when a long answer ends, no sleep while the engine works. GUI thread.

Everything is best effort: a desktop without these services is no error, and nothing here blocks.
"""

import logging
import shutil

from PySide6.QtCore import QObject, QProcess
from PySide6.QtDBus import QDBusConnection, QDBusMessage

log = logging.getLogger("haloband.desktop")

_PORTAL = "org.freedesktop.portal.Desktop"
_PORTAL_PATH = "/org/freedesktop/portal/desktop"
_NOTIFICATION = "org.freedesktop.portal.Notification"
_INHIBITOR = "systemd-inhibit"


class Notifier:
    """Notifications through the desktop portal, which also works from inside a sandbox."""

    def notify(self, key: str, title: str, body: str) -> bool:
        """Show a notification; a later one with the same key takes its place. False without a session bus."""
        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return False
        message = QDBusMessage.createMethodCall(_PORTAL, _PORTAL_PATH, _NOTIFICATION, "AddNotification")
        message.setArguments([key, {"title": title, "body": body}])
        return bus.send(message)


class SleepBlocker(QObject):
    """Keeps the computer awake while `set_active(True)` holds, through logind's own tool.

    The tool runs `cat` on a pipe from us: when this process ends in any way, the pipe closes and sleep is allowed.
    """

    def __init__(self, program: str = _INHIBITOR, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._program = shutil.which(program)
        self._process: QProcess | None = None

    @property
    def is_active(self) -> bool:
        return self._process is not None

    def set_active(self, active: bool) -> None:
        if active == self.is_active:
            return
        if active:
            self._begin()
        else:
            self._end()

    def _begin(self) -> None:
        if self._program is None:
            return
        process = QProcess(self)
        process.errorOccurred.connect(lambda error: log.info("sleep is not blocked: %s", error))
        arguments = ["--what=sleep:idle", "--who=Haloband", "--why=Answering a question", "--mode=block", "cat"]
        process.start(self._program, arguments)
        self._process = process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.finished.connect(process.deleteLater)
            process.closeWriteChannel()
