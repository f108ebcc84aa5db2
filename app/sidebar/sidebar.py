"""The sidebar: new chat, search, the list of chats, and the way to the other pages. GUI thread.

It shows what it is given (`show_chats`, `show_hits`, `set_current`) and reports what the person wants.
"""

from PySide6.QtCore import QCoreApplication, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFont, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListView, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.chat.models import ChatSummary, SearchResults
from app.sidebar.chat_delegate import ChatDelegate
from app.sidebar.chat_model import ChatListModel, ChatRow, rows_of_chats, rows_of_hits
from app.theme import Theme
from app.widgets.basics import MenuButton, label
from app.widgets.formats import isolated
from app.widgets.icons import BESIDE_TEXT, icon_beside_text

_SEARCH_DELAY_MS = 150
_TURN_MS = 90


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sidebar", text)


class ChatListView(QListView):
    """The list itself; Delete and Return act on the current row."""

    opened = Signal()
    delete_pressed = Signal()

    @property
    def is_editing(self) -> bool:
        """Whether a title is being written."""
        return self.state() == QListView.State.EditingState

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)


class Sidebar(QWidget):
    """See the module's text. Ids are chat ids."""

    new_requested = Signal()
    chat_opened = Signal(int)
    hit_opened = Signal(int, object)  # chat id, message id or None
    search_changed = Signal(str)
    rename_requested = Signal(int, str)
    pin_requested = Signal(int, bool)
    delete_requested = Signal(int)
    export_requested = Signal(int)
    import_requested = Signal()
    models_requested = Signal()
    settings_requested = Signal()

    def __init__(self, theme: Theme, small: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._chats: tuple[ChatSummary, ...] = ()
        self._query = ""
        self._to_choose: int | None = None  # the chat that was opened, until it has a row
        self._model = ChatListModel()
        self._delegate = ChatDelegate(theme, small)
        self.new_button = QPushButton(_tr("New chat"))
        self.search_field = QLineEdit()
        self.list = ChatListView()
        self._empty = label(tone="muted", wraps=True)
        self.models_button = QToolButton()
        self.settings_button = QToolButton()
        self.more_button = MenuButton("more", _tr("More"), theme)
        self._search_timer = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._turn_timer = QTimer(self, interval=_TURN_MS)
        self.animates = True
        self._build()
        self._connect()
        self.set_theme(theme, small)
        self._show_rows()

    def _build(self) -> None:
        self.new_button.setIconSize(BESIDE_TEXT)
        self.search_field.setObjectName("searchField")
        self.search_field.setPlaceholderText(_tr("Search chats"))
        self.search_field.setAccessibleName(_tr("Search chats"))
        self.search_field.setClearButtonEnabled(True)
        self.list.setModel(self._model)
        self.list.setItemDelegate(self._delegate)
        self.list.setAccessibleName(_tr("Chats"))
        self.list.setMouseTracking(True)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(8, 8, 8, 8)
        for tool, text in ((self.models_button, _tr("Models")), (self.settings_button, _tr("Settings"))):
            tool.setText(text)
            tool.setIconSize(BESIDE_TEXT)
            tool.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            tool.setAutoRaise(True)
        foot = QHBoxLayout()
        foot.addWidget(self.models_button)
        foot.addWidget(self.settings_button)
        foot.addStretch(1)
        foot.addWidget(self.more_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 12, 8, 8)
        column.setSpacing(8)
        for widget in (self.new_button, self.search_field, self._empty):
            column.addWidget(widget)
        column.addWidget(self.list, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.new_button.clicked.connect(self.new_requested)
        self.models_button.clicked.connect(self.models_requested)
        self.settings_button.clicked.connect(self.settings_requested)
        self.search_field.textChanged.connect(lambda _: self._search_timer.start())
        self.search_field.returnPressed.connect(self._on_search_entered)
        self._search_timer.timeout.connect(self._on_search_due)
        self.list.clicked.connect(self._on_index_chosen)
        self.list.opened.connect(lambda: self._on_index_chosen(self.list.currentIndex()))
        self.list.delete_pressed.connect(self._on_delete_pressed)
        self.list.customContextMenuRequested.connect(self._on_menu_requested)
        self._model.renamed.connect(self.rename_requested)
        self._turn_timer.timeout.connect(self._on_turn)

    # ------------------------------------------------------------ what is shown

    @property
    def rows(self) -> tuple[ChatRow, ...]:
        """What the list shows now."""
        return self._model.rows

    @property
    def empty_text(self) -> str:
        """What stands in place of an empty list, empty if there are rows."""
        return self._empty.text()

    def show_chats(self, chats: tuple[ChatSummary, ...]) -> None:
        self._chats = chats
        if not self._query:
            self._show_rows()

    def show_hits(self, results: SearchResults) -> None:
        if self._query and results.query == self._query:
            self._model.show_rows(rows_of_hits(results.hits))
            self._show_empty(_tr("Nothing found. Try fewer or other words.") if not results.hits else "")

    def set_current(self, chat_id: int | None) -> None:
        """This chat was opened: the keyboard goes to its row once, and from then on where the person moves it."""
        self._delegate.current_id = self._to_choose = chat_id
        self._choose_opened()
        self.list.viewport().update()

    def _choose_opened(self) -> None:
        if self._to_choose is None or self._model.number_of(self._to_choose) < 0:
            return
        row = self._model.row(self.list.currentIndex().row())
        if row is None or row.chat_id != self._to_choose:
            self._choose(self._to_choose)
        self._to_choose = None

    def _choose(self, chat_id: int) -> None:
        number = self._model.number_of(chat_id)
        if number >= 0:
            self.list.setCurrentIndex(self._model.index(number))

    def set_theme(self, theme: Theme, small: QFont) -> None:
        self._theme = theme
        self._delegate.theme, self._delegate.small = theme, small
        self.new_button.setIcon(icon_beside_text("new-chat", theme))
        self.models_button.setIcon(icon_beside_text("model", theme, theme.muted))
        self.settings_button.setIcon(icon_beside_text("settings", theme, theme.muted))
        self.more_button.set_theme(theme)
        self.list.doItemsLayout()

    def focus_search(self) -> None:
        self.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search_field.selectAll()

    def rename_current(self) -> None:
        """Write another title: of the row that the keyboard is on, and from elsewhere of the open chat.

        Search hits have no title to write, so a search ends.
        """
        if self.list.is_editing:
            return
        row = self._model.row(self.list.currentIndex().row()) if self.list.hasFocus() else None
        chat_id = row.chat_id if row is not None else self._delegate.current_id
        if self.search_field.text():
            self.search_field.clear()
            self._on_search_due()
        if chat_id is not None and self._model.number_of(chat_id) >= 0:
            self._choose(chat_id)
            self.list.edit(self.list.currentIndex())

    def _show_rows(self) -> None:
        before = self._model.row(self.list.currentIndex().row())
        self._model.show_rows(rows_of_chats(self._chats))
        if before is not None and not self.list.currentIndex().isValid():
            self._choose(before.chat_id)
        self._choose_opened()
        self._show_empty("" if self._chats else _tr("No chats yet. Write a question to start the first one."))
        works = any(row.is_working for row in self._model.rows)
        if works and self.animates and not self._turn_timer.isActive():
            self._turn_timer.start()

    def _show_empty(self, text: str) -> None:
        self._empty.setText(text)
        self._empty.setVisible(bool(text))

    # ------------------------------------------------------------ what the person does

    def _on_turn(self) -> None:
        self._delegate.phase = (self._delegate.phase + 1) % 12
        working = [n for n, row in enumerate(self._model.rows) if row.is_working]
        for number in working:
            self.list.update(self._model.index(number))
        if not working:
            self._turn_timer.stop()

    def _on_search_due(self) -> None:
        self._search_timer.stop()
        self._query = self.search_field.text().strip()
        self.search_changed.emit(self._query)
        if not self._query:
            self._to_choose = self._delegate.current_id
            self._show_rows()

    def _on_search_entered(self) -> None:
        row = self._model.row(0)
        if self._query and row is not None:
            self.hit_opened.emit(row.chat_id, row.message_id)

    def _on_index_chosen(self, index: QModelIndex) -> None:
        row = self._model.row(index.row())
        if row is None:
            return
        if row.snippet or self._query:
            self.hit_opened.emit(row.chat_id, row.message_id)
        else:
            self.chat_opened.emit(row.chat_id)

    def _on_delete_pressed(self) -> None:
        row = self._model.row(self.list.currentIndex().row())
        if row is not None:
            self.delete_requested.emit(row.chat_id)

    def _on_menu_requested(self, point: QPoint) -> None:
        index = self.list.indexAt(point)
        row = self._model.row(index.row()) if index.isValid() else None
        menu = self.menu_for(row, index)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.list.viewport().mapToGlobal(point))

    def menu_for(self, row: ChatRow | None, index: QModelIndex) -> QMenu:
        """The context menu of a row, or of the empty list."""
        menu = QMenu(self)
        if row is None:
            menu.addAction(_tr("New chat"), self.new_requested.emit)
            menu.addAction(isolated(_tr("Import chats …")), self.import_requested.emit)
            return menu
        rename: QAction = menu.addAction(_tr("Rename"), lambda: self.list.edit(index))
        rename.setEnabled(not row.snippet)
        pin_text = _tr("Unpin") if row.pinned else _tr("Pin")
        menu.addAction(pin_text, lambda: self.pin_requested.emit(row.chat_id, not row.pinned))
        menu.addAction(isolated(_tr("Export …")), lambda: self.export_requested.emit(row.chat_id))
        menu.addAction(isolated(_tr("Import chats …")), self.import_requested.emit)
        menu.addSeparator()
        menu.addAction(_tr("Delete"), lambda: self.delete_requested.emit(row.chat_id))
        return menu
