"""Which facts of a passage's subjects are told and in which words; which are asked for, and some that are not told.

A fact tells the values of one or more blanks, and a question asks for one blank. A pronoun, or no mention of the
subject at all, is only used where it can mean nothing else. Pure functions of a random source.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from recipe.passage_subjects import ABOUT, KINDS, Subject

NOT_SAID = "The text does not say."
_PRONOUN = 0.5  # share of pronouns where there may be one
_BLANK = re.compile(r"{(?:an? )?([^}]+)}")
_SUBJECT_BLANKS = frozenset({"subject", "subject's", "object"})


@dataclass(frozen=True, slots=True)
class Fact:
    """Something told of a subject: its wordings, and the blanks whose values they tell."""

    subject: Subject
    ways: tuple[str, ...]
    blanks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answer; `blank` is what was asked for, or "" for what the text is about."""

    question: str
    answer: str
    subject: Subject
    blank: str


def blanks_of(template: str) -> frozenset[str]:
    return frozenset(_BLANK.findall(template)) - _SUBJECT_BLANKS


def names_subject(template: str) -> bool:
    return not _SUBJECT_BLANKS.isdisjoint(_BLANK.findall(template))


def choose_facts(random_: random.Random, subject: Subject, count: int) -> list[Fact]:
    """Up to `count` facts that tell nothing twice."""
    found: list[Fact] = []
    told: set[str] = set()
    templates = KINDS[subject.kind]["told"]
    for template in random_.sample(templates, len(templates)):
        blanks = blanks_of(template)
        if len(found) < count and not blanks & told:
            found.append(Fact(subject, tuple(template.split("|")), blanks))
            told |= blanks
    return found


def stands_alone(subject: Subject, subjects: Sequence[Subject]) -> bool:
    """Whether a pronoun can mean no one else: the only person, or a thing that is all the passage is about.

    A person's facts speak of things as well, which could be "it".
    """
    others = [one for one in subjects if one is not subject]
    return not any(one.is_person for one in others) if subject.is_person else not others


def say(random_: random.Random, fact: Fact, *, pronoun: bool) -> str:
    """The fact in one of its wordings; one that does not name its subject only where a pronoun may be used."""
    return fact.subject.fill(_way(random_, fact.ways, pronoun), pronoun=pronoun and random_.random() < _PRONOUN)


def ask(random_: random.Random, told: Sequence[Fact], subjects: Sequence[Subject], count: int) -> list[Asked]:
    """Up to `count` questions about different things that were told."""
    blanks = [(fact.subject, blank) for fact in told for blank in sorted(fact.blanks) if _is_asked(fact.subject, blank)]
    chosen = random_.sample(blanks, min(count, len(blanks)))
    return [_ask(random_, subject, blank, stands_alone(subject, subjects)) for subject, blank in chosen]


def ask_unsaid(random_: random.Random, text: str, told: Sequence[Fact], subjects: Sequence[Subject]) -> Asked | None:
    """A question that suits a subject and that no fact answers, whose value stands nowhere; None if there is none."""
    subject = random_.choice(subjects)
    said = {blank for fact in told if fact.subject is subject for blank in fact.blanks}
    found: list[str] = []
    for blank, (_, _, _, *near) in KINDS[subject.kind]["asked"].items():
        answered = said & {blank, *(near[0] if near else ())}
        if _is_asked(subject, blank) and not answered and not stands_in(text, subject.values[blank]):
            found.append(blank)
    if not found:
        return None
    one = _ask(random_, subject, random_.choice(found), stands_alone(subject, subjects))
    return Asked(one.question, NOT_SAID, subject, one.blank)


def ask_about(random_: random.Random, in_order: Sequence[Subject]) -> Asked:
    """What the text is about, which is its subjects as they come in it."""
    names = [one.name for one in in_order]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return Asked(random_.choice(ABOUT), f"It is about {listed}.", in_order[0], "")


def stands_in(text: str, value: str) -> bool:
    """Whether the value stands in the text as a word or words of its own, in capitals or not, or as a plural."""
    return re.search(rf"(?<!\w){re.escape(value)}s?(?!\w)", text, re.IGNORECASE) is not None


def _is_asked(subject: Subject, blank: str) -> bool:
    return bool(KINDS[subject.kind]["asked"][blank][1])


def _ask(random_: random.Random, subject: Subject, blank: str, alone: bool) -> Asked:
    """A person is called in the answer what the question called them; a thing is "it" in the answer."""
    _, questions, answer, *_ = KINDS[subject.kind]["asked"][blank]
    way = _way(random_, questions.split("|"), alone)
    pronoun = alone and random_.random() < _PRONOUN
    answered = subject.fill(answer, pronoun=not subject.is_person or (pronoun and names_subject(way)))
    return Asked(subject.fill(way, pronoun=pronoun), answered, subject, blank)


def _way(random_: random.Random, ways: Sequence[str], alone: bool) -> str:
    return random_.choice([way for way in ways if alone or names_subject(way)])
