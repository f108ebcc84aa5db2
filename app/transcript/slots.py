"""What a laid out message consists of: places for its controls, and its blocks with their addresses. Pure records."""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QRectF

from app.transcript.block_layout import BlockLayout
from app.transcript.code_layout import CodeLayout


class SlotKind(Enum):
    """A place in a message where a control stands."""

    ATTACHMENTS = "attachments"
    FOLD = "fold"
    PREFILL = "prefill"
    SHOW_ALL = "show_all"
    NOTICE = "notice"
    ACTIONS = "actions"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Slot:
    """A control's place, in message coordinates. `block` is set for code."""

    kind: SlotKind
    key: tuple[int, int]
    rect: QRectF
    block: CodeLayout | None = None


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A visible block and its address in the message: section 0 is thinking, 1 the text."""

    section: int
    index: int
    layout: BlockLayout
