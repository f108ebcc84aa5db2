"""Every shortcut of the window in one table; the shortcuts dialog shows the same table. GUI thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.widgets.translation import QT_TRANSLATE_NOOP


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action: the name code uses, its text (translated under "Actions"), its keys, and its group in the dialog."""

    name: str
    text: str
    keys: tuple[str, ...]
    group: str


CHATS = QT_TRANSLATE_NOOP("Actions", "Chats")
MESSAGES = QT_TRANSLATE_NOOP("Actions", "Messages")
VIEW = QT_TRANSLATE_NOOP("Actions", "View")
WINDOW = QT_TRANSLATE_NOOP("Actions", "Window")

ACTIONS = (
    ActionSpec("new_chat", QT_TRANSLATE_NOOP("Actions", "New chat"), ("Ctrl+N",), CHATS),
    ActionSpec("search", QT_TRANSLATE_NOOP("Actions", "Search chats"), ("Ctrl+K",), CHATS),
    ActionSpec("find", QT_TRANSLATE_NOOP("Actions", "Find in this chat"), ("Ctrl+F",), CHATS),
    ActionSpec("rename", QT_TRANSLATE_NOOP("Actions", "Rename this chat"), ("F2",), CHATS),
    ActionSpec("export", QT_TRANSLATE_NOOP("Actions", "Export this chat"), ("Ctrl+E",), CHATS),
    ActionSpec("import", QT_TRANSLATE_NOOP("Actions", "Import chats"), ("Ctrl+I",), CHATS),
    ActionSpec("attach", QT_TRANSLATE_NOOP("Actions", "Add documents"), ("Ctrl+O",), MESSAGES),
    ActionSpec("copy_answer", QT_TRANSLATE_NOOP("Actions", "Copy the last answer"), ("Ctrl+Shift+C",), MESSAGES),
    ActionSpec("regenerate", QT_TRANSLATE_NOOP("Actions", "Answer again"), ("Ctrl+R",), MESSAGES),
    ActionSpec("stop", QT_TRANSLATE_NOOP("Actions", "Stop"), ("Esc",), MESSAGES),
    ActionSpec("newest", QT_TRANSLATE_NOOP("Actions", "Go to the newest message"), ("Ctrl+End",), MESSAGES),
    ActionSpec("focus_composer", QT_TRANSLATE_NOOP("Actions", "Write a question"), ("Ctrl+L",), MESSAGES),
    ActionSpec("sidebar", QT_TRANSLATE_NOOP("Actions", "Show or hide the chats"), ("Ctrl+B",), VIEW),
    ActionSpec("panel", QT_TRANSLATE_NOOP("Actions", "Show or hide the live panel"), ("Ctrl+J",), VIEW),
    ActionSpec("models", QT_TRANSLATE_NOOP("Actions", "Models"), ("Ctrl+M",), VIEW),
    ActionSpec("doctor", QT_TRANSLATE_NOOP("Actions", "Check this computer"), ("Ctrl+D",), VIEW),
    ActionSpec("settings", QT_TRANSLATE_NOOP("Actions", "Settings"), ("Ctrl+,",), VIEW),
    ActionSpec("larger", QT_TRANSLATE_NOOP("Actions", "Larger text"), ("Ctrl++", "Ctrl+="), VIEW),
    ActionSpec("smaller", QT_TRANSLATE_NOOP("Actions", "Smaller text"), ("Ctrl+-",), VIEW),
    ActionSpec("normal", QT_TRANSLATE_NOOP("Actions", "Normal text size"), ("Ctrl+0",), VIEW),
    ActionSpec("help", QT_TRANSLATE_NOOP("Actions", "Help"), ("F1",), WINDOW),
    ActionSpec("shortcuts", QT_TRANSLATE_NOOP("Actions", "Keyboard shortcuts"), ("Ctrl+?", "Ctrl+Shift+/"), WINDOW),
    ActionSpec("close", QT_TRANSLATE_NOOP("Actions", "Close the window"), ("Ctrl+W",), WINDOW),
    ActionSpec("quit", QT_TRANSLATE_NOOP("Actions", "Quit"), ("Ctrl+Q",), WINDOW),
)
BY_NAME: Mapping[str, ActionSpec] = MappingProxyType({spec.name: spec for spec in ACTIONS})


def action_text(text: str) -> str:
    """The translation of a text of this table."""
    return QCoreApplication.translate("Actions", text)


def keys_text(spec: ActionSpec) -> str:
    """The first key of an action as the desktop writes it."""
    return QKeySequence(spec.keys[0]).toString(QKeySequence.SequenceFormat.NativeText)


def install_actions(window: QWidget, handlers: Mapping[str, Callable[[], object]]) -> dict[str, QAction]:
    """Put every action on the window. Raises KeyError if one has no handler."""
    made: dict[str, QAction] = {}
    for spec in ACTIONS:
        action = QAction(action_text(spec.text), window)
        action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        handler = handlers[spec.name]
        action.triggered.connect(lambda _checked=False, handler=handler: handler())
        window.addAction(action)
        made[spec.name] = action
    return made
