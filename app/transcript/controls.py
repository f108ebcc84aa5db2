"""The controls that stand in a message: its actions, the fold of the thinking, the bar while the prompt is read, the
head of a code block, notices, documents. Real widgets, so that they have names and take the keyboard; the view places
and recycles them. GUI thread."""

from PySide6.QtCore import QCoreApplication, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QScrollBar, QToolButton, QVBoxLayout, QWidget

from app.theme import Theme
from app.transcript.code_layout import HEADER, SCROLLBAR, CodeLayout
from app.transcript.highlight import PLAIN_CODE, language_name
from app.transcript.model import Attachment, MessageState, MessageView, PrefillStatus, Role
from app.widgets import formats
from app.widgets.basics import IconButton, button, clear_layout, copy_to_clipboard, label
from app.widgets.elided_label import ElidedLabel
from app.widgets.icons import icon

_COPIED_MS = 1500


def _tr(text: str) -> str:
    return QCoreApplication.translate("Transcript", text)


class CopyButton(IconButton):
    """Shows a tick for a moment after a click."""

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("copy", name, theme, parent)
        self._back = QTimer(self)
        self._back.setSingleShot(True)
        self._back.setInterval(_COPIED_MS)
        self._back.timeout.connect(lambda: self.set_icon("copy"))

    def copy(self, text: str) -> None:
        copy_to_clipboard(text)
        self.set_icon("check")
        self._back.start()


class ActionBar(QWidget):
    """Buttons of one message at the left, its numbers at the right."""

    edit_requested = Signal()
    regenerate_requested = Signal()
    branch_requested = Signal()
    delete_requested = Signal()
    version_requested = Signal(int)  # -1 or +1

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.copy_button = CopyButton(_tr("Copy message"), theme)
        self.edit_button = IconButton("edit", _tr("Edit and ask again"), theme)
        self.regenerate_button = IconButton("regenerate", _tr("Answer again"), theme)
        self.branch_button = IconButton("branch", _tr("Continue in a new chat from here"), theme)
        self.delete_button = IconButton("delete", _tr("Delete from here on"), theme)
        self.previous_button = IconButton("chevron-left", _tr("Previous version"), theme)
        self.next_button = IconButton("chevron-right", _tr("Next version"), theme)
        self.version_label = label(tone="muted", size="small")
        self.stats_label = ElidedLabel(tone="muted", size="small")
        self._icons = (
            self.copy_button,
            self.edit_button,
            self.regenerate_button,
            self.branch_button,
            self.delete_button,
            self.previous_button,
            self.next_button,
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 2)
        layout.setSpacing(0)
        for widget in (self.previous_button, self.version_label, self.next_button, *self._icons[:5]):
            layout.addWidget(widget)
        layout.addStretch(1)
        layout.addWidget(self.stats_label)
        self.copy_button.clicked.connect(lambda: self.copy_button.copy(self._text))
        self.edit_button.clicked.connect(self.edit_requested)
        self.regenerate_button.clicked.connect(self.regenerate_requested)
        self.branch_button.clicked.connect(self.branch_requested)
        self.delete_button.clicked.connect(self.delete_requested)
        self.previous_button.clicked.connect(lambda: self.version_requested.emit(-1))
        self.next_button.clicked.connect(lambda: self.version_requested.emit(1))

    def show_message(self, view: MessageView, *, buttons: bool) -> None:
        """Fit the bar to a message; `buttons` False leaves only the numbers (nobody is near)."""
        self._text = view.text
        is_question = view.role is Role.USER
        works = view.state in (MessageState.WAITING, MessageState.STREAMING)
        has_versions = view.versions > 1
        self.copy_button.setVisible(buttons and bool(view.text))
        self.edit_button.setVisible(buttons and is_question)
        self.regenerate_button.setVisible(buttons and not is_question and view.state is not MessageState.WAITING)
        self.branch_button.setVisible(buttons and not works)
        self.delete_button.setVisible(buttons and not works)
        for widget in (self.previous_button, self.version_label, self.next_button):
            widget.setVisible(has_versions)
        self.version_label.setText(f"{view.version}/{view.versions}")
        self.version_label.setAccessibleName(
            _tr("Version {version} of {versions}").format(version=view.version, versions=view.versions)
        )
        self.previous_button.setEnabled(view.version > 1 and not works)
        self.next_button.setEnabled(view.version < view.versions and not works)
        self.stats_label.setText(view.stats)

    def set_theme(self, theme: Theme) -> None:
        for widget in self._icons:
            widget.set_theme(theme)


class FoldButton(QToolButton):
    """Opens and closes the thinking; says how long it took and how much it was."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("tone", "muted")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setAutoRaise(True)
        self.setIconSize(QSize(12, 12))

    def show_message(self, view: MessageView, *, is_open: bool, theme: Theme) -> None:
        runs = view.state is MessageState.STREAMING and not view.text
        amount = formats.tokens(view.thinking_tokens)
        if runs:
            text = _tr("Thinking · {tokens}").format(tokens=amount)
        elif view.thinking_s is None:
            text = _tr("Thoughts · {tokens}").format(tokens=amount)
        else:
            text = _tr("Thought for {time} · {tokens}").format(time=formats.duration(view.thinking_s), tokens=amount)
        self.setText(formats.isolated(text))
        self.setIcon(icon("chevron-down" if is_open else "chevron-right", theme, theme.muted))
        self.setAccessibleName(text)
        self.setAccessibleDescription(_tr("Opened") if is_open else _tr("Closed"))


class PrefillBar(QWidget):
    """How far the prompt has been read, in the answer's place."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = ElidedLabel(tone="muted", size="small")
        self._left = label(tone="muted", size="small")
        self._numbers = ElidedLabel(tone="muted", size="small")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(_tr("Prompt read"))
        row = QHBoxLayout()
        row.addWidget(self._label, 1)
        row.addWidget(self._left)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 4)
        layout.setSpacing(6)
        layout.addLayout(row)
        layout.addWidget(self._bar)
        layout.addWidget(self._numbers)
        layout.addStretch(1)

    def show_status(self, status: PrefillStatus | None) -> None:
        status = status or PrefillStatus(_tr("Starting"))
        if status.tokens_done is None or not status.tokens_total:
            self._label.setText(status.label)
            self._left.setText("")
            self._numbers.setText("")
            self._bar.setRange(0, 0)
            return
        share = min(1.0, status.tokens_done / status.tokens_total)
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(1000 * share))
        self._label.setText(f"{status.label} · {formats.percent(share)}")
        left = "" if status.eta_s is None else _tr("{time} left").format(time=formats.time_left(status.eta_s))
        self._left.setText(left)
        self._numbers.setText(" · ".join(_prefill_numbers(status)))


def _prefill_numbers(status: PrefillStatus) -> list[str]:
    parts = [
        _tr("{done} / {total} tokens").format(
            done=formats.count(status.tokens_done), total=formats.count(status.tokens_total)
        )
    ]
    if status.tok_s is not None:
        parts.append(formats.speed(status.tok_s))
    if status.cached:
        parts.append(_tr("{tokens} from cache").format(tokens=formats.count(status.cached)))
    return parts


class CodeChrome(QWidget):
    """The head of a code block (language, copy) and, for long lines, a scroll bar at its foot."""

    scrolled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._block: CodeLayout | None = None
        self._language = label(tone="muted", size="small")
        self._copy = CopyButton(_tr("Copy code"), theme)
        self._copy.clicked.connect(self._on_copy_clicked)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 4, 0)
        layout.addWidget(self._language)
        layout.addStretch(1)
        layout.addWidget(self._copy)
        self.scroll_bar = QScrollBar(Qt.Orientation.Horizontal, parent)
        self.scroll_bar.setAccessibleName(_tr("Scroll the code sideways"))
        self.scroll_bar.hide()
        self.scroll_bar.valueChanged.connect(self._on_scrolled)

    def show_block(self, block: CodeLayout, x: int, y: int) -> None:
        self._block = block
        language = language_name(block.block.language) or _tr(PLAIN_CODE)
        self._language.setText(language)
        self.setAccessibleName(_tr("Code in {language}").format(language=language))
        self.setGeometry(x, y, int(block.width), int(HEADER))
        has_bar = block.max_scroll_x > 0
        self.scroll_bar.setVisible(has_bar)
        if has_bar:
            self.scroll_bar.blockSignals(True)
            self.scroll_bar.setRange(0, int(block.max_scroll_x) + 1)
            self.scroll_bar.setPageStep(int(block.width))
            self.scroll_bar.setSingleStep(24)
            self.scroll_bar.setValue(int(block.scroll_x))
            self.scroll_bar.blockSignals(False)
            height = int(SCROLLBAR)
            self.scroll_bar.setGeometry(x + 8, y + int(block.height) - height - 2, int(block.width) - 16, height)

    def discard(self) -> None:
        self.scroll_bar.deleteLater()
        self.deleteLater()

    def set_theme(self, theme: Theme) -> None:
        self._copy.set_theme(theme)

    def _on_copy_clicked(self) -> None:
        if self._block is not None:
            self._copy.copy(self._block.block.text)

    def _on_scrolled(self, value: int) -> None:
        if self._block is not None:
            self._block.scroll_x = min(float(value), self._block.max_scroll_x)
            self.scrolled.emit()


class NoticeBox(QFrame):
    """What went wrong with an answer, what was kept, what to do."""

    retry_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._text = label(wraps=True)
        self._retry = button(_tr("Try again"), self.retry_requested.emit)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._retry)

    def show_message(self, view: MessageView) -> None:
        self.setProperty("level", "error" if view.state is MessageState.FAILED else "warning")
        self._text.setText(view.notice)
        self.setAccessibleName(view.notice)


class AttachmentList(QWidget):
    """The documents that went with a question."""

    preview_requested = Signal(int)  # the document's id

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self._shown: tuple[Attachment, ...] = ()
        self._theme = theme

    def show_attachments(self, attachments: tuple[Attachment, ...], theme: Theme) -> None:
        if attachments == self._shown and theme == self._theme and self._rows.count():
            return
        self._shown, self._theme = attachments, theme
        clear_layout(self._rows)
        for attachment in attachments:
            row = QToolButton()
            row.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            row.setAutoRaise(True)
            row.setIcon(icon("document", theme, theme.muted))
            text = _attachment_text(attachment)
            row.setText(formats.isolated(text))
            row.setAccessibleName(_tr("Show document {name}").format(name=text))
            row.clicked.connect(lambda _checked=False, a=attachment: self.preview_requested.emit(a.id))
            self._rows.addWidget(row, 0, Qt.AlignmentFlag.AlignLeft)


def _attachment_text(attachment: Attachment) -> str:
    parts = [attachment.name, formats.size(attachment.size_bytes)]
    if attachment.tokens is not None:
        parts.append(formats.tokens(attachment.tokens))
    return " · ".join(parts)
