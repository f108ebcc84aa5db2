"""Everything a probe may ask of the machine: files below a root, commands, device nodes, packages, the user.

`real_host` answers from this machine; tests build a Host from a recording. Any thread; every question returns None
where there is no answer, and never raises.
"""

import contextlib
import functools
import grp
import os
import pwd
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from app.display import missing_window_library

COMMAND_TIMEOUT_S = 10.0
SELF_TEST_TIMEOUT_S = 120.0
_POLL_S = 0.1
_OUTPUT_LIMIT = 64 * 1024  # characters of a command's output that are kept
_FILE_LIMIT = 256 * 1024  # bytes of a file that are read


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended. A negative status is the signal that killed it."""

    status: int
    stdout: str
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A device file: its group's name, its permission bits, and whether this process may read and write it."""

    group: str
    mode: int
    can_open: bool


@dataclass(frozen=True, slots=True)
class User:
    """`groups` this process has; `enrolled` are those that the user database promises to the next login."""

    name: str
    groups: frozenset[str]
    enrolled: frozenset[str]


@dataclass(frozen=True, slots=True)
class Host:
    """A machine, real or recorded. `device` takes an absolute path, `package_file` a package and a path inside it."""

    root: Path
    run: Callable[[tuple[str, ...]], CommandResult | None]
    device: Callable[[str], DeviceNode | None]
    package_version: Callable[[str], str | None]
    package_file: Callable[[str, str], str | None]
    user: User
    environment: Mapping[str, str]
    python: tuple[int, int, int]
    self_test_command: tuple[str, ...]
    is_packaged: bool = False  # the program carries its own Python and packages
    missing_window_library: Callable[[], str | None] = lambda: None  # of the system's, by its file's name

    def text(self, path: str) -> str | None:
        """The stripped text of a file, given without its leading slash. None if it cannot be read or is empty."""
        try:
            with (self.root / path).open("rb") as file:
                return file.read(_FILE_LIMIT).decode(errors="replace").strip() or None
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """The number in a file, decimal or 0x; None if there is none."""
        try:
            return int(self.text(path) or "", 0)
        except ValueError:
            return None

    def glob(self, pattern: str) -> list[str]:
        """Paths below the root that match, sorted, in the form that `text` takes."""
        try:
            return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        try:
            return (self.root / path).exists()
        except OSError:
            return False


def real_host(stop: threading.Event | None = None) -> Host:
    """This machine, this process, this Python. Setting `stop` ends a command that runs, as if it were not there."""
    return Host(
        root=Path("/"),
        run=functools.partial(run_command, stop=stop),
        device=_read_device,
        package_version=_package_version,
        package_file=_package_file,
        user=_read_user(),
        environment=dict(os.environ),
        python=(sys.version_info.major, sys.version_info.minor, sys.version_info.micro),
        self_test_command=_self_test_command(),
        is_packaged=_is_packaged(),
        missing_window_library=missing_window_library,
    )


def run_command(
    command: tuple[str, ...], timeout_s: float | None = None, stop: threading.Event | None = None
) -> CommandResult | None:
    """Run a command without a shell or a terminal. None if it is not there, did not end in time, or was stopped."""
    limit = timeout_s or (SELF_TEST_TIMEOUT_S if command[-1:] == ("--self-test",) else COMMAND_TIMEOUT_S)
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, errors="replace", text=True
        )
    except OSError:
        return None
    end = time.monotonic() + limit
    with process:
        while True:
            try:
                out, err = process.communicate(timeout=_POLL_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() < end and not (stop is not None and stop.is_set()):
                    continue
                process.kill()
                return None
            return CommandResult(process.returncode, out[-_OUTPUT_LIMIT:], err[-_OUTPUT_LIMIT:])


def _self_test_command() -> tuple[str, ...]:
    """This program again: in a packaged app the interpreter is the app itself."""
    program = (sys.executable,) if _is_packaged() else (sys.executable, "-m", "app.cli")
    return (*program, "doctor", "--self-test")


def _is_packaged() -> bool:
    return bool(getattr(sys, "frozen", False))


def _read_device(path: str) -> DeviceNode | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)
    return DeviceNode(group, stat.S_IMODE(status.st_mode), os.access(path, os.R_OK | os.W_OK))


def _package_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _package_file(name: str, path: str) -> str | None:
    try:
        return Path(str(metadata.distribution(name).locate_file(path))).read_text(errors="replace")
    except (metadata.PackageNotFoundError, OSError):
        return None


def _read_user() -> User:
    groups = set()
    for gid in {os.getegid(), *os.getgroups()}:
        with contextlib.suppress(KeyError):
            groups.add(grp.getgrgid(gid).gr_name)
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        name = str(os.geteuid())
    enrolled = {entry.gr_name for entry in grp.getgrall() if name in entry.gr_mem}
    return User(name, frozenset(groups), frozenset(enrolled))
