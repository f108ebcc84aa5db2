"""Turns arbitrary bytes into choices, so that a fuzzer's input can also build things that have a structure.

The same bytes always give the same choices, whatever produced them; once they run out, every choice is the first one.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class ByteSource:
    """Consumes `data` from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    @property
    def is_empty(self) -> bool:
        return self._offset >= len(self._data)

    def take(self, count: int) -> bytes:
        """The next `count` bytes, or as many as are left."""
        taken = self._data[self._offset : self._offset + count]
        self._offset += len(taken)
        return taken

    def number(self, below: int) -> int:
        """0 up to below - 1, from as many bytes as that needs."""
        size = ((below - 1).bit_length() + 7) // 8
        return int.from_bytes(self.take(size), "little") % below

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.number(len(choices))]

    def flag(self) -> bool:
        return self.number(2) == 1

    def chunk(self, longest: int = 255) -> bytes:
        """A length byte and that many bytes."""
        return self.take(self.number(min(longest, 255) + 1))

    def text(self, longest: int = 255) -> str:
        """Text with whatever the bytes give, lone surrogates included, which JSON files can hold."""
        return self.chunk(longest).decode("utf-8", "surrogateescape" if self.flag() else "replace")

    def rest(self) -> bytes:
        return self.take(len(self._data))
