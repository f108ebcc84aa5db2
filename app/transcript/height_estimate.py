"""How high messages will be that were never on screen: a guess that is quick for ten thousand of them. Pure."""

from collections.abc import Sequence

from app.transcript.message_layout import COLLAPSED_CHARACTERS, MESSAGE_GAP, ROW
from app.transcript.model import MessageView, Role
from app.transcript.text_style import TextStyle


def estimate_heights(views: Sequence[MessageView], style: TextStyle, width: float) -> list[float]:
    """Guesses from the lengths alone, for messages that were never on screen."""
    per_line, line = style.characters_per_line(width), style.line_height() * 1.1
    fixed = MESSAGE_GAP + ROW + line
    user = Role.USER
    return [
        fixed + (min(len(v.text), COLLAPSED_CHARACTERS) if v.role is user else len(v.text)) / per_line * line
        for v in views
    ]
