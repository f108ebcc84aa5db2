"""One kernel as text: its file, its shape macros, its signature. The unit that builders compile and the cache keys.

Device files include each other by name; here they are joined into one text, because hiprtc and NVRTC take text, and
because the joined text is what a cache key must cover. The signature is read out of the same text, so that a launch
can check names and types without a second copy of them. No tensors, any thread.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DEVICE_FOLDER = Path(__file__).parent / "device"
_INCLUDE = re.compile(r'#include "([a-z0-9_]+\.h)"$')
_ENTRY = re.compile(r"^KERNEL(?:_WAVES)?\([^)]*\)\s+(\w+)\(([^)]*)\)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel argument. `kind` is the element type behind a pointer, or the scalar type itself."""

    name: str
    kind: str  # u8, u16, u32, i32, u64, float
    is_pointer: bool
    is_output: bool  # a pointer that is not const


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel of a device file at one shape.

    `name` is the entry function and `file` the stem of its file. `defines` are the shape macros, written K_NAME in the
    source. `threads` is the workgroup, `pool_bytes` the LDS that NVIDIA wants asked for at launch (0: static only).
    Files of another `folder` may include those of the device folder.
    """

    name: str
    file: str
    defines: tuple[tuple[str, int | str], ...]
    threads: int
    pool_bytes: int = 0
    folder: Path = DEVICE_FOLDER

    @property
    def label(self) -> str:
        """The kernel with its shape, for tables and messages: attention_rows(HEADS=64, WIDTH=512)."""
        shape = ", ".join(f"{name}={value}" for name, value in self.defines)
        return f"{self.name}({shape})" if shape else self.name

    def text(self) -> str:
        """The whole translation unit, every include of this folder joined in."""
        macros = [f"#define K_{name} {value}" for name, value in self.defines]
        if self.pool_bytes:
            macros.append(f"#define K_POOL_BYTES {self.pool_bytes}")
        return "\n".join([*macros, joined_text(self.folder / f"{self.file}.hip")])

    @property
    def overlaps(self) -> bool:
        """Whether the kernel waits for its inputs itself, so that it may start while the one before it ends."""
        return "await_inputs();" in (self.folder / f"{self.file}.hip").read_text(encoding="utf-8")

    def parameters(self) -> tuple[Parameter, ...]:
        """The entry function's arguments in order; element types that are shape macros are looked up."""
        macros = {f"K_{name}": str(value) for name, value in self.defines}
        for name, arguments in _ENTRY.findall(joined_text(self.folder / f"{self.file}.hip")):
            if name == self.name:
                return tuple(_parameter(argument, macros) for argument in arguments.split(","))
        raise KeyError(f"{self.file}.hip has no kernel {self.name}")

    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text().encode()).hexdigest()


@cache
def joined_text(file: Path) -> str:
    """The text of a kernel file with its includes put in place, each header once."""
    return _join(file, set())


def _join(file: Path, seen: set[str]) -> str:
    lines = [f'#line 1 "{file.name}"']
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        include = _INCLUDE.match(line)
        header = include.group(1) if include else ""
        if not include and line != "#pragma once":
            lines.append(line)
        elif header and not (DEVICE_FOLDER / header).is_file():
            lines.append(line)  # the emulator's header, found by its compiler's include path
        elif header and header not in seen:
            seen.add(header)
            lines += [_join(DEVICE_FOLDER / header, seen), f'#line {number + 1} "{file.name}"']
        else:
            lines.append("")
    return "\n".join(lines) + "\n"


def _parameter(argument: str, macros: dict[str, str]) -> Parameter:
    words = argument.replace("*", " * ").split()
    kind = next(word for word in words if word not in ("const", "*"))
    is_pointer = "*" in words
    return Parameter(words[-1], macros.get(kind, kind), is_pointer, is_pointer and "const" not in words)
