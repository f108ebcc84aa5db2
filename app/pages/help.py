"""A page of help: how to begin, where things are kept, how to report a fault. GUI thread."""

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from app.paths import AppPaths
from app.widgets.basics import button, label


def _tr(text: str) -> str:
    return QCoreApplication.translate("Help", text)


class HelpDialog(QDialog):
    """Short; the long form is the documentation."""

    def __init__(self, paths: AppPaths, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_tr("Help"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 420)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 16)
        column.setSpacing(8)
        for title, text in _sections(paths):
            column.addWidget(label(title, tone="strong"))
            column.addWidget(label(text, wraps=True))
            column.addSpacing(8)
        column.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        folder = button(_tr("Open the log folder"), lambda: _open_folder(paths))
        buttons.addButton(folder, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)


def _open_folder(paths: AppPaths) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(paths.state_dir)))


def _sections(paths: AppPaths) -> tuple[tuple[str, str], ...]:
    return (
        (
            _tr("Ask about a document"),
            _tr(
                "Paste a long text, drop a file on the question field, or use the paper clip. The whole text reaches "
                "the model; what does not fit is said before anything is sent."
            ),
        ),
        (
            _tr("Watch the engine"),
            _tr(
                "The panel at the right shows how fast the prompt is read and the answer written, and what every layer "
                "keeps in memory. The Benchmark tab measures it."
            ),
        ),
        (
            _tr("Where your chats are"),
            _tr("In {folder}. They never leave this computer.").format(folder=paths.data_dir),
        ),
        (
            _tr("If something goes wrong"),
            _tr("The log is {file}. It holds no chat text, and nothing is sent by itself.").format(file=paths.log_file),
        ),
    )
