"""The report's table: one line a domain and axis, with the figures that the limits are about. GUI thread."""

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt

from app.qualify import words
from app.widgets import formats
from engine.qualify.records import Check, DomainVerdict

Index = QModelIndex | QPersistentModelIndex
_TEXT_COLUMNS = 2


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualifyPage", text)


class ReportTableModel(QAbstractTableModel):
    """Shows the verdicts of one report."""

    def __init__(self) -> None:
        super().__init__()
        self._verdicts: tuple[DomainVerdict, ...] = ()

    def show_verdicts(self, verdicts: tuple[DomainVerdict, ...]) -> None:
        self.beginResetModel()
        self._verdicts = verdicts
        self.endResetModel()

    def verdict(self, row: int) -> DomainVerdict | None:
        return self._verdicts[row] if 0 <= row < len(self._verdicts) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._verdicts)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._headers())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return self._headers()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        verdict = self.verdict(index.row())
        if verdict is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._cells(verdict)[index.column()]
        return None

    @staticmethod
    def _headers() -> tuple[str, ...]:
        return (
            _tr("Domain"), _tr("Compared"), _tr("Cross KL"), _tr("Limit"), _tr("Noise"), _tr("Top-1"), _tr("Greedy"),
            _tr("Verdict"),
        )  # fmt: skip

    @staticmethod
    def _cells(verdict: DomainVerdict) -> tuple[str, ...]:
        checks = {check.rule: check for check in verdict.checks}
        noise = max((pair.mean_kl for pair in verdict.same), default=None)
        kl, top1, greedy = checks["mean KL"], checks["top-1"], checks["greedy"]
        return (
            words.domain_name(verdict.domain),
            words.axis_name(verdict.axis),
            f"{kl.value:.6f}",
            f"{kl.limit:.6f}",
            formats.UNKNOWN if noise is None else f"{noise:.6f}",
            _percent(top1),
            formats.count(round(greedy.value)),
            _tr("passed") if verdict.passed else _tr("missed"),
        )


def _percent(check: Check) -> str:
    return formats.isolated(_tr("{share} %").format(share=formats.significant(100 * check.value)))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column < _TEXT_COLUMNS else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
