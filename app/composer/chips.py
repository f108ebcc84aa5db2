"""Document chips above the question: name, size, tokens, look inside, insert as text, remove. GUI thread; owned by
`Composer`."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.chat.editable import LONGEST_TEXT
from app.chat.models import PendingDocument, PendingState
from app.sentences import translated
from app.theme import Theme
from app.widgets import formats
from app.widgets.basics import IconButton, label, restyle, set_tone
from app.widgets.elided_label import ElidedLabel
from app.widgets.icons import pixmap

_SHOWN_ROWS = 3.5  # the half row tells that there are more


def _tr(text: str) -> str:
    return QCoreApplication.translate("Composer", text)


class Chip(QFrame):
    """One document that will be sent with the question."""

    remove_requested = Signal(int)
    preview_requested = Signal(int)
    insert_requested = Signal(int)

    def __init__(self, document: PendingDocument, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._key = document.key
        self._mark = QLabel()
        self._name = ElidedLabel()
        self._title = ""
        self._details = label(tone="muted", size="small")
        self.preview_button = IconButton("preview", _tr("Look inside"), theme)
        self.insert_button = IconButton("insert-text", _tr("Insert as text"), theme)
        self.remove_button = IconButton("close", _tr("Remove"), theme)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 4, 2)
        layout.setSpacing(8)
        layout.addWidget(self._mark)
        layout.addWidget(self._name, 1)
        layout.addWidget(self._details)
        buttons = QHBoxLayout()
        buttons.setSpacing(0)
        for widget in (self.preview_button, self.insert_button, self.remove_button):
            buttons.addWidget(widget)
        layout.addLayout(buttons)
        self.preview_button.clicked.connect(lambda: self.preview_requested.emit(self._key))
        self.insert_button.clicked.connect(lambda: self.insert_requested.emit(self._key))
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self._key))
        self.show_document(document, theme)

    @property
    def title(self) -> str:
        return self._title

    def show_document(self, document: PendingDocument, theme: Theme) -> None:
        info = document.info
        failed = document.state is PendingState.FAILED
        self._mark.setPixmap(pixmap("warning" if failed else "document", theme.danger if failed else theme.muted, 16))
        self._name.setText(translated(document.error) if failed and document.error else document.name)
        set_tone(self._name, "danger" if failed else "")
        self._title = document.name
        if failed:
            self._details.setText(_tr("not sent"))
        elif info is None:
            self._details.setText(_tr("Reading …"))
        else:
            self._details.setText(f"{formats.size(info.size_bytes)} · {formats.tokens(info.tokens)}")
        ready = document.state is PendingState.READY
        self.preview_button.setVisible(ready)
        self.insert_button.setVisible(ready)
        fits = info is None or info.characters <= LONGEST_TEXT
        self.insert_button.setEnabled(fits)
        self.insert_button.setToolTip(_tr("Insert as text") if fits else _tr("Too long to edit here; it is sent whole"))
        self.setProperty("state", document.state.value)
        restyle(self)
        self.setAccessibleName(
            _tr("Document {name}, {details}").format(name=document.name, details=self._details.text())
        )
        for widget in (self.preview_button, self.insert_button, self.remove_button):
            widget.set_theme(theme)
            widget.setAccessibleDescription(document.name)


class ChipList(QScrollArea):
    """All chips, one a row, a few of them in view; hidden when there are none."""

    remove_requested = Signal(int)
    preview_requested = Signal(int)
    insert_requested = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: dict[int, Chip] = {}
        self._documents: tuple[PendingDocument, ...] = ()
        self._limit = 1 << 16
        self._is_away = False
        self.setAccessibleName(_tr("Documents"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the buttons of the chips take the keyboard
        inner = QWidget()
        inner.setObjectName("chips")
        self._rows = QVBoxLayout(inner)
        self._rows.setContentsMargins(0, 0, 0, 4)
        self._rows.setSpacing(4)
        self.setWidget(inner)
        self.hide()

    def show_documents(self, documents: tuple[PendingDocument, ...]) -> None:
        """Show exactly these; chips that stay keep their widget, so that the keyboard stays where it is."""
        self._documents = documents
        keys = {document.key for document in documents}
        for key in [key for key in self._chips if key not in keys]:
            chip = self._chips.pop(key)
            self._rows.removeWidget(chip)
            chip.deleteLater()
        for document in documents:
            existing = self._chips.get(document.key)
            if existing is not None:
                existing.show_document(document, self._theme)
            else:
                self._add(document)
        self._fit_height()

    def set_away(self, away: bool) -> None:
        """Out of sight, while the field shows what they do not belong to."""
        self._is_away = away
        self._fit_height()

    def set_limit(self, height: int) -> None:
        """The most pixels that the chips may take."""
        self._limit = height
        self._fit_height()

    def _fit_height(self) -> None:
        """As high as the chips, up to _SHOWN_ROWS of them and the limit, but at least one; gone without any."""
        self.setVisible(bool(self._documents) and not self._is_away)
        row = max((chip.sizeHint().height() for chip in self._chips.values()), default=0) + self._rows.spacing()
        wanted = round(min(len(self._chips), _SHOWN_ROWS) * row + 4)
        self.setFixedHeight(max(min(wanted, self._limit), min(wanted, row + 4)))

    def chip(self, key: int) -> Chip | None:
        return self._chips.get(key)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.show_documents(self._documents)

    def _add(self, document: PendingDocument) -> None:
        chip = Chip(document, self._theme)
        chip.remove_requested.connect(self.remove_requested)
        chip.preview_requested.connect(self.preview_requested)
        chip.insert_requested.connect(self.insert_requested)
        self._chips[document.key] = chip
        self._rows.addWidget(chip)
