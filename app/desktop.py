"""What the desktop does for us: a notification when a long answer ends, no sleep while the engine works. GUI thread.

Everything is best effort: a desktop without these services is no error, and nothing here blocks.
"""

import logging
import os
import shutil
import subprocess
import threading
from typing import BinaryIO

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


class SleepBlocker:
    """Keeps the computer awake while `set_active(True)` holds, through logind's own tool.

    The tool runs `cat` on a pipe from us: when the blocker or this process ends in any way, the pipe closes and sleep
    is allowed. A thread starts the tool and waits for it, so that neither costs the GUI thread anything and a tool
    that ends by itself leaves no dead process behind.
    """

    def __init__(self, program: str = _INHIBITOR) -> None:
        self._program = shutil.which(program)
        self._pipe: BinaryIO | None = None

    @property
    def is_active(self) -> bool:
        return self._pipe is not None

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
        read_end, write_end = os.pipe()
        self._pipe = os.fdopen(write_end, "wb", buffering=0)
        threading.Thread(target=_inhibit, args=(self._program, read_end), name="sleep-blocker", daemon=True).start()

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def __del__(self) -> None:
        self._end()


def _inhibit(program: str, pipe: int) -> None:
    """Run the tool until the other end of the pipe is closed; the descriptor is closed here."""
    command = [program, "--what=sleep:idle", "--who=Haloband", "--why=Answering a question", "--mode=block", "cat"]
    try:
        subprocess.run(command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        log.info("sleep is not blocked: %s", error)
    finally:
        os.close(pipe)
