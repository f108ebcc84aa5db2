"""Short made-up texts of plain facts, and questions that only they answer: reading is learned from these first.

Names are often invented, so an answer cannot be known and has to be copied. Templates and words are in passages.json.
Pure functions of a random source.
"""

import json
import random
from pathlib import Path

from recipe.documents import Document
from recipe.topics import COLOURS, NAMES, PLACES, THINGS

_WORDS = json.loads(Path(__file__).with_name("passages.json").read_text("utf-8"))
_STARTS = ("b", "br", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
_MIDDLES, _ENDS = ("a", "e", "i", "o", "u", "ei", "ia"), ("", "n", "r", "l", "s", "th", "m")
_INVENTED = 0.6  # share of names and places that nobody has heard of


def passage(random_: random.Random, subjects: int) -> Document:
    """Two to four facts about each of `subjects` people and buildings, mixed; up to four questions."""
    facts: dict[str, tuple[str, str]] = {}
    for kind, subject in _subjects(random_, subjects):
        values = _values(random_, subject)
        for template in random_.sample(_WORDS[kind], random_.randint(2, 4)):
            fact, question, answer = (part.format(**values) for part in template)
            facts[fact] = question, answer
    told = list(facts)
    random_.shuffle(told)
    asked = random_.sample(told, min(len(told), random_.randint(1, 4)))
    return Document(" ".join(told), tuple(facts[fact] for fact in asked))


def _subjects(random_: random.Random, count: int) -> list[tuple[str, str]]:
    """Kinds and names, no two alike."""
    found: dict[str, str] = {}
    while len(found) < count:
        if random_.random() < 0.5:
            found.setdefault(_name(random_), "person")
        else:
            building = random_.choice(_WORDS["buildings"])
            named = f"{_invented(random_)} {building}" if random_.random() < _INVENTED else building
            found.setdefault(named, "building")
    return [(kind, subject) for subject, kind in found.items()]


def _values(random_: random.Random, subject: str) -> dict[str, str]:
    """A value for every blank that a template may have. One subject's facts share them, so none contradicts another."""
    lists = {
        **{"job": "jobs", "food": "foods", "animal": "animals", "material": "materials", "hour": "hours"},
        **{"evening": "later", "day": "days", "month": "months"},
    }
    found = {key: random_.choice(_WORDS[words]) for key, words in lists.items()}
    found |= {"colour": random_.choice(COLOURS), "thing": random_.choice(THINGS), "pet": _invented(random_)}
    other = next(name for name in iter(lambda: _name(random_), "") if name != subject)
    found |= {"subject": subject, "other": other}
    found |= {"place": _invented(random_) if random_.random() < 0.5 else random_.choice(PLACES)}
    numbers = {"age": (3, 99), "metres": (4, 300), "year": (1200, 2020), "coins": (2, 90)}
    return found | {key: str(random_.randint(*bounds)) for key, bounds in numbers.items()}


def _name(random_: random.Random) -> str:
    return _invented(random_) if random_.random() < _INVENTED else random_.choice(NAMES)


def _invented(random_: random.Random) -> str:
    """A name of two or three syllables that is probably no word."""
    syllables = (
        random_.choice(_STARTS) + random_.choice(_MIDDLES) + random_.choice(_ENDS) for _ in range(random_.randint(2, 3))
    )
    return "".join(syllables).capitalize()
