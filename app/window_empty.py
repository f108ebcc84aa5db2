"""What a new chat shows before the first question: what one can do next. GUI thread."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.chat.models import ModelState, ModelStatus
from app.sentences import translated
from app.theme import Theme
from app.widgets import formats
from app.widgets.basics import button, label
from app.widgets.icons import BESIDE_TEXT, icon_beside_text, pixmap


def _tr(text: str) -> str:
    return QCoreApplication.translate("EmptyState", text)


class EmptyState(QWidget):
    """A title, one sentence about the model, and three ways to begin."""

    attach_requested = Signal()
    example_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mark = QLabel()
        self._mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title = label(_tr("What would you like to know?"), size="title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._model = label(tone="muted", wraps=True)
        self._model.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._buttons: list[tuple[str, QPushButton]] = []
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addStretch(2)
        for widget in (self._mark, title, self._model):
            column.addWidget(widget)
        column.addSpacing(16)
        self._add(column, "document", _tr("Open a document and ask about it"), self.attach_requested.emit)
        for text in (_tr("Write a short poem about the sea."), _tr("Why is the sky blue?")):
            self._add(column, "edit", text, partial(self.example_chosen.emit, text))
        column.addStretch(3)
        self.set_theme(theme)
        self.show_model(ModelStatus(ModelState.NONE))

    def _add(self, column: QVBoxLayout, icon_name: str, text: str, act: Callable[[], object]) -> None:
        widget = button(text, act)
        widget.setMinimumWidth(340)
        widget.setIconSize(BESIDE_TEXT)
        self._buttons.append((icon_name, widget))
        column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def show_model(self, model: ModelStatus) -> None:
        if model.state is ModelState.LOADING:
            text = _tr("The model is being loaded. You can write already.")
        elif model.state is ModelState.FAILED:
            text = _tr("{problem} Choose another model under Models.").format(problem=translated(model.message))
        elif model.info is None:
            text = _tr("No model is loaded. Choose one under Models.")
        else:
            text = _tr("{name} answers on this computer. It reads up to {context}.").format(
                name=model.info.name, context=formats.tokens(model.info.context_length)
            )
        self._model.setText(text)

    def set_theme(self, theme: Theme) -> None:
        self._mark.setPixmap(pixmap("app/io.github.haloband.Haloband", theme.accent, 64))
        for name, widget in self._buttons:
            widget.setIcon(icon_beside_text(name, theme, theme.muted))
