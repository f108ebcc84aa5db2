"""Texts in words of their own, as people paste them, and questions they answer. Nothing is trained on them.

Passages and needles (recipe.passages, recipe.documents) are made from templates that training uses too; these show how
far reading goes beyond them. Written for this purpose, in readings.json.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with a question after it, as the program sends a paste, and the words of which an answer has one.

    Words stand by themselves: 204 is not 20. A number may be written in words or digits.
    """

    prompt: str
    keys: tuple[str, ...]

    def is_answered_by(self, answer: str) -> bool:
        return any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", answer, re.IGNORECASE) for key in self.keys)


def _read() -> tuple[Reading, ...]:
    stored = json.loads(Path(__file__).with_name("readings.json").read_text("utf-8"))
    return tuple(Reading(f"{one['text']}\n\n{asked}", tuple(keys)) for one in stored for asked, keys in one["asked"])


READINGS = _read()
