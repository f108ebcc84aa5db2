"""A new file that appears whole or not at all, with one sentence where it cannot be written. Any thread."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from engine.errors import UserError


def check_target(sources: Sequence[Path], target: Path, overwrite: bool) -> None:
    """Refuse a target that is one of the sources, by whatever name, exists without `overwrite`, or has no folder."""
    if target.is_dir():
        raise UserError(f"{target} is a folder; name a file to write.")
    if target.exists():
        if any(source.exists() and target.samefile(source) for source in sources):
            raise UserError(f"{target} is the model itself or a part of it; name another file to write.")
        if not overwrite:
            raise UserError(f"{target} exists already; use --force to replace it.")
    if not target.absolute().parent.is_dir():
        raise UserError(f"{target.absolute().parent} is not a folder, so {target.name} cannot be written there.")


def check_room(target: Path, size: int) -> None:
    """Refuse where the target's disk has less than `size` bytes left."""
    free = shutil.disk_usage(target.absolute().parent).free
    if size > free:
        gib = 1 << 30
        raise UserError(f"{target} will have {size / gib:.2f} GiB, but only {free / gib:.2f} GiB are free there.")


@contextlib.contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """A file beside `target` that takes its place when all went well, and is gone otherwise."""
    scratch = None
    try:
        handle, scratch = tempfile.mkstemp(dir=target.absolute().parent, prefix=f".{target.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(scratch, 0o666 & ~umask)
        os.replace(scratch, target)
        scratch = None
    except OSError as error:
        raise UserError(f"{target} could not be written: {error.strerror or error}.") from None
    finally:
        if scratch is not None:
            Path(scratch).unlink(missing_ok=True)
