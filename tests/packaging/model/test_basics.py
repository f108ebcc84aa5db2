"""What people try first: small sums often enough, and written questions that have one answer each."""

import random
import re
from collections import Counter

from recipe import basics
from recipe.basics import basic_conversations

_SUM = re.compile(r"(\d+) (plus|minus|times|divided by) (\d+) is (\d+)\.")


def _sums() -> list[tuple[int, str, int, int]]:
    answers = [text for one in basic_conversations(random.Random(4), 20_000) for text in one.texts[1::2]]
    found = [match.groups() for answer in answers if (match := _SUM.fullmatch(answer))]
    return [(int(a), word, int(b), int(result)) for a, word, b, result in found]


def test_at_least_half_of_the_sums_are_of_small_numbers() -> None:
    sums = _sums()
    for word in ("plus", "minus", "times", "divided by"):
        drawn = [(b, result) if word in ("minus", "divided by") else (a, b) for a, w, b, result in sums if w == word]
        share = sum(max(pair) <= 12 for pair in drawn) / len(drawn)
        assert share == 1 if word in ("times", "divided by") else 0.5 < share < 0.64, (word, share)
        assert word == "divided by" or any(0 in pair for pair in drawn)
    assert all(b for _, word, b, _ in sums if word == "divided by"), "nothing is divided by zero"
    assert max(a for a, word, _, _ in sums if word == "plus") == 50


def test_a_capital_is_in_a_country_of_another_name() -> None:
    """Full stops are added to names, and Luxembourg is the capital of Luxembourg."""
    answers = {text for one in basic_conversations(random.Random(5), 60_000) for text in one.texts[1::2]}
    assert "The capital of Luxembourg is Luxembourg." in answers and "Paris is in France." in answers
    assert not [text for text in answers if ".." in text or re.search(r"\b(\w[\w ]*) is in \1\.", text)]


def test_a_written_question_has_one_answer_and_an_answer_ends() -> None:
    written = [
        (way, answer)
        for kind in ("facts", "about")
        for asked, answer in basics._FACTS[kind]
        for way in asked.split("|")
    ]
    asked = Counter(way.strip().casefold().rstrip("?.!") for way, _ in written)
    assert set(asked) and len({way for way, _ in written}) == len(written) > 300
    twice = {way for way, number in asked.items() if number > 1} - {"hello", "hi"}
    assert not twice, twice
    for way, answer in written:
        assert way == way.strip() and not re.search(r"[{}|]|  ", way) and "|" not in answer, way
        assert answer.startswith("```") or "  " not in answer, answer
        assert answer[0].isupper() or answer[0] in "1-`", answer
        assert len(answer) <= 320, answer
