"""The page that says whether this machine is set up: what `haloband doctor` finds, with what to do. GUI thread.

The checks run on a helper thread, the quick ones first, so that the page fills at once; the disk and the engine follow.
Nothing runs before the page is shown for the first time. The window calls `set_theme` and, at its end, `close_tasks`.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.host import Host, real_host
from app.doctor.report import as_text, worst
from app.sentences import translated
from app.tasks import TaskThread
from app.theme import Theme
from app.widgets.basics import button, copy_to_clipboard, hairline, label
from app.widgets.icons import pixmap
from resources import embedded_model

_ICONS = {Severity.OK: "check", Severity.NOTE: "info", Severity.WARNING: "warning", Severity.PROBLEM: "error"}
_ICON_SIZE = 16


def _tr(text: str, n: int = -1) -> str:
    return QCoreApplication.translate("DoctorPage", text, None, n)


def severity_text(severity: Severity) -> str:
    """A word for each severity, also for those who do not see the icon."""
    words = {
        Severity.OK: _tr("In order"),
        Severity.NOTE: _tr("Note"),
        Severity.WARNING: _tr("Warning"),
        Severity.PROBLEM: _tr("Problem"),
    }
    return words[severity]


class FindingRow(QWidget):
    """One finding: icon, what was found, and below it what is wanted and what to do where something is amiss."""

    def __init__(self, finding: Finding, theme: Theme) -> None:
        super().__init__()
        self.finding = finding
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(12)
        self._mark = QLabel()
        self._mark.setFixedWidth(_ICON_SIZE)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        row.addLayout(texts, 1)
        line = f"{translated(finding.title)}: {translated(finding.found)}"
        advice = translated(finding.advice)
        texts.addWidget(_text(line))
        if finding.severity is not Severity.OK and finding.wanted:
            texts.addWidget(_text(_tr("Wanted: {what}").format(what=translated(finding.wanted)), tone="muted"))
        if advice:
            texts.addWidget(_text(advice))
        parts = [severity_text(finding.severity), line, advice]
        self.setAccessibleName(". ".join(part for part in parts if part))
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        severity = self.finding.severity
        colours = {Severity.OK: theme.success, Severity.NOTE: theme.muted, Severity.WARNING: theme.warning}
        ratio = self.devicePixelRatioF()
        image = pixmap(_ICONS[severity], colours.get(severity, theme.danger), round(_ICON_SIZE * ratio))
        image.setDevicePixelRatio(ratio)
        self._mark.setPixmap(image)
        self._mark.setToolTip(severity_text(severity))


class DoctorPage(QWidget):
    """All findings by topic. `make_host` takes the event that ends a check which is running."""

    def __init__(
        self,
        theme: Theme,
        make_host: Callable[[threading.Event], Host] = real_host,
        model: Callable[[], Path] = embedded_model,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme, self._make_host, self._model = theme, make_host, model
        self._findings: tuple[Finding, ...] = ()
        self._rows: list[FindingRow] = []
        self._stop = threading.Event()
        self._tasks = TaskThread("doctor", self)
        self._has_run = False
        self._summary = label(_tr("Not checked yet"), tone="strong")
        self._progress = label(tone="muted", size="small")
        self._again = button(_tr("Check again"), self.refresh)
        self._copy = button(_tr("Copy report"), self.copy_report)
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        self._build()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is shown."""
        return self._findings

    @property
    def rows(self) -> tuple[FindingRow, ...]:
        return tuple(self._rows)

    @property
    def is_checking(self) -> bool:
        return bool(self._progress.text())

    def refresh(self) -> None:
        """Check the machine again; what is shown stays until there is something new."""
        self._has_run = True
        self._again.setEnabled(False)
        self._progress.setText(_tr("Checking …"))
        self._tasks.submit(lambda: self._examine(quick=True), self._show_quick, self._failed)

    def copy_report(self) -> None:
        """The report as text, as `haloband doctor` prints it."""
        copy_to_clipboard(as_text(self._findings))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for row in self._rows:
            row.set_theme(theme)

    def close_tasks(self) -> None:
        """End the helper thread and what it started; call before the program ends."""
        self._stop.set()
        self._tasks.close(cancel=True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_run:
            self.refresh()

    # ------------------------------------------------------------ content

    def _build(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._summary)
        words.addWidget(self._progress)
        head = QHBoxLayout()
        head.addLayout(words, 1)
        head.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)
        self._copy.setEnabled(False)
        inner = QWidget()
        inner.setObjectName("page")
        body = QVBoxLayout(inner)
        body.setContentsMargins(24, 16, 24, 24)
        body.setSpacing(16)
        body.addLayout(head)
        body.addLayout(self._column)
        body.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName(_tr("State of this machine"))
        area.setWidget(inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _examine(self, quick: bool) -> tuple[Finding, ...]:
        """On the helper thread."""
        from app.doctor.examine import examine  # with the engine's readers, which the window does not wait for

        return tuple(examine(self._make_host(self._stop), self._model(), quick))

    def _show_quick(self, findings: tuple[Finding, ...]) -> None:
        self._show(findings)
        self._progress.setText(_tr("Reading the model file and starting the engine once …"))
        self._tasks.submit(lambda: self._examine(quick=False), self._show_all, self._failed)

    def _show_all(self, findings: tuple[Finding, ...]) -> None:
        self._show(findings)
        self._ended("")

    def _failed(self, error: BaseException) -> None:
        self._summary.setText(_tr("The check itself failed: {error}").format(error=translated(str(error))))
        self._ended("")

    def _ended(self, words: str) -> None:
        self._progress.setText(words)
        self._again.setEnabled(True)

    def _show(self, findings: Sequence[Finding]) -> None:
        self._findings = tuple(findings)
        self._clear()
        for topic in Topic:
            own = [finding for finding in findings if finding.topic is topic]
            if own:
                self._add_topic(topic, own)
        self._summary.setText(summary_text(self._findings))
        self._copy.setEnabled(True)

    def _add_topic(self, topic: Topic, findings: Sequence[Finding]) -> None:
        heading = label(_topic_text(topic), tone="strong")
        heading.setContentsMargins(0, 12, 0, 4)
        self._column.addWidget(heading)
        self._column.addWidget(hairline())
        for finding in findings:
            row = FindingRow(finding, self._theme)
            self._rows.append(row)
            self._column.addWidget(row)

    def _clear(self) -> None:
        self._rows = []
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()

    @property
    def worst(self) -> Severity:
        """The gravest thing found so far; the window may show it beside the page's name."""
        return worst(self._findings)


def _text(words: str, tone: str = "") -> QLabel:
    """A line that wraps and can be selected: commands are there to be copied."""
    result = label(words, tone=tone, wraps=True)
    result.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return result


def summary_text(findings: Sequence[Finding]) -> str:
    """One sentence: how many problems and warnings."""
    count = Counter(finding.severity for finding in findings)
    problems, warnings = count[Severity.PROBLEM], count[Severity.WARNING]
    if not problems and not warnings:
        return _tr("Nothing stands in the way.")
    return _tr("{problems}, {warnings}.").format(
        problems=_tr("%Ln problem(s)", problems), warnings=_tr("%Ln warning(s)", warnings)
    )


def _topic_text(topic: Topic) -> str:
    words = {
        Topic.GPU: _tr("GPU"),
        Topic.DRIVER: _tr("Kernel and driver"),
        Topic.ACCESS: _tr("Access to the GPU"),
        Topic.MEMORY: _tr("Memory"),
        Topic.SOFTWARE: _tr("ROCm and Python packages"),
        Topic.SPEED: _tr("Speed"),
    }
    return words[topic]
