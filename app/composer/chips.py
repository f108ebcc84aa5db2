"""Document chips above the question: name, size, tokens, look inside, insert as text, remove. GUI thread; owned by
`Composer`."""

import time

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
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
_MEASURED_ROWS = 4
_PIECE_S = 0.003  # as much again goes into showing what was made


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
        self.key = document.key
        self._shown: tuple[PendingDocument, Theme] | None = None
        self._mark = QLabel()
        self._name = ElidedLabel()
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
        self.preview_button.clicked.connect(lambda: self.preview_requested.emit(self.key))
        self.insert_button.clicked.connect(lambda: self.insert_requested.emit(self.key))
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self.key))
        self.show_document(document, theme)

    @property
    def title(self) -> str:
        return "" if self._shown is None else self._shown[0].name

    def shows(self, document: PendingDocument, theme: Theme) -> bool:
        """True if there is nothing to change."""
        return self._shown == (document, theme)

    def show_document(self, document: PendingDocument, theme: Theme) -> None:
        """Show this: the document of before in another state, or another one."""
        self._shown, self.key = (document, theme), document.key
        info = document.info
        failed = document.state is PendingState.FAILED
        self._mark.setPixmap(pixmap("warning" if failed else "document", theme.danger if failed else theme.muted, 16))
        self._name.setText(translated(document.error) if failed and document.error else document.name)
        set_tone(self._name, "danger" if failed else "")
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
        if self.property("state") != document.state.value:
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
        self._chips: list[Chip] = []  # in the order of the documents
        self._documents: tuple[PendingDocument, ...] = ()
        self._limit = 1 << 16
        self._is_away = False
        self._rest = QTimer(self, singleShot=True, interval=0)
        self._rest.timeout.connect(self._show_some)
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
        """Show exactly these, a few at a time. Chips that stay keep their widget, so that the keyboard stays where it
        is."""
        self._documents = documents
        wanted = {document.key: place for place, document in enumerate(documents)}
        known = {chip.key for chip in self._chips}
        for chip, document in zip(self._chips, documents, strict=False):
            if chip.key not in wanted and document.key not in known:  # a file that was read has another key
                chip.key = document.key
        for chip in [chip for chip in self._chips if chip.key not in wanted]:
            self._chips.remove(chip)
            self._rows.removeWidget(chip)
            chip.deleteLater()
        self._chips.sort(key=lambda chip: wanted[chip.key])
        for place, chip in enumerate(self._chips):
            if self._rows.indexOf(chip) != place:
                self._rows.insertWidget(place, chip)
        self._show_some()

    def _show_some(self) -> None:
        """Bring chips up to date, at least one and for _PIECE_S; the rest when the window has had its turn."""
        until = time.perf_counter() + _PIECE_S
        chips = {chip.key: chip for chip in self._chips}
        has_begun = False
        for place, document in enumerate(self._documents):
            chip = chips.get(document.key)
            if chip is not None and chip.shows(document, self._theme):
                continue
            if has_begun and time.perf_counter() > until:
                self._rest.start()
                break
            has_begun = True
            if chip is None:
                self._add(place, document)
            else:
                chip.show_document(document, self._theme)
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
        row = max((chip.sizeHint().height() for chip in self._chips[:_MEASURED_ROWS]), default=0) + self._rows.spacing()
        wanted = round(min(len(self._chips), _SHOWN_ROWS) * row + 4)
        self.setFixedHeight(max(min(wanted, self._limit), min(wanted, row + 4)))

    def chip(self, key: int) -> Chip | None:
        return next((chip for chip in self._chips if chip.key == key), None)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.show_documents(self._documents)

    def _add(self, place: int, document: PendingDocument) -> None:
        chip = Chip(document, self._theme)
        chip.remove_requested.connect(self.remove_requested)
        chip.preview_requested.connect(self.preview_requested)
        chip.insert_requested.connect(self.insert_requested)
        self._chips.insert(place, chip)
        self._rows.insertWidget(place, chip)
