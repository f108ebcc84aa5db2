"""What one can do with a finished benchmark: compare it with an earlier one, copy it, save it. GUI thread."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.bench import words
from app.sentences import translated
from app.widgets import formats
from app.widgets.basics import button, copy_to_clipboard, hairline, label
from engine.bench.export import to_markdown
from engine.bench.history import History
from engine.bench.records import BenchRun

_FILTERS = {"md": "Markdown (*.md)", "csv": "CSV (*.csv)", "json": "JSON (*.json)"}


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchmarkPanel", text)


class AfterRun(QWidget):
    """Works on the run that it was given last."""

    earlier_requested = Signal(object)  # Path of a saved run, or None to compare with nothing
    export_requested = Signal(object, object)  # BenchRun, Path
    copied = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: BenchRun | None = None
        self.earlier = QComboBox()
        self.changes = label(tone="muted", size="small", wraps=True)
        self.copy_button = button(_tr("Copy as Markdown"), self._on_copy_clicked)
        self.save_button = button(_tr("Save…"), self._on_save_clicked)
        self.earlier.setAccessibleName(_tr("Compare with an earlier run"))
        self.earlier.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.earlier.setMinimumContentsLength(12)
        self.earlier.activated.connect(self._on_earlier_activated)
        self._build()
        self.show_history(History((), ()))
        self.show_run(None)

    def show_run(self, run: BenchRun | None) -> None:
        """The run to work on; without one there is nothing to do."""
        self._run = run
        self.setVisible(run is not None)
        for action in (self.copy_button, self.save_button):
            action.setEnabled(run is not None and bool(run.rows))

    def show_changes(self, changes: tuple[str, ...]) -> None:
        """What else differs from the run it is compared with."""
        self.changes.setText("\n".join(changes))
        self.changes.setVisible(bool(changes))

    def show_history(self, history: History, selected: Path | None = None) -> None:
        """The list of runs to compare with; `selected` is kept if it is still there."""
        self.earlier.clear()
        self.earlier.addItem(_tr("Nothing"), None)
        for saved in history.runs:
            self.earlier.addItem(words.saved_name(saved), saved.path)
        self.earlier.addItem(formats.isolated(_tr("A file…")), "")
        places = [index for index in range(self.earlier.count()) if self.earlier.itemData(index) == selected]
        self.earlier.setCurrentIndex(places[0] if places and selected is not None else 0)
        self.earlier.setToolTip("\n".join(map(translated, history.problems)))

    def _build(self) -> None:
        compare, actions = QHBoxLayout(), QHBoxLayout()
        compare.addWidget(label(_tr("Compare with"), tone="muted", size="small"))
        compare.addWidget(self.earlier, 1)
        actions.addWidget(self.copy_button)
        actions.addWidget(self.save_button)
        actions.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(hairline())
        column.addLayout(compare)
        column.addWidget(self.changes)
        column.addLayout(actions)

    def _on_earlier_activated(self, index: int) -> None:
        chosen = self.earlier.itemData(index)
        if chosen == "":
            self._choose_earlier_file()
        else:
            self.earlier_requested.emit(chosen)

    def _choose_earlier_file(self) -> None:
        dialog = QFileDialog(self, _tr("Compare with"), str(Path.home()), _FILTERS["json"])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.earlier_requested.emit(Path(name)))
        dialog.open()

    def _on_copy_clicked(self) -> None:
        if self._run is not None:
            copy_to_clipboard(to_markdown(self._run))
            self.copied.emit()

    def _on_save_clicked(self) -> None:
        run = self._run
        if run is None:
            return
        name = str(Path.home() / f"haloband-{run.settings.plan.value}.md")
        dialog = QFileDialog(self, _tr("Save benchmark"), name, ";;".join(_FILTERS.values()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(suffix_of(chosen)))
        dialog.setDefaultSuffix("md")
        dialog.fileSelected.connect(lambda path: self.export_requested.emit(run, Path(path)))
        dialog.open()


def suffix_of(chosen: str) -> str:
    """The suffix that a file dialog's filter stands for."""
    return next((suffix for suffix, text in _FILTERS.items() if text == chosen), "md")
