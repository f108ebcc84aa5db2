"""A layout that puts widgets side by side and goes on in the next line where they do not fit. GUI thread."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Items keep their wanted size, up to the width there is."""

    def __init__(self, spacing: int = 8) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(QMargins(0, 0, 0, 0))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, moves=True)

    def sizeHint(self) -> QSize:
        widths = [item.sizeHint().width() for item in self._shown()]
        return QSize(sum(widths) + self.spacing() * max(0, len(widths) - 1), self.minimumSize().height())

    def minimumSize(self) -> QSize:
        return QSize(0, max((item.sizeHint().height() for item in self._shown()), default=0))

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, moves: bool) -> int:
        """The height that the lines take in this width; `moves` also puts the items there."""
        x, y, line = rect.x(), rect.y(), 0
        for item in self._shown():
            size = item.sizeHint().boundedTo(QSize(rect.width(), item.sizeHint().height()))
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y, line = rect.x(), y + line + self.spacing(), 0
            if moves:
                item.setGeometry(QRect(QPoint(self._mirrored(x, size, rect), y), size))
            x += size.width() + self.spacing()
            line = max(line, size.height())
        return y + line - rect.y()

    def _mirrored(self, x: int, size: QSize, rect: QRect) -> int:
        parent = self.parentWidget()
        if isinstance(parent, QWidget) and parent.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            return rect.right() + 1 - (x - rect.x()) - size.width()
        return x
