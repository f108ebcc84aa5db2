"""When a paste becomes a document instead of text in the composer, and what it is called. Pure."""

from collections.abc import Collection

from PySide6.QtCore import QCoreApplication


def is_long_paste(text: str, *, threshold: int, enabled: bool) -> bool:
    """True if a paste of `text` should become a document: it has more characters than the threshold."""
    return enabled and len(text) > threshold


def paste_name(taken: Collection[str]) -> str:
    """A name for a pasted document that none of the others in the composer has."""
    for number in range(1, len(taken) + 2):
        name = QCoreApplication.translate("Documents", "Pasted text {number}").format(number=number)
        if name not in taken:
            return name
    raise AssertionError("more names are taken than there are")
