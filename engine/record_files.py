"""Records of one kind, each a JSON file of its own in one folder: written once, read back together.

Used by the histories of the benchmark and of the qualification, which know what a record is. The caller names the
folder and the atomic writer; the app and the command line hand in those of app.paths and app.files.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from engine.errors import UserError

Writer = Callable[[Path, bytes], None]
R = TypeVar("R")


def save_new(title: str, text: str, folder: Path, write: Writer) -> Path:
    """Write a new file named by the title, never over another one. Returns its path; raises what `write` raises."""
    stem = re.sub(r"[^0-9A-Za-z]+", "-", title).strip("-")
    path, number = folder / f"{stem}.json", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.json"
    write(path, text.encode())
    return path


def load_all(folder: Path, load: Callable[[Path], R]) -> tuple[list[R], tuple[str, ...]]:
    """What `load` makes of each file, by file name, and the sentence of each UserError it raised instead.

    A file that cannot be read is left alone; a folder that does not exist is empty.
    """
    found, problems = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(load(path))
        except UserError as error:
            problems.append(str(error))
    return found, tuple(problems)
