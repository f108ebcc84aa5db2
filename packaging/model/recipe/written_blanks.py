"""The blanks of the written texts (recipe.written): what each may be filled with, and filling them.

A text brings options for its own blanks; common ones (`{woman1}`, `{time1}`) are filled from lists and rules here. Pure
functions of a random source.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

BLANK = re.compile(r"{([^{}]+)}")
_WORDS = json.loads(Path(__file__).with_name("written_words.json").read_text("utf-8"))


def fill(template: str, filling: Mapping[str, str]) -> str:
    """The template with its blanks filled; one that begins with a capital begins what it is filled with so."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in filling:
            return filling[name]
        found = filling[_small(name)]
        return found[0].upper() + found[1:]

    return BLANK.sub(value, template)


def _small(name: str) -> str:
    return name[0].lower() + name[1:]


def make_filling(random_: random.Random, text: str, choices: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A value for every blank: one of its options, or for a common blank any that no other blank of the text has."""
    found = {name: random_.choice(options) for name, options in choices.items()}
    for name in sorted(map(_small, BLANK.findall(text))):
        make = COMMON.get(name.rstrip("0123456789"))
        while make is not None and name not in found:
            value = make(random_)
            if value not in found.values():
                found[name] = value
    return found


def _word(kind: str) -> Callable[[random.Random], str]:
    return lambda random_: random_.choice(_WORDS[kind])


def _joined(*kinds: str, between: str = "") -> Callable[[random.Random], str]:
    return lambda random_: between.join(random_.choice(_WORDS[kind]) for kind in kinds)


def _town(random_: random.Random) -> str:
    """Half of them are invented."""
    return random_.choice((_word("town"), _joined("town starts", "town ends")))(random_)


def _name(random_: random.Random) -> str:
    parts: Sequence[str] = random_.choice((("name starts", "name ends"), ("name starts", "name middles", "name ends")))
    return _joined(*parts)(random_)


def _time(random_: random.Random) -> str:
    """As it stands after "at": half of the times are told in words."""
    hour = random_.choice(_WORDS["hour"])
    digits = f"{random_.randint(1, 12)}:{random_.choice(('05', '10', '15', '20', '30', '40', '45', '50'))}"
    spoken = random_.choice((hour, f"half past {hour}", f"quarter past {hour}", f"quarter to {hour}"))
    return random_.choice((spoken, digits))


COMMON: Mapping[str, Callable[[random.Random], str]] = {
    **{kind: _word(kind) for kind in ("woman", "man", "surname", "country", "day", "month", "small", "colour")},
    "town": _town,
    "street": _joined("street starts", "street ends", between=" "),
    "date": lambda random_: f"{random_.randint(1, 28)} {random_.choice(_WORDS['month'])}",
    "year": lambda random_: str(random_.randint(1850, 2024)),
    "time": _time,
    "number": lambda random_: str(random_.randint(13, 98)),
    "hundreds": lambda random_: str(5 * random_.randint(20, 198)),
    "name": _name,
}
