"""A row of settings that may have a value of its own or leave it to others, as a tick in front says. GUI thread."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app.pages.fields import FieldRow

Changed = Callable[[Any], object]  # Any: each row has its own type, or None where it has no value of its own


def _tr(text: str) -> str:
    return QCoreApplication.translate("OwnRow", text)


class OwnRow(QWidget):
    """Ticked, `value` is the row's own; else it is None, and what holds without it (`default`) is shown.

    `make` builds the field, given what it shall call; `changed` hears what a person changes.
    """

    def __init__(self, make: Callable[[Changed], FieldRow], default: object, changed: Changed | None = None) -> None:
        super().__init__()
        self.value: object = None
        self._default, self._changed = default, changed
        self._row = make(self._take)
        self.control = self._row.control
        self.own = QCheckBox()
        self.own.setAccessibleName(_tr("Own value: {name}").format(name=self.control.accessibleName()))
        self.own.toggled.connect(self._on_own_toggled)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.own)
        layout.addWidget(self._row, 1)
        self._put(None)

    def show_value(self, value: object) -> None:
        """Put in a value of the row's own, or None, without reporting it back."""
        with QSignalBlocker(self.own):
            self.own.setChecked(value is not None)
        self._put(value)

    def set_default(self, default: object) -> None:
        """What holds without a value of the row's own."""
        self._default = default
        self._put(self.value)

    def _put(self, value: object) -> None:
        self.value = value
        self.control.setEnabled(value is not None)
        self._row.show_value(self._default if value is None else value)

    def _on_own_toggled(self, on: bool) -> None:
        self._put(self._default if on else None)
        self._report()

    def _take(self, value: object) -> None:
        self.value = value
        self._report()

    def _report(self) -> None:
        if self._changed is not None:
            self._changed(self.value)
