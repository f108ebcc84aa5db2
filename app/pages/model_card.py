"""One model in the library: what it is, whether it fits, and the button to use it. GUI thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.chat.models import ModelState, ModelStatus
from app.sentences import translated
from app.theme import Theme
from app.widgets import formats
from app.widgets.basics import IconButton, button, label
from app.widgets.icons import pixmap

if TYPE_CHECKING:
    from app.pages.model_entries import ModelEntry


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModelsPage", text)


class ModelCard(QFrame):
    """A card; its button loads, cancels, or says "In use"."""

    load_requested = Signal(object)  # Path, or None for the embedded model
    cancel_requested = Signal()
    remove_requested = Signal(object)  # Path

    def __init__(self, entry: "ModelEntry", theme: Theme, *, can_remove: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.entry = entry
        self._loads = False
        self._mark = QLabel()
        name = label(entry.name, tone="strong", wraps=True)
        where = _tr("Comes with Haloband") if entry.path is None else str(entry.path)
        self._where = label(where, tone="muted", size="small", wraps=True)
        self._facts = label(facts_line(entry), wraps=True)
        self._facts.setVisible(bool(self._facts.text()))
        self._fits = label(fits_line(entry), tone=fits_tone(entry), size="small", wraps=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(_tr("Model read"))
        self._bar.hide()
        self.use_button = button(_tr("Load"), self._on_use_clicked)
        self.remove_button = IconButton("close", _tr("Remove from the library (the file stays)"), theme)
        self.remove_button.setVisible(can_remove)
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self.entry.path))
        texts = QVBoxLayout()
        texts.setSpacing(4)
        for widget in (name, self._facts, self._fits, self._where, self._bar):
            texts.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 12, 12)
        row.setSpacing(16)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(texts, 1)
        row.addWidget(self.use_button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.remove_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setAccessibleName(f"{entry.name}, {self._facts.text()}, {self._fits.text()}")
        self.set_theme(theme)
        self.show_model(ModelStatus(ModelState.NONE))

    def show_model(self, status: ModelStatus) -> None:
        is_this = status.path == self.entry.path and status.state is not ModelState.NONE
        self._loads = is_this and status.state is ModelState.LOADING
        in_use = is_this and status.state is ModelState.READY
        text = _tr("Cancel") if self._loads else _tr("In use") if in_use else _tr("Load")
        self.use_button.setText(text)
        self.use_button.setAccessibleName(f"{text}: {self.entry.name}")
        self.use_button.setEnabled(self._loads or not (in_use or self.entry.problem))
        self._bar.setVisible(self._loads)
        if self._loads:
            self._bar.setRange(0, 1000 if status.total_bytes else 0)
            if status.total_bytes:
                self._bar.setValue(round(1000 * status.done_bytes / status.total_bytes))

    def set_theme(self, theme: Theme) -> None:
        self._mark.setPixmap(pixmap("model", theme.muted, 24))
        self.remove_button.set_theme(theme)

    def _on_use_clicked(self) -> None:
        if self._loads:
            self.cancel_requested.emit()
        else:
            self.load_requested.emit(self.entry.path)


def facts_line(entry: "ModelEntry") -> str:
    """Architecture, parameters, quantisation, size and context in one line."""
    if entry.problem:
        return ""
    parts = [entry.architecture, entry.quantization, formats.size(entry.file_bytes)]
    if entry.parameters is not None:
        parts.insert(1, formats.isolated(_tr("{count} parameters").format(count=_short_count(entry.parameters))))
    if entry.context_length is not None:
        parts.append(_tr("context up to {tokens}").format(tokens=formats.tokens(entry.context_length)))
    return " · ".join(part for part in parts if part)


def fits_line(entry: "ModelEntry") -> str:
    """Whether it fits and why."""
    if entry.problem:
        return translated(entry.problem)
    numbers = {"needed": formats.size(entry.needed_bytes), "free": formats.size(entry.free_bytes)}
    if entry.fits:
        return _tr("Fits: needs {needed}, {free} are free").format(**numbers)
    return _tr(
        "Does not fit: needs {needed}, {free} are free. Close other programs or choose a smaller context in Settings."
    ).format(**numbers)


def fits_tone(entry: "ModelEntry") -> str:
    return "danger" if entry.problem else "muted" if entry.fits else "warning"


def _short_count(value: int) -> str:
    for limit, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M")):
        if value >= limit:
            return f"{formats.significant(value / limit)} {unit}"
    return QLocale().toString(value)
