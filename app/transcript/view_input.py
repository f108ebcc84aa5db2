"""Mouse and keyboard of the transcript: selecting text, following links, copying. GUI thread; owned by the view, which
passes its events on."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QContextMenuEvent,
    QDesktopServices,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QScrollBar, QWidget

from app.transcript.code_layout import CodeLayout
from app.transcript.message_layout import MessageLayout
from app.transcript.model import MessageView
from app.transcript.page import Page
from app.transcript.rich_text import safe_url
from app.transcript.selection import Selection, TextPlace
from app.transcript.slots import PlacedBlock
from app.widgets.basics import copy_to_clipboard

_EDGE = 24  # pixels from the edge where dragging starts to scroll


def _tr(text: str) -> str:
    return QCoreApplication.translate("Transcript", text)


class Surface(Protocol):
    """What input acts on: the view, as far as it is needed here."""

    page: Page

    @property
    def messages(self) -> Sequence[MessageView]: ...
    @property
    def selection(self) -> Selection: ...
    def viewport(self) -> QWidget: ...
    def verticalScrollBar(self) -> QScrollBar: ...
    def setFocus(self, reason: Qt.FocusReason, /) -> None: ...
    def scroll_y(self) -> float: ...
    def row_top(self, row: int) -> float: ...
    def layout_of_row(self, row: int) -> MessageLayout: ...
    def column_left(self) -> float: ...
    def column_width(self) -> float: ...
    def place_frames(self) -> None: ...
    def selected_text(self) -> str: ...
    def select_all(self) -> None: ...
    def scroll_to_newest(self) -> None: ...


class ViewInput(QObject):
    """Turns events of the viewport into selections and clicks."""

    def __init__(self, view: Surface, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._is_dragging = False
        self._pressed_link = ""
        self._pointer = QPoint()
        self._clicks = 0
        self._drag_timer = QTimer(self)
        self._drag_timer.setInterval(30)
        self._drag_timer.timeout.connect(self._on_drag_tick)

    def viewport_event(self, event: QEvent) -> bool:
        """True if the event was taken."""
        if isinstance(event, QMouseEvent):
            return self._mouse(event)
        if isinstance(event, QContextMenuEvent):
            self._show_menu(event.pos(), event.globalPos())
            return True
        if isinstance(event, QWheelEvent):
            return self._wheel(event)
        return False

    # ------------------------------------------------------------ mouse

    def _mouse(self, event: QMouseEvent) -> bool:
        point = event.position()
        match event.type():
            case QEvent.Type.MouseButtonPress if event.button() == Qt.MouseButton.LeftButton:
                self._press(point, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
            case QEvent.Type.MouseButtonDblClick if event.button() == Qt.MouseButton.LeftButton:
                self._select_word(point)
            case QEvent.Type.MouseMove:
                self._move(point, pressed=bool(event.buttons() & Qt.MouseButton.LeftButton))
            case QEvent.Type.MouseButtonRelease if event.button() == Qt.MouseButton.LeftButton:
                self._release(point)
            case _:
                return False
        return True

    def _press(self, point: QPointF, *, extend: bool) -> None:
        self._view.setFocus(Qt.FocusReason.MouseFocusReason)
        place, _ = self._find(point)
        self._pressed_link = self._link(point)
        self._is_dragging = place is not None
        selection = self._view.selection
        if place is not None and extend and selection.anchor is not None:
            selection.set(selection.anchor, place)
        else:
            selection.set(place, place)
        self._view.viewport().update()

    def _move(self, point: QPointF, *, pressed: bool) -> None:
        self._pointer = point.toPoint()
        if pressed and self._is_dragging:
            self._extend(point)
            near_edge = not (_EDGE < point.y() < self._view.viewport().height() - _EDGE)
            if near_edge and not self._drag_timer.isActive():
                self._drag_timer.start()
            return
        self._view.viewport().setCursor(self._cursor(point))

    def _extend(self, point: QPointF) -> None:
        place, _ = self._find(point)
        if place is not None:
            self._view.selection.set(self._view.selection.anchor, place)
            self._view.viewport().update()

    def _release(self, point: QPointF) -> None:
        self._is_dragging = False
        self._drag_timer.stop()
        link = self._link(point)
        if link and link == self._pressed_link and self._view.selection.is_empty:
            open_link(link)
        if not self._view.selection.is_empty and QGuiApplication.clipboard().supportsSelection():
            QGuiApplication.clipboard().setText(self._view.selected_text(), QGuiApplication.clipboard().Mode.Selection)

    def _on_drag_tick(self) -> None:
        """Scroll while the pointer is held at or beyond the upper or lower edge."""
        height = self._view.viewport().height()
        y = self._pointer.y()
        overshoot = y - _EDGE if y < _EDGE else y - (height - _EDGE) if y > height - _EDGE else 0
        if not overshoot or not self._is_dragging:
            self._drag_timer.stop()
            return
        bar = self._view.verticalScrollBar()
        bar.setValue(bar.value() + overshoot // 2)
        self._extend(QPointF(self._pointer.x(), min(max(0, y), height - 1)))

    def _select_word(self, point: QPointF) -> None:
        place, placed = self._find(point)
        if place is None or placed is None:
            return
        start, end = placed.layout.word_at(place.position)
        first = TextPlace(place.message_id, place.section, place.index, start)
        self._view.selection.set(first, TextPlace(place.message_id, place.section, place.index, end))
        self._view.viewport().update()

    def _wheel(self, event: QWheelEvent) -> bool:
        """Sideways wheel (or Shift and wheel) over long code scrolls the code."""
        delta = event.angleDelta()
        sideways = delta.x() or (delta.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier or abs(sideways) <= abs(delta.y()) // 2:
            return False
        _, placed = self._find(event.position())
        if placed is None or not isinstance(placed.layout, CodeLayout):
            return False
        code = placed.layout
        code.scroll_x = min(code.max_scroll_x, max(0.0, code.scroll_x - sideways / 2))
        self._view.place_frames()
        return True

    # ------------------------------------------------------------ finding

    def _find(self, point: QPointF) -> tuple[TextPlace | None, PlacedBlock | None]:
        """The text place nearest to a point of the viewport, and the block that holds it."""
        view = self._view
        if not view.messages:
            return None, None
        y = point.y() + view.scroll_y()
        row = view.page.geometry.row_at(y)
        layout = view.layout_of_row(row)
        inner_y, inner_x = y - view.row_top(row), point.x() - view.column_left()
        blocks = layout.blocks()
        if not blocks:
            return None, None
        placed = next((b for b in blocks if inner_y < b.layout.top + b.layout.height), blocks[-1])
        block = placed.layout
        position = block.hit(inner_x - block.x, inner_y - block.top)
        return TextPlace(layout.view.id, placed.section, placed.index, position), placed

    def _link(self, point: QPointF) -> str:
        view = self._view
        place, placed = self._find(point)
        if place is None or placed is None:
            return ""
        row = view.page.row_of(place.message_id)
        if row is None:
            return ""
        y = point.y() + view.scroll_y() - view.row_top(row)
        return placed.layout.link_at(point.x() - view.column_left() - placed.layout.x, y - placed.layout.top)

    def _cursor(self, point: QPointF) -> Qt.CursorShape:
        if self._link(point):
            return Qt.CursorShape.PointingHandCursor
        inside = 0 <= point.x() - self._view.column_left() <= self._view.column_width()
        return Qt.CursorShape.IBeamCursor if inside and self._view.messages else Qt.CursorShape.ArrowCursor

    # ------------------------------------------------------------ keyboard and menu

    def key_press(self, event: QKeyEvent) -> bool:
        """True if the key was taken."""
        view, bar = self._view, self._view.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            view.select_all()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() == Qt.Key.Key_End:
            view.scroll_to_newest()
        else:
            return False
        return True

    def _copy(self) -> None:
        text = self._view.selected_text()
        if text:
            copy_to_clipboard(text)

    def _show_menu(self, point: QPoint, global_point: QPoint) -> None:
        menu = QMenu(self._view.viewport())
        copy = menu.addAction(_tr("Copy"), self._copy)
        copy.setEnabled(not self._view.selection.is_empty)
        link = self._link(QPointF(point))
        if link:
            menu.addAction(_tr("Copy link address"), lambda: copy_to_clipboard(link))
        place, _ = self._find(QPointF(point))
        if place is not None:
            row = self._view.page.row_of(place.message_id)
            if row is not None:
                text = self._view.messages[row].text
                menu.addAction(_tr("Copy message"), lambda: copy_to_clipboard(text))
        menu.addSeparator()
        menu.addAction(_tr("Select all"), self._view.select_all)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(global_point)


def open_link(url: str) -> None:
    """Open a link in the person's browser; only http and https ever get here, and it is checked again."""
    if safe_url(url) is not None:
        QDesktopServices.openUrl(QUrl(url))
