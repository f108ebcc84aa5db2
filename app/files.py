"""Writing a file so that a kill or a full disk leaves either the old content or the new, never half of one.

Used for settings and exports; SQLite has its own means. Blocking (fsync): not for the GUI thread.
"""

import contextlib
import errno
import os
import tempfile
import time
from pathlib import Path

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def write_atomic(path: Path, content: bytes) -> None:
    """Replace `path` with `content`. Raises OSError and leaves the old file in that case."""
    target = path.resolve()  # a link (dotfiles in a repository, say) stays a link
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def set_aside(path: Path) -> Path:
    """Move a damaged file beside itself under a free name that says when; returns the new path. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for attempt in range(1000):
        aside = path.with_name(f"{path.name}.damaged-{stamp}{f'-{attempt}' if attempt else ''}")
        if not aside.exists():
            os.rename(path, aside)
            return aside
    raise FileExistsError(errno.EEXIST, "no free name to keep a damaged file", str(path))


def why_not_written(error: OSError) -> str:
    """The reason of a failed write in a few plain words, to end a sentence with."""
    if error.errno in _FULL:
        return "the disk is full"
    if error.errno in _REFUSED:
        return "the folder is read-only"
    if error.errno == errno.ENOENT:
        return "the folder is gone"
    return (error.strerror or str(error)).lower()


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the file system lets us."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
