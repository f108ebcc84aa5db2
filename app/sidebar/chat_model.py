"""The rows of the chat list: chats, or the hits of a search. GUI thread; read by `ChatList`'s view and delegate."""

from dataclasses import dataclass
from enum import IntEnum
from operator import eq
from typing import Any

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.chat.models import ChatSummary, SearchHit
from app.generation import STATE_LABELS, GenerationState, is_busy

Index = QModelIndex | QPersistentModelIndex
RowKey = int | tuple[int, int]  # the chat, or its message: what makes it the same row, whatever it shows
_MOST_CHANGES = 20  # rows that come and go one by one; more are another list


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sidebar", text)


class ChatRole(IntEnum):
    ROW = Qt.ItemDataRole.UserRole.value + 1


@dataclass(frozen=True, slots=True)
class ChatRow:
    """One row. `snippet` is empty unless the row is a search hit."""

    chat_id: int
    title: str
    pinned: bool = False
    state: GenerationState = GenerationState.IDLE
    message_id: int | None = None
    snippet: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def shown_title(self) -> str:
        return self.title or _tr("New chat")

    @property
    def is_working(self) -> bool:
        return is_busy(self.state)


def rows_of_chats(chats: tuple[ChatSummary, ...]) -> list[ChatRow]:
    return [ChatRow(chat.id, chat.title, chat.pinned, chat.state) for chat in chats]


def rows_of_hits(hits: tuple[SearchHit, ...]) -> list[ChatRow]:
    return [
        ChatRow(hit.chat_id, hit.title, message_id=hit.message_id, snippet=hit.snippet, marks=hit.marks) for hit in hits
    ]


class ChatListModel(QAbstractListModel):
    """A list of ChatRow. Rows that stay are updated and moved in place, so selection, scroll position and a title that
    is being written hold."""

    renamed = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[ChatRow] = []

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # Any: Qt's variant
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ChatRole.ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.shown_title
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.shown_title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(row)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # Any: Qt's variant
        row = self.row(index.row())
        title = str(value).strip()
        if row is None or role != Qt.ItemDataRole.EditRole or not title or title == row.shown_title:
            return False
        self.renamed.emit(row.chat_id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        return flags if row is None or row.snippet else flags | Qt.ItemFlag.ItemIsEditable

    def row(self, number: int) -> ChatRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def number_of(self, chat_id: int) -> int:
        """The row of a chat, -1 if it is not shown."""
        return next((n for n, row in enumerate(self._rows) if row.chat_id == chat_id), -1)

    @property
    def rows(self) -> tuple[ChatRow, ...]:
        return tuple(self._rows)

    def show_rows(self, rows: list[ChatRow]) -> None:
        """Show exactly these rows. All of them come with every change of one, so their keys are made only once."""
        shown, wanted = _keys(self._rows), _keys(rows)
        if shown != wanted and not self._take_keys(shown, wanted, rows):
            self.beginResetModel()
            self._rows = list(rows)
            self.endResetModel()
            return
        for number, is_same in enumerate(list(map(eq, self._rows, rows))):
            if not is_same:
                self._rows[number] = rows[number]
                self.dataChanged.emit(self.index(number), self.index(number))

    def _take_keys(self, shown: list[RowKey], wanted: list[RowKey], rows: list[ChatRow]) -> bool:
        """Bring the rows with the keys `shown` to the keys `wanted` of `rows`. False if too many come and go."""
        staying, come = set(wanted), set(wanted).difference(shown)
        gone = [number for number, key in enumerate(shown) if key not in staying]
        if len(gone) + len(come) > _MOST_CHANGES:
            return False
        for number in reversed(gone):
            self.beginRemoveRows(QModelIndex(), number, number)
            del self._rows[number], shown[number]
            self.endRemoveRows()
        for number, key in enumerate(wanted) if come else ():
            if key in come:
                place = min(number, len(shown))
                self.beginInsertRows(QModelIndex(), place, place)
                self._rows.insert(place, rows[number])
                shown.insert(place, key)
                self.endInsertRows()
        if shown != wanted:
            self._reorder(shown, wanted)
        return True

    def _reorder(self, shown: list[RowKey], wanted: list[RowKey]) -> None:
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        number_of = {key: number for number, key in enumerate(wanted)}
        after = [self.index(number_of[shown[index.row()]]) for index in before]
        row_of = dict(zip(shown, self._rows, strict=True))
        self._rows = [row_of[key] for key in wanted]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()


def _keys(rows: list[ChatRow]) -> list[RowKey]:
    return [row.chat_id if row.message_id is None else (row.chat_id, row.message_id) for row in rows]


def _spoken(row: ChatRow) -> str:
    parts = [row.shown_title]
    if row.pinned:
        parts.append(_tr("pinned"))
    if row.is_working:
        parts.append(QCoreApplication.translate("GenerationState", STATE_LABELS[row.state]))
    if row.snippet:
        parts.append(row.snippet)
    return ", ".join(parts)
