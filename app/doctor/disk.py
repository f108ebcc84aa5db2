"""How fast can the model file be read? A bounded test: at most 256 MiB or two seconds, past the page cache."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.memory import DS4_WEIGHT_BYTES
from app.plain_words import seconds_text, size_text

MAX_BYTES = 256 << 20
MAX_SECONDS = 2.0
CHUNK_BYTES = 8 << 20
_MEANINGFUL_BYTES = 64 << 20  # less than this says little about a disk
_WANTED_BYTES_S = 2_000_000_000
_SLOW_BYTES_S = 500_000_000


@dataclass(frozen=True, slots=True)
class ReadTest:
    """What was read, and how long it took."""

    bytes: int
    seconds: float
    file_bytes: int

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


def check_disk(model: Path, clock: Callable[[], float] = time.monotonic) -> Iterator[Finding]:
    """One finding on the disk that holds `model`, a file or a folder of files."""
    title, wanted = "Reading the model", "2 GB/s or more for a file of 80 GB or more (an NVMe disk)"
    try:
        test = read_bounded(_largest_file(model), clock)
    except OSError as error:
        found = f"{model}: {error.strerror or error}"
        advice = "Choose a model file that exists and that you may read."
        yield Finding("disk", Topic.SPEED, title, Severity.WARNING, found, wanted, advice)
        return
    facts = {"bytes": test.bytes, "seconds": test.seconds, "file_bytes": test.file_bytes}
    if test.bytes < _MEANINGFUL_BYTES or not test.bytes_per_s:
        found = f"{model.name} has {size_text(test.file_bytes)}, too little to tell the disk's speed"
        yield Finding("disk", Topic.SPEED, title, Severity.NOTE, found, wanted, "", facts)
        return
    speed = test.bytes_per_s
    found = (
        f"about {speed / 1e9:.2g} GB/s: {size_text(test.file_bytes)} in {seconds_text(test.file_bytes / speed)}, "
        f"the largest DS4 file in {seconds_text(DS4_WEIGHT_BYTES / speed)}"
    )
    severity = Severity.OK if speed >= _WANTED_BYTES_S else Severity.WARNING if speed < _SLOW_BYTES_S else Severity.NOTE
    advice = "" if severity is Severity.OK else "Keep large models on an NVMe disk inside the machine."
    yield Finding("disk", Topic.SPEED, title, severity, found, wanted, advice, facts)


def read_bounded(path: Path, clock: Callable[[], float] = time.monotonic) -> ReadTest:
    """Read chunks from all over the file until a limit is reached. Raises OSError.

    The kernel is asked to forget the chunks first, so that the disk is measured and not its cache; what a running
    model has mapped it keeps.
    """
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        count = min(MAX_BYTES, size) // CHUNK_BYTES or 1
        offsets = [
            (size - CHUNK_BYTES) * index // max(count - 1, 1) if size > CHUNK_BYTES else 0 for index in range(count)
        ]
        for offset in offsets:
            os.posix_fadvise(file.fileno(), offset, CHUNK_BYTES, os.POSIX_FADV_DONTNEED)
        buffer = bytearray(min(CHUNK_BYTES, max(size, 1)))
        done, began = 0, clock()
        for offset in offsets:
            file.seek(offset)
            done += file.readinto(buffer) or 0
            if clock() - began >= MAX_SECONDS:
                break
        return ReadTest(done, clock() - began, size)


def _largest_file(model: Path) -> Path:
    """The file itself; of a model's folder the one that takes longest to read."""
    sizes = {path: path.stat().st_size for path in model.glob("*.safetensors")} if model.is_dir() else {}
    return max(sizes, key=lambda path: sizes[path], default=model)
