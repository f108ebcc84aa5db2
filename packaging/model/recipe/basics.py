"""Everyday facts with right answers, written for this purpose: what people try first, where the teacher is often wrong.

Facts are in basics.json; sums are made. Pure functions of a random source.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path

from recipe.conversations import Conversation, Kind

_FACTS = json.loads(Path(__file__).with_name("basics.json").read_text("utf-8"))
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MOST_TURNS = 3
_SMALL = 12  # tables of multiplication go as far
Turn = tuple[str, str]


def basic_conversations(random_: random.Random, count: int) -> list[Conversation]:
    """`count` chats of one to three of these questions."""
    found = []
    for _ in range(count):
        turns = [_turn(random_) for _ in range(random_.randint(1, _MOST_TURNS))]
        found.append(Conversation(Kind.CHAT, tuple(text for turn in turns for text in turn)))
    return found


def trained_questions() -> frozenset[str]:
    """What training asks in these chats, the made questions among them: those of a draw as large as a training's."""
    random_ = random.Random(0)
    return frozenset(_turn(random_)[0] for _ in range(150_000))


def _turn(random_: random.Random) -> Turn:
    return random_.choices(_MAKERS, _SHARES)[0](random_)


def _written(kind: str) -> Callable[[random.Random], Turn]:
    """Questions and answers as they are written; `|` parts ways of asking."""

    def make(random_: random.Random) -> Turn:
        asked, answer = random_.choice(_FACTS[kind])
        return random_.choice(asked.split("|")), answer

    return make


def _capital(random_: random.Random) -> Turn:
    """A city with its country's name is not asked for: "Luxembourg is in Luxembourg" tells nothing."""
    country, city = random_.choice(list(_FACTS["capitals"].items()))
    answer = f"The capital of {country} is {city}."
    turns = [
        (f"What is the capital of {country}?", answer),
        (f"Which city is the capital of {country}?", answer),
        (f"Tell me the capital of {country}.", answer),
    ]
    return random_.choice([*turns, (f"Where is {city}?", f"{city} is in {country}.")] if city != country else turns)


def _opposite(random_: random.Random) -> Turn:
    word, other = random_.choice(_FACTS["opposites"])
    asked = random_.choice((f"What is the opposite of {word}?", f"Give me the opposite of {word}."))
    return asked, f"The opposite of {word} is {other}."


def _animal(random_: random.Random) -> Turn:
    animal, young, sound, home = random_.choice(_FACTS["animals"])
    a = "an" if animal[0] in "aeiou" else "a"
    many = dict(_FACTS["plurals"]).get(animal, f"{animal}s")
    return random_.choice(
        (
            (f"What is a young {animal} called?", f"A young {animal} is called {young}."),
            (f"What sound does {a} {animal} make?", f"{a.capitalize()} {animal} {sound}."),
            (f"Where do {many} live?", f"{many.capitalize()} live {home}."),
        )
    )


def _plural(random_: random.Random) -> Turn:
    one, many = random_.choice(_FACTS["plurals"])
    return f"What is the plural of {one}?", f"The plural of {one} is {many}."


def _author(random_: random.Random) -> Turn:
    work, author, did = random_.choice(_FACTS["works"])
    return f"Who {did} {work}?", f"{author} {did} {work}."


def _sum(random_: random.Random) -> Turn:
    """Products and quotients are of the tables up to 12, which people try first.

    So are half of the numbers added, and half of those taken and left; the rest go to 50, and what is taken to 20.
    """
    most, most_taken = random_.choice(((_SMALL, _SMALL), (50, 20)))
    kind, large = random_.choice("+-*/"), random_.randint(0, most)
    match kind:
        case "+":
            a, b, word = large, random_.randint(0, most), "plus"
            result = a + b
        case "-":
            b, result, word = random_.randint(0, most_taken), large, "minus"
            a = result + b
        case "*":
            a, b, word = random_.randint(0, _SMALL), random_.randint(0, _SMALL), "times"
            result = a * b
        case _:
            b, result, word = random_.randint(1, _SMALL), random_.randint(0, _SMALL), "divided by"
            a = result * b
    asked = random_.choice(
        (f"What is {a} {word} {b}?", f"How much is {a} {word} {b}?", f"What is {a} {kind} {b}?", f"{a} {kind} {b} = ?")
    )
    return asked, f"{a} {word} {b} is {result}."


def _compare(random_: random.Random) -> Turn:
    a, b = random_.sample(range(1000), 2)
    return f"Which is larger, {a} or {b}?", f"{max(a, b)} is larger than {min(a, b)}."


def _order(random_: random.Random) -> Turn:
    names, what = random_.choice(((_DAYS, "day"), (_MONTHS, "month")))
    at, step = random_.randrange(len(names)), random_.choice((-1, 1))
    word = "after" if step > 0 else "before"
    return f"Which {what} comes {word} {names[at]}?", f"{names[(at + step) % len(names)]} comes {word} {names[at]}."


_WEIGHTED: tuple[tuple[Callable[[random.Random], Turn], int], ...] = (
    (_written("facts"), 6),
    (_written("about"), 3),
    (_sum, 6),
    (_capital, 4),
    (_author, 2),
    *((make, 1) for make in (_opposite, _animal, _plural, _compare, _order)),
)
_MAKERS, _SHARES = tuple(make for make, _ in _WEIGHTED), tuple(share for _, share in _WEIGHTED)
