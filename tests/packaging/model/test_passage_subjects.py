"""The invented names of made-up passages: none of them means anything, and none is that of a real person or place."""

import random
import re

import pytest
from recipe import passage_subjects
from recipe.passage_subjects import FILLERS, TITLES, UNWANTED, _Names
from recipe.topics import NAMES, PLACES

_KNOWN = {name for source in ("women", "men", "places") for name in passage_subjects._WORDS[source]}


def test_every_unwanted_word_could_be_made() -> None:
    """An entry that no syllables make only looks like a guard."""
    begin = f"(?:{'|'.join(passage_subjects._STARTS)})(?:{'|'.join(passage_subjects._MIDDLES)})"
    forms = ("".join(f"{begin}(?:{'|'.join(ends)})" for ends in form) for form in passage_subjects._SYLLABLES)
    can_be_made = re.compile("|".join(forms))
    assert not [word for word in UNWANTED if not can_be_made.fullmatch(word)]
    assert len(set(UNWANTED)) == len(UNWANTED)


def test_a_name_that_means_something_is_not_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    said = re.findall(r"[a-z]+", " ".join((*TITLES, *FILLERS)).lower())
    for word in sorted({*said, *UNWANTED, *(f"{word}s" for word in UNWANTED), *NAMES, *PLACES, *_KNOWN}):
        spelled = iter((word.capitalize(), "Brado"))
        monkeypatch.setattr(_Names, "_spelled", lambda _, spelled=spelled: next(spelled))
        assert _Names(random.Random(1)).invented() == "Brado", word


def test_real_names_are_given_where_they_are_asked_for() -> None:
    women = passage_subjects._WORDS["women"]
    assert {_Names(random.Random(seed)).known("women") for seed in range(500)} == set(women)
