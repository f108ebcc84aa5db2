"""The place one reads at: the scroll bar's value, kept on the same text while the heights above it change. GUI thread;
owned by the view.

Rows have exact heights once seen and estimated ones before; when an estimate above the window is corrected, the scroll
position moves with it. At the end of the conversation the place follows the newest text.
"""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.transcript.page import Page
from app.transcript.selection import TextPlace

_STEP = 24
_BOTTOM_MARGIN = 24.0
_NEAR_THE_END = 2  # pixels
_MOST_CORRECTIONS = 200  # rows in the window, each corrected at most a few times
_MOST_APPROACHES = 6  # to a place among estimated heights

Anchor = tuple[int, float] | None  # message id, and how much of it is above the upper edge, as a share of its height


class ReadingPlace(QObject):
    """Moves the scroll bar of `area`, whose viewport is a window on the page. Heights are in pixels."""

    scrolled = Signal()  # another part is in the window, and not by `settle` or `approach`

    def __init__(self, page: Page, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._page, self._viewport, self._bar = page, area.viewport(), area.verticalScrollBar()
        self._is_adjusting = False
        self.follows = True  # stays at the newest text by itself
        self._bar.setSingleStep(_STEP)
        self._bar.valueChanged.connect(self._on_scrolled)

    @property
    def top(self) -> float:
        """Where on the page the window's upper edge is."""
        return float(self._bar.value())

    @property
    def height(self) -> int:
        """How high the window is."""
        return self._viewport.height()

    @property
    def is_all_in_sight(self) -> bool:
        return self._bar.maximum() == 0

    def visible_rows(self) -> range:
        return self._page.geometry.rows_between(self.top, self.top + self.height)

    def move_to(self, top: float) -> None:
        self._bar.setValue(round(top))

    def settle(self) -> None:
        """Lay out what is in the window until nothing moves any more."""
        self._is_adjusting = True
        try:
            for _ in range(_MOST_CORRECTIONS):
                self._fit_bar()
                if not any(self._correct_row(row) for row in self.visible_rows()):
                    break
            self._fit_bar()
        finally:
            self._is_adjusting = False

    def _fit_bar(self) -> None:
        self._update_range()
        if self.follows:
            self.move_to(self._bar.maximum())

    def _correct_row(self, row: int) -> bool:
        """Lay a row out where it is seen. True if its height changed; what grew above the window is scrolled away."""
        top = self.top
        grown_above = self._page.correct_row(row, top, self.height)
        if grown_above and not self.follows:
            self._update_range()
            self.move_to(top + grown_above)
        return grown_above is not None

    def _update_range(self) -> None:
        total = self._page.geometry.total() + _BOTTOM_MARGIN
        self._bar.setPageStep(self.height)
        self._bar.setRange(0, max(0, round(total - self.height)))

    def _on_scrolled(self, value: int) -> None:
        if not self._is_adjusting:
            self.follows = value >= self._bar.maximum() - _NEAR_THE_END
            self.scrolled.emit()

    # ------------------------------------------------------------ coming back, going elsewhere

    def anchor(self) -> Anchor:
        """What stands at the upper edge, before all heights change; None on an empty page."""
        if not self._page.messages:
            return None
        geometry, top = self._page.geometry, self.top
        row = geometry.row_at(top)
        return self._page.messages[row].id, (top - geometry.top(row)) / max(1.0, geometry.height(row))

    def return_to(self, anchor: Anchor) -> None:
        """After all heights changed: bring the same place back to the upper edge, or stay at the end."""
        self._update_range()
        row = self._page.row_of(anchor[0]) if anchor else None
        if anchor is not None and row is not None and not self.follows:
            geometry = self._page.geometry
            self.move_to(geometry.top(row) + anchor[1] * geometry.height(row))

    def approach(self, place: TextPlace) -> bool:
        """Bring a place in the text into the upper third of the window. False if it is not on the page."""
        row = self._page.row_of(place.message_id)
        if row is None:
            return False
        self.follows = False
        for _ in range(_MOST_APPROACHES):  # heights near the place may still be estimates
            before = self.top
            self._is_adjusting = True
            self.move_to(self._page.geometry.top(row) + self._y_within(row, place) - self.height / 3)
            self._is_adjusting = False
            self.settle()
            if self.top == before:
                break
        self.follows = self._bar.value() >= self._bar.maximum()
        return True

    def _y_within(self, row: int, place: TextPlace) -> float:
        """How far below the top of its message a place is."""
        blocks = self._page.layout(row).blocks()
        block = next((b.layout for b in blocks if (b.section, b.index) == (place.section, place.index)), None)
        return 0.0 if block is None else block.top + block.y_of(place.position)
