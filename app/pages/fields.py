"""Rows of a settings page: a name, a line of explanation, and a control bound to a value. GUI thread."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.widgets.basics import label
from app.widgets.formats import isolated

T = TypeVar("T")
_FIELD_WIDTH = 220
_SPIN_MARGINS = (6, 0, 6, 0)  # a style sheet's padding does not reach the field inside


class _QuietSpinBox(QSpinBox):
    """Does not change when one scrolls the page over it."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(*_SPIN_MARGINS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _QuietDoubleSpinBox(QDoubleSpinBox):
    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(*_SPIN_MARGINS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _QuietComboBox(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class FieldRow(QWidget):
    """One row. `show_value` puts a value in without reporting it back."""

    def __init__(self, name: str, help_text: str, control: QWidget, show_value: Callable[[Any], None]) -> None:
        super().__init__()
        self.control = control
        self._show_value = show_value
        control.setAccessibleName(name)
        control.setAccessibleDescription(help_text)
        title = label(name)
        title.setBuddy(control)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(title)
        if help_text:
            texts.addWidget(label(help_text, tone="muted", size="small", wraps=True))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        row.addLayout(texts, 1)
        if not isinstance(control, QCheckBox):
            control.setFixedWidth(_FIELD_WIDTH)
        row.addWidget(control, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def show_value(self, value: Any) -> None:  # Any: each row has its own type, checked where the row is made
        with QSignalBlocker(self.control):
            self._show_value(value)


def check_row(name: str, help_text: str, changed: Callable[[bool], object]) -> FieldRow:
    box = QCheckBox()
    box.toggled.connect(changed)
    return FieldRow(name, help_text, box, lambda value: box.setChecked(bool(value)))


def int_row(
    name: str, help_text: str, low: int, high: int, changed: Callable[[int], object], *, suffix: str = "", step: int = 1
) -> FieldRow:
    box = _QuietSpinBox()
    box.setRange(low, high)
    box.setSuffix(suffix)
    box.setSingleStep(step)
    box.setGroupSeparatorShown(True)
    box.setKeyboardTracking(False)
    box.valueChanged.connect(changed)
    return FieldRow(name, help_text, box, lambda value: box.setValue(int(value)))


def float_row(
    name: str,
    help_text: str,
    low: float,
    high: float,
    changed: Callable[[float], object],
    *,
    step: float = 0.05,
    decimals: int = 2,
    suffix: str = "",
) -> FieldRow:
    box = _QuietDoubleSpinBox()
    box.setRange(low, high)
    box.setSingleStep(step)
    box.setDecimals(decimals)
    box.setSuffix(suffix)
    box.setKeyboardTracking(False)
    box.valueChanged.connect(changed)
    return FieldRow(name, help_text, box, lambda value: box.setValue(float(value)))


def choice_row(name: str, help_text: str, choices: Sequence[tuple[T, str]], changed: Callable[[T], object]) -> FieldRow:
    """A drop-down of (value, words)."""
    box = _QuietComboBox()
    for _, words in choices:
        box.addItem(isolated(words))
    values = [value for value, _ in choices]
    box.currentIndexChanged.connect(lambda index: changed(values[index]))

    def show(value: T) -> None:  # one written by hand into the settings file may be none of these
        box.setCurrentIndex(values.index(value) if value in values else -1)

    return FieldRow(name, help_text, box, show)


def text_area(name: str, changed: Callable[[str], object], placeholder: str = "") -> QPlainTextEdit:
    """A field of several lines over the whole width."""
    area = QPlainTextEdit()
    area.setProperty("kind", "field")
    area.setAccessibleName(name)
    area.setPlaceholderText(placeholder)
    area.setTabChangesFocus(True)
    area.setFixedHeight(88)
    area.textChanged.connect(lambda: changed(area.toPlainText()))
    return area
