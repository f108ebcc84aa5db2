"""Scripts for the sampler: which tokens of a conversation are given, and where the teacher speaks and how freely.

A script is a row of token ids; a negative entry stands for a stretch that the teacher samples until it ends its turn.
Pure functions of a seed.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import torch
from recipe.teacher_text import TeacherText
from recipe.topics import OPENERS, PLACES, TOPICS

END = -1000  # after a script's last entry


class Voice(IntEnum):
    """How the teacher speaks in a sampled stretch; a script's entry is -1 - voice."""

    ASKING = 0
    ANSWERING = 1
    WRITING = 2
    READING = 3


@dataclass(frozen=True, slots=True)
class Manner:
    """`temperature` divides the logits; a turn of `limit` tokens is cut, and its conversation dropped later."""

    temperature: float
    limit: int


# Questions should differ from one another; answers should be the teacher's best.
MANNERS = {
    Voice.ASKING: Manner(0.8, 64),
    Voice.ANSWERING: Manner(0.45, 256),
    Voice.WRITING: Manner(0.6, 208),
    Voice.READING: Manner(0.2, 72),
}
# Only the teacher reads this: without it, more than half of its answers run on to the limit and are lost.
BRIEFLY = "You are a helpful assistant. Answer clearly and correctly, in one to four short sentences."
WRITE_TEXT = "Write a paragraph of five sentences about {topic}."
# Ours, for the teacher's own questions about a text are seldom any; each names its subject, so that the right part of a
# long paste can be found by it.
QUESTIONS = (
    "What does the text say about {topic}?",
    "According to the text, why does {topic} matter?",
    "Summarize in one sentence what is said about {topic}.",
    "Name one fact about {topic} from the text.",
    "What is special about {topic}, according to the text?",
)
_BRIEF_SHARE = 0.8
_TURNS = (1, 1, 1, 2, 2, 3)  # how many questions a chat has, each as likely as it is listed
_ANGLES = (
    "",
    " and children",
    " today",
    " in the past",
    " and science",
    " and nature",
    " in daily life",
    " and people",
)


def sampled(voice: Voice) -> int:
    """The entry for a stretch that the teacher samples."""
    return -1 - voice


def chat_script(text: TeacherText, random_: random.Random) -> list[int]:
    """A conversation of a few turns; the first words of the first question are ours, the rest is the teacher's."""
    opener = random_.choice(OPENERS).format(topic=random_.choice(TOPICS), place=random_.choice(PLACES))
    entries = text.message("system", BRIEFLY) if random_.random() < _BRIEF_SHARE else []
    entries += text.message("user", opener) if opener.endswith((".", "?", "!")) else _asking(text, opener)
    for turn in range(random_.choice(_TURNS)):
        entries += _asking(text, "") if turn else []
        entries += [*text.open_turn("assistant"), sampled(Voice.ANSWERING), *text.encode("\n")]
    return [*entries[:-1], END]


def document_script(text: TeacherText, random_: random.Random) -> list[int]:
    """The teacher writes an article, and answers a question of ours with the article before it."""
    topic = random_.choice(TOPICS) + random_.choice(_ANGLES)
    entries = text.message("system", BRIEFLY)
    entries += text.message("user", WRITE_TEXT.format(topic=topic))
    entries += [*text.open_turn("assistant"), sampled(Voice.WRITING), *text.encode("\n")]
    entries += text.message("user", random_.choice(QUESTIONS).format(topic=topic))
    return [*entries, *text.open_turn("assistant"), sampled(Voice.READING), END]


def _asking(text: TeacherText, opener: str) -> list[int]:
    return [*text.open_turn("user"), *text.encode(opener), sampled(Voice.ASKING), *text.encode("\n")]


def make_scripts(text: TeacherText, chats: int, documents: int, seed: int) -> torch.Tensor:
    """int32 [chats + documents, width], shuffled, every row ended and filled up with END."""
    random_ = random.Random(seed)
    scripts = [chat_script(text, random_) for _ in range(chats)]
    scripts += [document_script(text, random_) for _ in range(documents)]
    random_.shuffle(scripts)
    return _as_table(scripts)


def _as_table(scripts: Sequence[Sequence[int]]) -> torch.Tensor:
    table = torch.full((len(scripts), max(map(len, scripts))), END, dtype=torch.int32)
    for row, script in enumerate(scripts):
        table[row, : len(script)] = torch.tensor(script, dtype=torch.int32)
    return table
