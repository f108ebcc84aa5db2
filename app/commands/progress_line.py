"""One line of progress on a person's terminal, for every long command. Main thread; nothing where nobody watches."""

from collections.abc import Callable
from typing import TextIO

_BAR_CELLS = 24


class ProgressLine:
    """A line that is written over and cleared at the end."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._is_watched, self._width, self._shown = out, out.isatty(), 0, ""

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, line: str) -> None:
        """Put `line` in the place of the one before."""
        if self._is_watched and line != self._shown:
            self._out.write("\r" + line.ljust(self._width))
            self._out.flush()
            self._width, self._shown = len(line), line

    def counting(self, what: str) -> Callable[[int, int], None]:
        """A `progress(done, total)` that shows `what [####....]  34%`."""
        return lambda done, total: self.show(f"{what} {bar(done / total if total else 1.0)}")

    def clear(self) -> None:
        """Leave an empty line, for whatever is printed next."""
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()
            self._width, self._shown = 0, ""


def bar(share: float) -> str:
    """`[########................]  34%` of a share from 0 to 1."""
    cells = round(share * _BAR_CELLS)
    return f"[{'#' * cells}{'.' * (_BAR_CELLS - cells)}] {share:4.0%}"
