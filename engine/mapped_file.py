"""Maps a model's file into memory; one clear sentence for whatever is not an ordinary, readable, non-empty file."""

import mmap
import os
import stat
from pathlib import Path

from engine.errors import ModelFileError


def map_file(path: Path, kind: str) -> mmap.mmap:
    """The whole file, read-only. `kind` is what errors say it should have been. Raises ModelFileError."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise ModelFileError(f"{path} is a folder, not a {kind}.")
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{path} is not an ordinary file, so it cannot be opened as a model.")
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelFileError(f"{path} is empty, not a {kind}.")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist; choose a {kind}.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelFileError(f"{path} cannot be opened: {reason}.") from None
