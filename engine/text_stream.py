"""Assembles streamed tokens into text without ever showing half a character.

A token may end inside a UTF-8 character; its bytes wait here for the rest. One stream serves one answer, on the
thread that generates it.
"""

import codecs
from collections.abc import Callable


class TextStream:
    """Feed ids with `push`; what it returns, joined with what `finish` returns, is the decoded text of all ids."""

    __slots__ = ("_decoder", "_piece")

    def __init__(self, piece: Callable[[int], bytes]) -> None:
        """`piece` gives the bytes of a token id."""
        self._piece = piece
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, id: int) -> str:
        """The characters that this token completes, perhaps none. Bytes that cannot be UTF-8 become U+FFFD."""
        return self._decoder.decode(self._piece(id))

    def finish(self) -> str:
        """What is left: an unfinished character as U+FFFD, or nothing. The stream may then be used again."""
        tail = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return tail
