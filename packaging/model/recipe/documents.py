"""Long pastes to learn from: articles joined to documents, facts hidden in them, and questions that they answer.

A document is the teacher's text; the hidden facts (needles) are ours, so the right answer is known. Pure functions of a
random source.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from recipe.conversations import Conversation
from recipe.topics import COLOURS, FACTS, NAMES, PLACES, THINGS

_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


@dataclass(frozen=True, slots=True)
class Needle:
    """A fact to be hidden, its question, the whole answer, and the word in it that decides."""

    fact: str
    question: str
    answer: str
    key: str


@dataclass(frozen=True, slots=True)
class Document:
    """A paste and questions about it: `turns` are (question, answer)."""

    text: str
    turns: tuple[tuple[str, str], ...]


def make_needles(random_: random.Random, count: int) -> list[Needle]:
    """`count` facts of which no two are about the same thing or person in the same way."""
    found: dict[str, Needle] = {}
    while len(found) < count:
        fact, question, answer = random_.choice(FACTS)
        words = {
            "thing": random_.choice(THINGS),
            "name": random_.choice(NAMES),
            "value": str(random_.randint(10, 9999)),
            "colour": random_.choice(COLOURS),
            "place": random_.choice(PLACES),
        }
        keys = [key for key in ("value", "colour", "place") if "{" + key + "}" in answer]
        asked = question.format(**words)
        found.setdefault(asked, Needle(fact.format(**words), asked, answer.format(**words), words[keys[0]]))
    return list(found.values())


def hide(text: str, needles: Sequence[Needle], random_: random.Random) -> str:
    """The text with every fact between two of its sentences, or at an end, anywhere equally likely."""
    sentences = _SENTENCE_END.split(text)
    for needle in needles:
        sentences.insert(random_.randint(0, len(sentences)), needle.fact)
    return " ".join(sentences)


def join_articles(articles: Sequence[str], random_: random.Random, most_bytes: int) -> str:
    """Articles in random order up to `most_bytes`; the last one is cut at a sentence's end."""
    parts: list[str] = []
    left = most_bytes
    while left > 200:
        article = random_.choice(articles)
        if len(article) > left:
            kept = article[:left].rpartition(". ")[0]
            article, left = (kept + "." if kept else ""), 0
        parts += [article] if article else []
        left -= len(article) + 2
    return "\n\n".join(parts)


def needle_document(articles: Sequence[str], random_: random.Random, most_bytes: int, needles: int) -> Document:
    """A document with hidden facts; all of them are asked for, in random order."""
    hidden = make_needles(random_, needles)
    text = hide(join_articles(articles, random_, most_bytes), hidden, random_)
    random_.shuffle(hidden)
    return Document(text, tuple((needle.question, needle.answer) for needle in hidden))


def among_articles(told: Document, articles: Sequence[str], random_: random.Random, most_bytes: int) -> Document:
    """A short document as a part of a long one, with its questions."""
    parts = list(filter(None, join_articles(articles, random_, most_bytes - len(told.text)).split("\n\n")))
    parts.insert(random_.randint(0, len(parts)), told.text)
    return Document("\n\n".join(parts), told.turns)


def article_document(
    chosen: Sequence[Conversation], articles: Sequence[str], random_: random.Random, most_bytes: int
) -> Document:
    """A document made of the articles of `chosen` and others; each chosen article's own question is asked."""
    parts = [one.texts[0] for one in chosen]
    filler = most_bytes - sum(map(len, parts))
    parts += [join_articles(articles, random_, filler)] if filler > 400 else []
    random_.shuffle(parts)
    return Document("\n\n".join(parts), tuple((one.texts[1], one.texts[2]) for one in chosen))
