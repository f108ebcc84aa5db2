"""The status line at the window's foot: state and model at the left, context and memory at the right. GUI thread."""

import psutil
from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QToolButton, QWidget

from app.chat.budget import ContextBudget
from app.chat.models import ChatStatus, ModelState, ModelStatus
from app.generation import STATE_LABELS, GenerationState
from app.widgets import formats
from app.widgets.basics import label
from app.widgets.elided_label import ElidedLabel

_MEMORY_MS = 2_000


def _tr(text: str) -> str:
    return QCoreApplication.translate("StatusLine", text)


class StatusLine(QWidget):
    """One quiet row; the model's name leads to the models page."""

    models_requested = Signal()
    cancel_load_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusLine")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(_tr("Status"))
        self._state = label(size="small")
        self.model_button = QToolButton()
        self.model_button.setAutoRaise(True)
        self.model_button.setProperty("textSize", "small")
        self.model_button.setProperty("tone", "muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self._bar.setAccessibleName(_tr("Model read"))
        self.cancel_button = QToolButton()
        self.cancel_button.setText(_tr("Cancel"))
        self.cancel_button.setAutoRaise(True)
        self.cancel_button.setProperty("textSize", "small")
        self._context = ElidedLabel(tone="muted", size="small")
        self._memory = ElidedLabel(tone="muted", size="small")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 12, 2)
        row.setSpacing(12)
        for widget in (self._state, self.model_button, self._bar, self.cancel_button):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._context)
        row.addWidget(self._memory)
        self.model_button.clicked.connect(self.models_requested)
        self.cancel_button.clicked.connect(self.cancel_load_requested)
        self._process = psutil.Process()
        self._timer = QTimer(self, interval=_MEMORY_MS)
        self._timer.timeout.connect(self._read_memory)
        self._timer.start()
        self._read_memory()
        self.show_status(None)
        self.show_model(ModelStatus(ModelState.NONE))

    def show_status(self, status: ChatStatus | None) -> None:
        state = GenerationState.IDLE if status is None else status.state
        text = QCoreApplication.translate("GenerationState", STATE_LABELS[state])
        if status is not None and state is GenerationState.DECODING and status.tok_s is not None:
            text = f"{text} · {formats.speed(status.tok_s)}"
        self._state.setText(text)

    def show_model(self, model: ModelStatus) -> None:
        loads = model.state is ModelState.LOADING
        self._bar.setVisible(loads)
        self.cancel_button.setVisible(loads)
        if loads:
            self._bar.setRange(0, 1000 if model.total_bytes else 0)
            if model.total_bytes:
                self._bar.setValue(round(1000 * model.done_bytes / model.total_bytes))
        words = _model_words(model)
        self.model_button.setText(formats.isolated(words))
        self.model_button.setToolTip(_tr("Choose a model"))
        self.model_button.setAccessibleName(_tr("Model: {model}").format(model=words))

    def show_budget(self, budget: ContextBudget | None) -> None:
        if budget is None:
            self._context.setText("")
            return
        self._context.setText(
            _tr("Context {used} / {size}").format(used=formats.count(budget.used), size=formats.count(budget.context))
        )

    def set_numeric_font(self, font: QFont) -> None:
        for widget in (self._state, self._context, self._memory):
            widget.setFont(font)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Half a number says nothing: where there is no room for it, memory is left to the live panel."""
        super().resizeEvent(event)
        parts = (self._state, self.model_button, self._bar, self.cancel_button, self._context, self._memory)
        wanted = sum(part.sizeHint().width() + 12 for part in parts if part is self._memory or not part.isHidden())
        self._memory.setVisible(wanted <= self.width())

    def _read_memory(self) -> None:
        self._memory.setText(_tr("Memory {size}").format(size=formats.size(self._process.memory_info().rss)))


def _model_words(model: ModelStatus) -> str:
    if model.state is ModelState.LOADING:
        return _tr("Loading {name}").format(name=model.path.name if model.path else _tr("the embedded model"))
    if model.state is ModelState.FAILED:
        return _tr("The model could not be loaded")
    if model.info is None:
        return _tr("No model")
    return f"{model.info.name} · {model.info.quantization} · {model.info.backend}"
