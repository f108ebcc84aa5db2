"""The words on the buttons that make a question fit. Pure."""

from PySide6.QtCore import QCoreApplication

from app.chat.budget import FitChoice, FitOption
from app.widgets import formats


def _tr(text: str, n: int = -1) -> str:
    return QCoreApplication.translate("Composer", text, None, n)


def option_words(option: FitOption) -> str:
    """What a person reads on the button of one choice."""
    value = formats.count(option.value)
    match option.choice:
        case FitChoice.SHORTER_ANSWER:
            return _tr("Keep only {tokens} tokens for the answer").format(tokens=value)
        case FitChoice.LEAVE_OUT_OLDEST:
            return _tr("Leave out the oldest %Ln turn(s)", option.value)
        case FitChoice.LARGER_CONTEXT:
            return _tr("Use a context of {tokens} tokens").format(tokens=value)
        case FitChoice.REMOVE_DOCUMENTS:
            return _tr("Remove the documents")
        case FitChoice.NEW_CHAT:
            return _tr("Ask in a new chat")
