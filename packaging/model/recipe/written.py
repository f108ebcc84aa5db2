"""Texts with questions, and chats, written for training: reading in many people's words, and sensible short answers.

The texts have blanks (`{day1}`, `{keeper}`) that are filled anew each time one is used: what is asked has to be read.
The data lies in recipe/written, one text or chat a line. Pure functions of a random source.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recipe.conversations import Conversation, Kind
from recipe.documents import Document
from recipe.passage_facts import NOT_SAID
from recipe.written_blanks import fill, make_filling

FOLDER = Path(__file__).with_name("written")
_COUNTS, _COUNT_SHARES = (1, 2, 3), (70, 20, 10)  # texts in one paste
_MOST_QUESTIONS = 4
_UNSAID = 0.25  # share of pastes with a question that they do not answer, where there is one
# Questions that ask of the whole paste; they are only asked where it is one text.
_OF_THE_WHOLE = re.compile(
    r"\b(text|about|write|writes|writer|wrote|written|author|letter|note|message|e-?mail|sender|sent|kind|addressed|"
    r"notice|article|story|report|entry|passage|speaker|speaks|narrator|summari[sz]e|title)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text with blanks, the options of its own blanks, (wordings, answer) pairs, and questions that are left open."""

    text: str
    choices: Mapping[str, tuple[str, ...]]
    asked: tuple[tuple[tuple[str, ...], str], ...]
    unsaid: tuple[str, ...]


def paste(random_: random.Random, is_whole: bool = True) -> Document:
    """One to three of the texts as one paste, and questions that they answer; a part of a longer one is one text."""
    count = random_.choices(_COUNTS, _COUNT_SHARES)[0] if is_whole else 1
    chosen = random_.sample(texts(), count)
    fillings = [make_filling(random_, one.text, one.choices) for one in chosen]
    turns = [turn for one, filling in zip(chosen, fillings, strict=True) for turn in _turns(random_, one, filling)]
    if not is_whole or count > 1:
        turns = [turn for turn in turns if not _OF_THE_WHOLE.search(turn[0])] or turns[:1]
    turns = random_.sample(turns, min(len(turns), random_.randint(1, _MOST_QUESTIONS)))
    open_ = [fill(question, filling) for one, filling in zip(chosen, fillings, strict=True) for question in one.unsaid]
    if open_ and count == 1 and random_.random() < _UNSAID:
        turns.insert(random_.randint(0, len(turns)), (random_.choice(open_), NOT_SAID))
    return Document("\n\n".join(fill(one.text, f) for one, f in zip(chosen, fillings, strict=True)), tuple(turns))


def written_conversations(random_: random.Random, count: int) -> list[Conversation]:
    """`count` of the written chats, each question in one of its wordings."""
    found = []
    for _ in range(count):
        turns = [(random_.choice(ways), answer) for ways, answer in random_.choice(chats())]
        found.append(Conversation(Kind.CHAT, tuple(text for turn in turns for text in turn)))
    return found


def written_questions() -> frozenset[str]:
    """What the written chats begin with, in every wording."""
    return frozenset(way for chat in chats() for way in chat[0][0])


@cache
def texts() -> tuple[WrittenText, ...]:
    return tuple(
        WrittenText(
            one["text"],
            {name: tuple(options) for name, options in one["choices"].items()},
            tuple((tuple(ways.split("|")), answer) for ways, answer in one["asked"]),
            tuple(one.get("unsaid", ())),
        )
        for one in _lines("readings")
    )


@cache
def chats() -> tuple[tuple[tuple[tuple[str, ...], str], ...], ...]:
    """Each a few turns of (wordings, answer)."""
    return tuple(tuple((tuple(ways.split("|")), answer) for ways, answer in chat) for chat in _lines("chats"))


def _lines(kind: str) -> Iterator[object]:
    for path in sorted(FOLDER.glob(f"{kind}-*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


def _turns(random_: random.Random, one: WrittenText, filling: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(fill(random_.choice(ways), filling), fill(answer, filling)) for ways, answer in one.asked]
