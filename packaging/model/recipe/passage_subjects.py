"""Whom or what a made-up passage is about: a name, what stands for it, and a value for all that may be told of it.

A kind's templates and the words are in passages.json. A template's blanks are a value's name, `{a value}` with its
article, and `{subject}`, `{subject's}` and `{object}`, which are the name or a pronoun; a thing is always named as an
`{object}`, for "at it" is no English. For each blank, `asked` has the source of its value, the ways of asking for it
(none if it is not asked for), the answer, and sometimes other blanks whose values would half answer the question.
Pure functions of a random source.
"""

import json
import random
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recipe.topics import NAMES, PLACES

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("passages.json").read_text("utf-8"))
KINDS: dict[str, Any] = _DATA["kinds"]
TITLES, FILLERS, ABOUT, UNWANTED = (tuple(_DATA[words]) for words in ("titles", "fillers", "about", "unwanted"))
_WORDS: dict[str, list[str]] = _DATA["words"]
_KINDS_DRAWN = (*KINDS, "person", "building")  # twice as often, for they are what people write of most

_STARTS = ("b", "br", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
_MIDDLES, _ENDS = ("a", "e", "i", "o", "u", "ei", "ia"), ("", "n", "r", "l", "s", "th", "m")
_OPEN = ("",)
_SYLLABLES = ((_OPEN, _ENDS), (_ENDS, _ENDS), (_ENDS, _OPEN), (_OPEN, _OPEN, _ENDS))  # the ends of each form of name
_SAID = {word.capitalize() for line in (*TITLES, *FILLERS) for word in re.findall(r"[a-z]+", line, re.IGNORECASE)}
_REAL_NAMES = frozenset({*NAMES, *PLACES, *_WORDS["women"], *_WORDS["men"], *_WORDS["places"], *_SAID})
_HOLDS_UNWANTED = re.compile("|".join(UNWANTED), re.IGNORECASE)
_INVENTED = 0.6  # share of people's names that nobody has heard of
_NAMED = 0.45  # share of things that have a name beside their noun
_FAMILY_NAME = 0.2  # share of people with two names
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` as it stands inside a sentence; `pronouns` for the three blanks of a subject; `values` by blank."""

    kind: str
    name: str
    pronouns: Mapping[str, str]
    values: Mapping[str, str]

    @property
    def is_person(self) -> bool:
        return self.pronouns["subject"] != "it"

    def fill(self, template: str, *, pronoun: bool = False) -> str:
        """The template with its blanks filled in; every sentence begins with a capital letter."""
        names = {"subject": self.name, "subject's": f"{self.name}'s", "object": self.name}
        text = template.format(**self.values, **(self.pronouns if pronoun else names))
        return _SENTENCE_START.sub(lambda letter: letter[0].upper(), text)


def make_subjects(random_: random.Random, count: int) -> list[Subject]:
    """`count` subjects that share no name and no noun, so that each can be told from the others."""
    names = _Names(random_)
    nouns: set[str] = set()
    found: list[Subject] = []
    while len(found) < count:
        kind = random_.choice(_KINDS_DRAWN)
        noun = random_.choice(KINDS[kind].get("subjects", [""]))
        if noun and noun in nouns:
            continue
        nouns.add(noun)
        name, pronouns = _thing(random_, noun, names) if noun else _person(random_, names)
        names.others = {"she": ("men",), "he": ("women",)}.get(pronouns["subject"], ("men", "women"))
        found.append(Subject(kind, name, pronouns, _values(random_, kind, names)))
    return found


def _thing(random_: random.Random, noun: str, names: "_Names") -> tuple[str, Mapping[str, str]]:
    name = f"the {names.invented()} {noun}" if random_.random() < _NAMED else f"the {noun}"
    return name, {"subject": "it", "subject's": "its", "object": name}


def _person(random_: random.Random, names: "_Names") -> tuple[str, Mapping[str, str]]:
    known, she, her, whom = random_.choice((("women", "she", "her", "her"), ("men", "he", "his", "him")))
    name = names.invented() if random_.random() < _INVENTED else names.known(known)
    name += f" {names.invented()}" if random_.random() < _FAMILY_NAME else ""
    return name, {"subject": she, "subject's": her, "object": whom}


def _values(random_: random.Random, kind: str, names: "_Names") -> dict[str, str]:
    """One value for each blank of the kind, which all its facts share, so none contradicts another; no word twice."""
    found: dict[str, str] = {}
    for blank, (source, *_) in KINDS[kind]["asked"].items():
        found[blank] = _fresh(partial(_value, random_, source, names), found.values())
    return found | {f"a {blank}": f"{_article(value)} {value}" for blank, value in found.items()}


def _value(random_: random.Random, source: str | list[int], names: "_Names") -> str:
    """From a range of whole numbers [first, end, step], or from the words of that name; three sources make names."""
    if isinstance(source, list):
        return str(random_.randrange(*source))
    match source:
        case "invented":
            return names.invented()
        case "known":
            return names.other()
        case "anywhere":
            return names.invented() if random_.random() < 0.5 else random_.choice(_WORDS["places"])
    return random_.choice(_WORDS[source])


def _fresh(draw: Callable[[], str], taken: Collection[str]) -> str:
    """The first draw that is not taken yet."""
    while (value := draw()) in taken:
        pass
    return value


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


class _Names:
    """Names, none of which is given twice in one passage."""

    def __init__(self, random_: random.Random) -> None:
        self._random = random_
        self._taken: set[str] = set()
        self.others: tuple[str, ...] = ("men", "women")  # whom a fact may name: "she" after it must not mean them

    def known(self, which: str) -> str:
        return self._take(lambda: self._random.choice(_WORDS[which]))

    def other(self) -> str:
        """Somebody beside the subject."""
        return self.invented() if self._random.random() < _INVENTED else self.known(self._random.choice(self.others))

    def invented(self) -> str:
        """Two or three syllables that are probably no word, and neither a real name nor anything that could hurt."""
        return self._take(self._made_up)

    def _made_up(self) -> str:
        while (name := self._spelled()) in _REAL_NAMES or _HOLDS_UNWANTED.search(name):
            pass
        return name

    def _spelled(self) -> str:
        return "".join(map(self._syllable, _SYLLABLES[self._random.randint(0, 3)])).capitalize()

    def _syllable(self, ends: tuple[str, ...]) -> str:
        return self._random.choice(_STARTS) + self._random.choice(_MIDDLES) + self._random.choice(ends)

    def _take(self, draw: Callable[[], str]) -> str:
        name = _fresh(draw, self._taken)
        self._taken.add(name)
        return name
