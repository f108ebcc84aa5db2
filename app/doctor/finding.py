"""What a probe says: one line with what was found, what is wanted and what to do. Immutable; any thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType


class Severity(Enum):
    """How much a finding matters, least first."""

    OK = "ok"
    NOTE = "note"  # good to know; nothing to do, or nothing that must be done
    WARNING = "warning"  # works, but slower, less or with a known risk
    PROBLEM = "problem"  # what the machine is meant for will not work

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Topic(Enum):
    """The groups in which findings are shown, in this order."""

    GPU = "GPU"
    DRIVER = "Kernel and driver"
    ACCESS = "Access to the GPU"
    MEMORY = "Memory"
    SOFTWARE = "ROCm and Python packages"
    SPEED = "Speed"


Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `advice` is empty when there is nothing to do; `facts` are the numbers behind the words.

    `key` names the check for programs and does not change between releases.
    """

    key: str
    topic: Topic
    title: str
    severity: Severity
    found: str
    wanted: str = ""
    advice: str = ""
    facts: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))
