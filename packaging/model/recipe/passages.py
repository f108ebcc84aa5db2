"""Short made-up texts of plain facts, and questions that only they answer: reading is learned from these first.

Names are often invented, so an answer cannot be known and has to be copied. Pure functions of a random source.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from recipe.documents import Document
from recipe.passage_facts import Asked, Fact, ask, ask_about, ask_unsaid, choose_facts, say, stands_alone
from recipe.passage_subjects import FILLERS, TITLES, Subject, make_subjects

_FACTS = {1: (3, 7), 2: (2, 5), 3: (2, 4)}  # how many facts are told of each, by the number of subjects
_FEW_FACTS = (1, 3)  # of each of more subjects than that
_MIXED = 0.4  # share of passages whose subjects' facts are mixed
_FILLED = 0.35  # share with one to three sentences that tell nothing
_TITLED = 0.25
_ABOUT = 0.1  # share of passages that are asked what they are about
_UNSAID = 0.08  # share of questions about what is not said
_LAYOUTS, _SHARES = ("running", "paragraphs", "list"), (55, 25, 20)
_MOST_QUESTIONS = 4


@dataclass(frozen=True, slots=True)
class Written:
    """A passage and what it was made from: `told` in the text's order."""

    text: str
    told: tuple[Fact, ...]
    asked: tuple[Asked, ...]


def passage(random_: random.Random, subjects: int, is_whole: bool = True) -> Document:
    """A text about so many `subjects` of any kinds, and one to five questions about it.

    One that is not the whole of a document is not asked what it is about.
    """
    written = write_passage(random_, subjects, is_whole)
    return Document(written.text, tuple((one.question, one.answer) for one in written.asked))


def write_passage(random_: random.Random, count: int, is_whole: bool = True) -> Written:
    """The passage with its facts beside it, from which every answer can be checked."""
    subjects = make_subjects(random_, count)
    bounds = _FACTS.get(count, _FEW_FACTS)
    told = [fact for one in subjects for fact in choose_facts(random_, one, random_.randint(*bounds))]
    if random_.random() < _MIXED:
        random_.shuffle(told)
    in_order = list({id(fact.subject): fact.subject for fact in told}.values())
    text = _title(random_, in_order) + _lay_out(random_, told, in_order)
    asked = ask(random_, told, in_order, random_.randint(1, _MOST_QUESTIONS))
    for number in range(len(asked)):
        unsaid = ask_unsaid(random_, text, told, in_order) if random_.random() < _UNSAID else None
        if unsaid is not None and unsaid.question not in {one.question for one in asked}:
            asked[number] = unsaid
    if is_whole and random_.random() < _ABOUT:
        asked.insert(random_.randint(0, len(asked)), ask_about(random_, in_order))
    return Written(text, tuple(told), tuple(asked))


def _title(random_: random.Random, subjects: Sequence[Subject]) -> str:
    """A line above the text, or nothing: what it is about where that is one, or words that suit any text."""
    if random_.random() >= _TITLED:
        return ""
    name = subjects[0].fill("{subject}")
    return f"{name if len(subjects) == 1 and random_.random() < 0.5 else random_.choice(TITLES)}\n\n"


def _lay_out(random_: random.Random, told: Sequence[Fact], subjects: Sequence[Subject]) -> str:
    """Running text, a paragraph for every run of one subject's facts, or a list; fillers between."""
    fillers = random_.sample(FILLERS, random_.randint(1, 3)) if random_.random() < _FILLED else []
    layout = random_.choices(_LAYOUTS, _SHARES)[0]
    lines: list[Fact | str] = list(told)
    if layout == "list":
        items = "\n".join(f"- {line}" for line in _sentences(random_, lines, subjects))
        return f"{' '.join(fillers)}\n\n{items}" if fillers else items
    for filler in fillers:
        lines.insert(random_.randint(0, len(lines)), filler)
    sentences = _sentences(random_, lines, subjects)
    text, last = sentences[0], _subject(lines[0])
    for line, sentence in zip(lines[1:], sentences[1:], strict=True):
        here = _subject(line) or last
        text += ("\n\n" if layout == "paragraphs" and here is not last and last else " ") + sentence
        last = here
    return text


def _sentences(random_: random.Random, lines: Sequence[Fact | str], subjects: Sequence[Subject]) -> list[str]:
    """Every line in words. A pronoun stands only right after a sentence about the same subject."""
    found, last = [], None
    for line in lines:
        subject = _subject(line)
        pronoun = subject is not None and subject is last and stands_alone(subject, subjects)
        found.append(line if isinstance(line, str) else say(random_, line, pronoun=pronoun))
        last = subject
    return found


def _subject(line: Fact | str) -> Subject | None:
    return None if isinstance(line, str) else line.subject
