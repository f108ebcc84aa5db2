"""Look inside a document: its whole text as the model gets it. GUI thread."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from app.widgets import formats
from app.widgets.basics import label

_SHOWN_CHARACTERS = 200_000
_LONGEST_LINE = 2_000


class DocumentDialog(QDialog):
    """Read-only text. Very long texts are shown in part and the dialog says so; the model gets all of it."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(name)
        self.resize(720, 560)
        shown = _broken_lines(text[:_SHOWN_CHARACTERS])
        field = QPlainTextEdit(shown)
        field.setReadOnly(True)
        field.setProperty("kind", "field")
        field.setAccessibleName(name)
        translate = QCoreApplication.translate
        count = translate("Document", "{count} characters").format(count=formats.count(len(text)))
        if len(text) > _SHOWN_CHARACTERS:
            first = formats.count(_SHOWN_CHARACTERS)
            count = translate("Document", "The first {first} of {count} characters; all of them are sent").format(
                first=first, count=formats.count(len(text))
            )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(label(count, tone="muted", size="small"))
        column.addWidget(field, 1)
        column.addWidget(buttons)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)


def _broken_lines(text: str) -> str:
    """Very long lines broken, because the field lays out a whole line at once."""
    return "\n".join(
        piece
        for line in text.split("\n")
        for piece in ([line[i : i + _LONGEST_LINE] for i in range(0, len(line), _LONGEST_LINE)] or [""])
    )
