"""One process for each data folder: a kernel lock decides who is first, a local socket raises the first one's window.

The lock is `flock`, which the kernel lets go at any kind of death, so no stale lock can keep a person out. GUI thread.
"""

import contextlib
import fcntl
import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.errors import StoreError, StoreProblem
from app.files import why_not_written
from app.paths import AppPaths

log = logging.getLogger("haloband.instance")

_RAISE = b"raise\n"
_ANSWER_MS = 2000


class FolderLock:
    """The right to write one data folder. Held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """True if this process may write the folder; False if another one holds it. Raises StoreError."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(
                f"The data folder {self._path.parent} cannot be used: {why_not_written(error)}.", StoreProblem.READ_ONLY
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError as error:  # a file system without locks: better to work than to refuse
            log.warning("%s: no lock on this file system (%s)", self._path, error)
        os.ftruncate(descriptor, 0)
        with contextlib.suppress(OSError):  # the number is only for people; a full disk must not matter
            os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class SingleInstance(QObject):
    """Call `acquire` first. If it is False, `raise_first` and end; otherwise connect `raise_requested`."""

    raise_requested = Signal()

    def __init__(self, paths: AppPaths, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = FolderLock(paths.lock_file)
        runtime = paths.runtime_dir
        usable = runtime.is_dir() and os.access(runtime, os.W_OK)
        self._server_name = str(runtime / paths.instance_name) if usable else paths.instance_name
        self._server: QLocalServer | None = None

    def acquire(self) -> bool:
        """True if this is the first process on the folder; it then listens for later ones. Raises StoreError."""
        if not self._lock.acquire():
            return False
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        QLocalServer.removeServer(self._server_name)  # we hold the lock, so what is there is a dead process's
        if server.listen(self._server_name):
            server.newConnection.connect(self._on_new_connection)
            self._server = server
        else:
            log.warning("a second start cannot raise this window: %s", server.errorString())
        return True

    def raise_first(self) -> bool:
        """Ask the first process to show its window. False if it does not answer."""
        socket = QLocalSocket()
        socket.connectToServer(self._server_name)
        if not socket.waitForConnected(_ANSWER_MS):
            return False
        socket.write(_RAISE)
        answered = socket.waitForBytesWritten(_ANSWER_MS) and socket.waitForReadyRead(_ANSWER_MS)
        socket.abort()
        return answered

    def release(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.release()

    def _on_new_connection(self) -> None:
        assert self._server is not None
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(lambda socket=socket: self._on_socket_ready(socket))
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._on_socket_ready(socket)

    def _on_socket_ready(self, socket: QLocalSocket) -> None:
        if socket.read(len(_RAISE)).data() == _RAISE:
            socket.write(b"ok\n")
            socket.flush()
            self.raise_requested.emit()
        else:
            socket.abort()
