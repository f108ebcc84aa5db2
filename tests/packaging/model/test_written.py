"""The written texts and chats: blanks can be filled, answers can be read, and nothing that is examined is trained."""

import json
import re
from collections import Counter
from random import Random
from typing import Any

import pytest
from recipe.conversations import Kind
from recipe.passage_facts import NOT_SAID
from recipe.readings import READINGS
from recipe.report import PROMPTS
from recipe.written import FOLDER, WrittenText, chats, paste, texts, written_conversations, written_questions
from recipe.written_blanks import BLANK, COMMON, fill, make_filling

_COMMON_NAME = re.compile(r"([a-z]+)[1-4]")
_OWN_NAME = re.compile(r"[a-z][a-z0-9]*")


def blanks(template: str) -> set[str]:
    return {name[0].lower() + name[1:] for name in BLANK.findall(template)}


def faults_of(one: WrittenText) -> list[str]:
    """What is wrong with a text, in words."""
    found = []
    known, told = set(one.choices), blanks(one.text)
    for name in told - known:
        match = _COMMON_NAME.fullmatch(name)
        if match is None or match[1] not in COMMON:
            found.append(f"nothing fills {name}")
    found += [f"{name} is not used" for name in known - told]
    found += [f"{name} is no name" for name in known if not _OWN_NAME.fullmatch(name)]
    found += [f"{name} has too few options" for name, options in one.choices.items() if len(set(options)) < 3]
    options = Counter(option.lower() for options in one.choices.values() for option in options)
    found += [f"{option!r} is offered twice" for option, times in options.items() if times > 1]
    asked = [*(text for ways, answer in one.asked for text in (*ways, answer)), *one.unsaid]
    found += [f"{text!r} names what the text does not" for text in asked if blanks(text) - told]
    found += [f"{text!r} has a stray brace" for text in (one.text, *asked) if re.search(r"[{}]", BLANK.sub("", text))]
    found += [f"{text!r} is not clean" for text in asked if not text or text != text.strip()]
    found += ["fewer than four questions"] if len(one.asked) < 4 else []
    return found


def test_every_text_is_whole() -> None:
    faults = {one.text[:60]: found for one in texts() if (found := faults_of(one))}
    assert not faults


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"text": "Ask {keeper} at {hour9}."}, "nothing fills hour9"),
        ({"text": "Ask him."}, "keeper is not used"),
        ({"choices": {"keeper": ["a", "b"]}}, "too few options"),
        ({"choices": {"keeper": ["a", "b", "c"], "other": ["C", "d", "e"]}}, "'c' is offered twice"),
        ({"asked": [["Who?", "{Day1}."]] * 4}, "names what the text does not"),
        ({"asked": [["Who?", "It is {keeper."]] * 4}, "stray brace"),
        ({"asked": [["Who?| ", "It is {keeper}."]] * 4}, "is not clean"),
        ({"asked": [["Who?", "It is {keeper}."]]}, "fewer than four"),
    ],
)
def test_a_fault_in_a_text_is_found(changed: dict[str, Any], fault: str) -> None:
    fields: dict[str, Any] = {
        "text": "Ask {keeper}.",
        "choices": {"keeper": ["a", "b", "c"]},
        "asked": [["Who?", "{Keeper}."]] * 4,
    }
    fields |= changed
    asked = tuple((tuple(ways.split("|")), answer) for ways, answer in fields["asked"])
    choices = {name: tuple(options) for name, options in fields["choices"].items()}
    assert any(fault in found for found in faults_of(WrittenText(str(fields["text"]), choices, asked, ())))


def test_files_hold_plain_lines() -> None:
    """One record a line, so that changes can be read; ASCII, so that every editor shows what is trained."""
    paths = list(FOLDER.glob("*.jsonl"))
    assert {path.name.split("-")[0] for path in paths} == {"readings", "chats"}
    for path in paths:
        content = path.read_text("ascii")
        assert content.endswith("\n") and all(json.loads(line) for line in content.splitlines()), path.name


def test_blanks_are_filled_with_different_values_each_time() -> None:
    random_ = Random(1)
    text = "{Woman1} and {woman2} met {man1} in {town1}, not in {town2}, on {date1} at {time1}; {Keeper} had {small1}."
    seen = set()
    for _ in range(300):
        filling = make_filling(random_, text, {"keeper": ("the porter", "an aunt", "a friend")})
        assert len(set(filling.values())) == len(filling) == len(blanks(text))
        filled = fill(text, filling)
        assert not re.search(r"[{}]", filled) and re.search(r"; (The porter|An aunt|A friend) had ", filled)
        seen.add(filled)
    assert len(seen) > 290


@pytest.mark.parametrize("kind", sorted(COMMON))
def test_common_blanks_have_many_values(kind: str) -> None:
    random_ = Random(2)
    values = {COMMON[kind](random_) for _ in range(3000)}
    assert len(values) >= {"day": 7, "small": 11, "month": 12}.get(kind, 15) and all(value.strip() for value in values)


def test_pastes_ask_what_they_tell() -> None:
    random_ = Random(3)
    unsaid = questions = 0
    for _ in range(2000):
        found = paste(random_)
        asked = "".join(text for turn in found.turns for text in turn)
        assert not re.search(r"[{}]", found.text + asked) and "|" not in asked
        assert 1 <= len(found.turns) <= 5 and len(dict(found.turns)) == len(found.turns)
        unsaid += sum(answer == NOT_SAID for _, answer in found.turns)
        questions += len(found.turns)
    assert 0.01 < unsaid / questions < 0.1


def test_a_part_of_a_longer_paste_is_not_asked_of_the_whole() -> None:
    random_ = Random(4)
    questions = [turn[0] for _ in range(1000) for turn in paste(random_, is_whole=False).turns]
    assert sum("text" in question or "writer" in question for question in questions) < 0.01 * len(questions)


def test_chats_alternate_and_begin_in_every_wording() -> None:
    found = written_conversations(Random(5), 8 * len(chats()))
    assert all(one.kind is Kind.CHAT and len(one.texts) % 2 == 0 for one in found)
    begun = {one.texts[0] for one in found}
    assert begun <= written_questions() and len(begun) > 0.7 * len(written_questions())


def test_a_question_has_one_answer() -> None:
    """The first wording that two chats share would teach two answers to it."""
    begun = Counter(way.lower().strip("?!. ") for chat in chats() for way in chat[0][0])
    assert not [way for way, times in begun.items() if times > 1]


def test_nothing_examined_is_among_the_written_texts() -> None:
    examined = {run for one in READINGS for run in runs(one.prompt)}
    examined |= {run for prompt in PROMPTS if "\n\n" in prompt for run in runs(prompt)}
    for one in texts():
        random_ = Random(6)
        shared = examined & runs(fill(one.text, make_filling(random_, one.text, one.choices)))
        assert not shared, one.text[:60]


def runs(text: str) -> set[tuple[str, ...]]:
    """Every six words in a row."""
    words = re.findall(r"[a-z0-9']+", text.lower())
    return set(zip(*(words[at:] for at in range(6)), strict=False))
