"""Code objects on disk, so that a kernel is compiled once a machine. Safe for several processes at a time.

The key covers the joined source, the options, the compiler's version and the target. A file appears by rename and
holds its own digest, so a half-written or damaged one is compiled again instead of loaded. Other forms of a kernel, by
an older program or compiler say, go when a new one is written and they were not read for 90 days.
"""

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kernels.builder import Builder
from kernels.source import KernelSource

_DIGEST_BYTES = 32
_KEPT_S = 90 * 24 * 3600  # since a file was read last, which its time of change says
_SCRATCH = ".building-"


def default_folder() -> Path:
    """$XDG_CACHE_HOME/haloband/kernels, or the same under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "haloband" / "kernels"


@dataclass(frozen=True, slots=True)
class CodeCache:
    """A folder of code objects."""

    folder: Path

    def key(self, source: KernelSource, builder: Builder) -> str:
        """The file name of this source by this builder: the kernel's name and a SHA-256."""
        parts = (source.text(), *builder.options, builder.identity, builder.target)
        return f"{source.name}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()}.co"

    def get(self, source: KernelSource, builder: Builder) -> bytes:
        """The code object, from disk or built now. A folder that cannot be written costs only the next build."""
        path = self.folder / self.key(source, builder)
        stored = self._read(path)
        if stored is not None:
            return stored
        image = builder.build(source)
        self._write(path, image)
        return image

    def _read(self, path: Path) -> bytes | None:
        try:
            content = path.read_bytes()
        except OSError:
            return None
        image = content[_DIGEST_BYTES:]
        if not image or hashlib.sha256(image).digest() != content[:_DIGEST_BYTES]:
            return None
        with suppress(OSError):
            os.utime(path)
        return image

    def _write(self, path: Path, image: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=_SCRATCH)
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(image).digest() + image)
            os.replace(scratch, path)
        except OSError:
            Path(scratch).unlink(missing_ok=True)
            return
        self._forget(path.name.rpartition("-")[0])

    def _forget(self, kernel: str) -> None:
        """Remove what nobody has read for long. Another process may do the same, or read one of them at this moment: it
        then has it whole, or builds it again.
        """
        for pattern in (f"{kernel}-*.co", f"{_SCRATCH}*"):
            for found in self.folder.glob(pattern):
                with suppress(OSError):
                    if time.time() - found.stat().st_mtime > _KEPT_S:
                        found.unlink()
