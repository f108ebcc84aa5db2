"""The list of shortcuts, made from the window's own table. GUI thread."""

from itertools import groupby

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from app.settings import SendKey
from app.widgets.basics import label
from app.window_actions import ACTIONS, action_text, keys_text


def _tr(text: str) -> str:
    return QCoreApplication.translate("Shortcuts", text)


class ShortcutsDialog(QDialog):
    """Two columns of groups."""

    def __init__(self, send_key: SendKey, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_tr("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout()
        grid.setHorizontalSpacing(40)
        grid.setVerticalSpacing(6)
        for column, groups in enumerate(_columns(send_key)):
            row = 0
            for title, lines in groups:
                grid.addWidget(label(title, tone="strong"), row, 2 * column, 1, 2)
                row += 1
                for text, keys in lines:
                    grid.addWidget(label(text), row, 2 * column)
                    grid.addWidget(label(keys, tone="muted"), row, 2 * column + 1, Qt.AlignmentFlag.AlignRight)
                    row += 1
                grid.setRowMinimumHeight(row, 8)
                row += 1
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column_layout = QVBoxLayout(self)
        column_layout.setContentsMargins(24, 24, 24, 16)
        column_layout.addLayout(grid)
        column_layout.addSpacing(8)
        column_layout.addWidget(buttons)


Group = tuple[str, list[tuple[str, str]]]


def _columns(send_key: SendKey) -> tuple[list[Group], list[Group]]:
    """The groups of the table, and the keys of the composer, which are not actions of the window."""
    groups: list[Group] = [
        (action_text(group), [(action_text(spec.text), keys_text(spec)) for spec in specs])
        for group, specs in groupby(ACTIONS, key=lambda spec: spec.group)
    ]
    sends_with_ctrl = send_key is SendKey.CTRL_ENTER
    composer: Group = (
        _tr("In the question field"),
        [
            (_tr("Send"), _tr("Ctrl+Enter") if sends_with_ctrl else _tr("Enter")),
            (_tr("New line"), _tr("Enter") if sends_with_ctrl else _tr("Shift+Enter")),
            (_tr("Edit the last question (empty field)"), _tr("Up")),
        ],
    )
    return [*groups[:2], composer], groups[2:]
