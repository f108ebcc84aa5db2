"""Made-up passages: every question has one reading and its answer stands in the text, and the English holds."""

import random
import re
from collections import Counter

import pytest
from recipe import passage_subjects
from recipe.passage_facts import NOT_SAID, Fact, blanks_of, names_subject, stands_alone, stands_in
from recipe.passage_subjects import ABOUT, FILLERS, KINDS, TITLES, Subject
from recipe.passages import Written, passage, write_passage

_COUNT = 4000
_PRONOUN = re.compile(r"\b(?:he|she|it|his|her|its|him)\b", re.IGNORECASE)
_NOT_OF_A_SUBJECT = re.compile(r"before it is opened")
_NO_MATTER = re.compile(r"\b(?:what|which|is|are|was|do|does|did|can|may|must|should|will|i|an?|the|in)\b")
TOLD = [(kind, template) for kind, one in KINDS.items() for template in one["told"]]
ASKED = [(kind, blank, row) for kind, one in KINDS.items() for blank, row in one["asked"].items()]


@pytest.fixture(scope="module")
def written() -> list[Written]:
    random_ = random.Random(3)
    return [write_passage(random_, random_.randint(1, 3)) for _ in range(_COUNT)]


def _subjects(one: Written) -> list[Subject]:
    return list({fact.subject.name: fact.subject for fact in one.told}.values())


def test_there_are_many_templates_and_each_says_the_same_in_all_its_wordings() -> None:
    assert len(TOLD) >= 60 and len(KINDS) >= 8
    for kind, template in TOLD:
        ways = template.split("|")
        assert len({blanks_of(way) for way in ways}) == 1, template
        assert any(names_subject(way) for way in ways), template
        assert blanks_of(template) <= set(KINDS[kind]["asked"]), template
        assert any(KINDS[kind]["asked"][blank][1] for blank in blanks_of(template)), template


def test_every_question_asks_for_one_blank_and_its_answer_tells_it() -> None:
    for kind, blank, (_, questions, answer, *near) in ASKED:
        told = [template for other, template in TOLD if other == kind and blank in blanks_of(template)]
        assert told, blank
        if questions:
            assert blank in blanks_of(answer) and blank not in blanks_of(questions), answer
            assert names_subject(questions.split("|")[0]) and len(questions.split("|")) > 1, questions
            assert "{object}" not in answer or kind in ("person", "trip"), answer
            for template in told:  # whatever a question or an answer speaks of was told with it
                assert blanks_of(questions) | blanks_of(answer) <= blanks_of(template) | {blank}, (template, questions)
        assert not near or set(near[0]) <= set(KINDS[kind]["asked"])
    for kind, one in KINDS.items():
        ways = Counter(way for row in one["asked"].values() for way in row[1].split("|") if way)
        assert max(ways.values()) == 1, kind


def test_no_fact_answers_what_another_is_asked_for() -> None:
    """ "X comes with a guarantee" would answer "What comes with X?", which could then not be said to be unsaid."""
    for kind, blank, (_, questions, _, *near) in ASKED:
        allowed = {blank, *(near[0] if near else ())}
        others = [template for each, template in TOLD if each == kind and not blanks_of(template) & allowed]
        told = {way: _matter(way) for template in others for way in _with_words(kind, template)}
        for question in questions.split("|"):
            if question.startswith(("What ", "Which ")) and (matter := _matter(question)):
                assert not [way for way, words in told.items() if matter <= words], question


def _with_words(kind: str, template: str) -> list[str]:
    """The wordings of a fact, with every word there may be for each of its blanks."""
    found = template.split("|")
    for blank in blanks_of(template):
        source = KINDS[kind]["asked"][blank][0]
        words = passage_subjects._WORDS.get(source, ()) if isinstance(source, str) else ()
        found = [re.sub(rf"{{(?:an? )?{blank}}}", word, way) for way in found for word in words or ("",)]
    return found


def _matter(template: str) -> frozenset[str]:
    """The words that say what a sentence is about, without its blanks and the endings of its verbs."""
    words = re.findall(r"[a-z]+", _NO_MATTER.sub(" ", re.sub(r"{[^}]*}", " ", template).lower()))
    return frozenset(word.removesuffix("s") for word in words)


def test_no_word_or_wording_names_what_may_be_another_subject() -> None:
    """ "Next to the castle" would be the castle that the passage tells of as well."""
    nouns = {noun for one in KINDS.values() for noun in one.get("subjects", ())}
    words = [word for found in passage_subjects._WORDS.values() for word in found]
    for line in (*words, *(template for _, template in TOLD), *(row[2] for _, _, row in ASKED)):
        assert not [noun for noun in nouns if stands_in(line, noun)], line


def test_what_tells_nothing_names_no_subject_and_no_value(written: list[Written]) -> None:
    """A filler about a kettle would be a second kettle, and one with a colour or a name a second answer."""
    nouns = {noun.split(" ")[-1] for one in KINDS.values() for noun in one.get("subjects", ())}
    values = {value for one in written for fact in one.told for value in fact.subject.values.values()}
    for line in (*FILLERS, *TITLES):
        assert not [word for word in nouns | values if word.lower() in line.lower() and stands_in(line, word)], line


def test_the_answer_stands_in_the_text_or_nowhere(written: list[Written]) -> None:
    for one in written:
        for asked in one.asked:
            if not asked.blank:
                continue
            value = asked.subject.values[asked.blank]
            told = any(asked.blank in fact.blanks for fact in one.told if fact.subject is asked.subject)
            if asked.answer == NOT_SAID:
                assert not told and not stands_in(one.text, value), (one.text, asked)
            else:
                assert told and value in asked.answer and stands_in(one.text, value), (one.text, asked)


def test_no_two_facts_or_questions_are_about_the_same(written: list[Written]) -> None:
    for one in written:
        told = [(fact.subject.name, blank) for fact in one.told for blank in fact.blanks]
        assert len(told) == len(set(told))
        questions = [asked.question for asked in one.asked]
        assert questions and len(questions) == len(set(questions))
        nouns = [re.sub(r"^the (?:[A-Z]\w+ )?", "", each.name) for each in _subjects(one) if not each.is_person]
        assert len(set(nouns)) == len(nouns)


def test_everything_is_filled_in_and_plain_english(written: list[Written]) -> None:
    for one in written:
        texts = [one.text, *(text for asked in one.asked for text in (asked.question, asked.answer))]
        for text in texts:
            assert not re.search(r"[{}|]|  |\ba [aeio]|\ban [^aeiou]|\b1 \w+s\b|\bthe the\b|\.\.", text), text
            assert not re.search(
                r"\bof (?:her|him|it)(?:[.?]| is| take)|\b(?:is|stands) it\.|\b(?:off|at|into) it\b", text
            ), text
        body = "\n".join(line for line in one.text.split("\n") if line and not _is_title(line, one))
        for sentence in re.split(r"(?<=[.!?])[ \n]", body):
            assert re.fullmatch(r"(?:- )?[A-Z].*[.!?]", sentence), (sentence, one.text)
        for asked in one.asked:
            assert re.fullmatch(r"[A-Z].*[.?]", asked.question) and re.fullmatch(r"[A-Z].*\.", asked.answer), asked


def _is_title(line: str, one: Written) -> bool:
    return line in TITLES or line in {subject.fill("{subject}") for subject in _subjects(one)}


def test_a_pronoun_can_mean_only_one_subject(written: list[Written]) -> None:
    seen = Counter()
    for one in written:
        subjects = _subjects(one)
        people = sum(subject.is_person for subject in subjects)
        for sentence in re.split(r"(?<=[.!?])[ \n]+|\n+", one.text):
            if sentence in FILLERS or not (found := _PRONOUN.search(_NOT_OF_A_SUBJECT.sub("", sentence))):
                continue
            kind = "thing" if found[0].lower() in ("it", "its") else "person"
            if kind == "thing" and any(subject.name in sentence for subject in subjects):
                continue  # "If you find something at the pool, take it to the gate."
            assert (people == 1) if kind == "person" else (len(subjects) == 1), (sentence, one.text)
            seen[kind] += 1
        for asked in one.asked:
            named = asked.subject.name in asked.question
            if asked.blank and not named:
                assert stands_alone(asked.subject, subjects), (asked, one.text)
                seen["asked"] += 1
    assert min(seen["thing"], seen["person"], seen["asked"]) > 200


def test_what_the_text_is_about_comes_in_its_order(written: list[Written]) -> None:
    checked = 0
    for one in written:
        for asked in one.asked:
            if not asked.blank:
                names = [subject.name for subject in _subjects(one)]
                assert asked.question in ABOUT and re.split(", | and ", asked.answer[len("It is about ") : -1]) == names
                checked += len(names) > 1
    assert checked > 100


def test_sizes_and_shares(written: list[Written]) -> None:
    words = [len(one.text.split()) for one in written]
    assert min(words) >= 10 and max(words) <= 190
    assert sum(25 <= size <= 160 for size in words) > 0.95 * _COUNT
    asked = [asked for one in written for asked in one.asked if asked.blank]
    assert 0.065 < sum(one.answer == NOT_SAID for one in asked) / len(asked) < 0.095
    assert 0.085 < sum(not one.blank for each in written for one in each.asked) / _COUNT < 0.115
    listed = sum("\n- " in one.text for one in written)
    titled = sum(_is_title(one.text.split("\n")[0], one) for one in written)
    filled = sum(any(filler in one.text for filler in FILLERS) for one in written)
    assert 0.17 < listed / _COUNT < 0.23 and 0.22 < titled / _COUNT < 0.28 and 0.31 < filled / _COUNT < 0.39
    kinds = Counter(subject.kind for one in written for subject in _subjects(one))
    assert set(kinds) == set(KINDS) and min(kinds.values()) > 0.05 * sum(kinds.values())


def test_many_subjects_have_few_facts_each_and_as_sound_questions() -> None:
    random_ = random.Random(6)
    for _ in range(300):
        one = write_passage(random_, random_.randint(4, 6))
        told = Counter(fact.subject.name for fact in one.told)
        assert len(told) >= 4 and max(told.values()) <= 3 and len(one.text.split()) < 260
        for asked in one.asked:
            assert (
                asked.answer == NOT_SAID or not asked.blank or stands_in(one.text, asked.subject.values[asked.blank])
            ), asked


def test_a_part_of_a_document_is_not_asked_what_it_is_about() -> None:
    random_ = random.Random(7)
    turns = [turn for _ in range(300) for turn in passage(random_, 2, is_whole=False).turns]
    assert turns and not {question for question, _ in turns} & set(ABOUT)


def test_every_wording_is_used(written: list[Written]) -> None:
    """Each way of telling and of asking comes up, of every kind."""
    told, asked = Counter(), Counter()
    for one in written:
        told.update((fact.subject.kind, way) for fact in one.told for way in _ways_told(one.text, fact))
        for each in one.asked:
            ways = KINDS[each.subject.kind]["asked"][each.blank][1].split("|") if each.blank else ()
            asked.update((each.subject.kind, way) for way in ways if each.question in _filled(each.subject, way))
    assert min(told[kind, way] for kind, template in TOLD for way in template.split("|")) > 0
    assert min(asked[kind, way] for kind, _, row in ASKED for way in row[1].split("|") if way) > 0
    assert len({one.text for one in written}) == _COUNT


def _ways_told(text: str, fact: Fact) -> list[str]:
    return [
        way
        for way in fact.ways
        if any(re.search(rf"(?:^|[.!?\n-] ?){re.escape(line)}", text) for line in _filled(fact.subject, way))
    ]


def _filled(subject: Subject, template: str) -> set[str]:
    return {subject.fill(template, pronoun=pronoun) for pronoun in (False, True)}


def test_the_random_source_decides_everything() -> None:
    assert passage(random.Random(8), 3) == passage(random.Random(8), 3)
    assert passage(random.Random(8), 3) != passage(random.Random(9), 3)
