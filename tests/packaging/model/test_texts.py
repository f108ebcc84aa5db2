"""What is kept of the teacher's talk, and what becomes of it: filters, documents, packed sequences, the vocabulary."""

import calendar
import random
import re

import pytest
import torch
from recipe import filters
from recipe.basics import basic_conversations
from recipe.conversations import Conversation, Kind
from recipe.dataset import FULL_WEIGHT, Examples, pack, phase_examples
from recipe.documents import Document, among_articles, hide, join_articles, make_needles, needle_document
from recipe.settings import Mixture
from recipe.topics import TOPICS
from recipe.vocabulary import CONTROL, Vocabulary, train_vocabulary

from engine.chat_format import Message, Role, encode_chat

ARTICLES = [
    f"{topic.capitalize()} is a subject of its own. Many people like to read about {topic} in the evening. "
    f"Some of them write about {topic} as well, and a few have seen it from near."
    for topic in TOPICS[:40]
]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return train_vocabulary(ARTICLES, 500)


@pytest.mark.parametrize(
    ("question", "answer", "fits"),
    [
        ("What is bread?", "Bread is a food made of flour and water.", True),
        ("Who are you?", "I am SmolLM, trained by Hugging Face.", False),
        ("Who are you?", "As an AI language model, I have no name.", False),
        ("Is it warm?", "Yes, it is warm. No, it is cold today.", False),
        ("Is it warm?", "No, it is cold today.", True),
        ("List two.", "1. Apples\n2. Pears", True),
        ("List two.", "1. Apples\n3. Pears", False),
        ("Say it.", "We like it a lot. We like it a lot. We like it a lot. We like it a lot.", False),
        ("Say it.", "one two three four five " * 4, False),
        ("Write code.", "```python\nprint(1)", False),
        ("Write a letter.", "Dear [Your Name], thank you.", False),
        ("What is bread?", "What is bread?", False),
        ("What is bread?", "Bread is a food made of flour,", False),
        ("What is bread?", "面包是一种食物。", False),
    ],
)
def test_answers_that_are_unfit_to_learn_from(question: str, answer: str, fits: bool) -> None:
    assert filters.is_fit_answer(question, answer) is fits


def test_an_answer_must_stand_in_the_article() -> None:
    article = "The old bridge was built in 1850 by a farmer called Tom."
    assert filters.is_answered_by(article, "The bridge was built by a farmer called Tom.")
    assert not filters.is_answered_by(article, "Napoleon Bonaparte ordered workers there.")
    assert not filters.is_answered_by(article, "It is.")


def test_basics_are_fit_to_learn_from() -> None:
    """The filters of the teacher's answers, but for those against naming oneself and repeating a question's words."""
    turns = [turn for one in basic_conversations(random.Random(2), 1500) for turn in _pairs(one)]
    assert len(set(turns)) > 800
    for question, answer in turns:
        assert filters.is_fit_question(question) or question in ("Hello", "Hi", "Hey")
        assert not filters.repeats_itself(answer)
        assert not filters.contradicts_itself(answer)
        assert answer.count("```") % 2 == 0


def test_sums_are_right() -> None:
    words = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}
    checked = 0
    for one in basic_conversations(random.Random(5), 1500):
        for _, answer in _pairs(one):
            found = re.fullmatch(r"(\d+) (plus|minus|times|divided by) (\d+) is (\d+)\.", answer)
            if found is not None:
                a, word, b, result = found.groups()
                assert eval(f"{a} {words[word]} {b}") == int(result)
                checked += 1
    assert checked > 300


def test_every_question_of_order_and_size_is_answered_rightly() -> None:
    for one in basic_conversations(random.Random(6), 3000):
        for question, answer in _pairs(one):
            if asked := re.fullmatch(r"Which is larger, (\d+) or (\d+)\?", question):
                assert answer.startswith(str(max(map(int, asked.groups()))))
            if asked := re.fullmatch(r"Which (day|month) comes (after|before) (\w+)\?", question):
                names = list(calendar.day_name if asked[1] == "day" else calendar.month_name[1:])
                wanted = names[(names.index(asked[3]) + (1 if asked[2] == "after" else -1)) % len(names)]
                assert answer.startswith(wanted)


def _pairs(one: Conversation) -> list[tuple[str, str]]:
    return list(zip(one.texts[0::2], one.texts[1::2], strict=True))


def test_needles_are_in_the_document_once_and_answer_their_question() -> None:
    random_ = random.Random(1)
    needles = make_needles(random_, 12)
    assert len({needle.question for needle in needles}) == 12
    text = hide(join_articles(ARTICLES, random_, 3000), needles, random_)
    for needle in needles:
        assert text.count(needle.fact) == 1 and needle.key in needle.answer and needle.key in needle.fact
    document = needle_document(ARTICLES, random_, 2000, 3)
    assert len(document.turns) == 3 and 1000 < len(document.text) < 2400


def test_a_passage_among_articles_stays_whole_and_keeps_its_questions() -> None:
    random_ = random.Random(2)
    told = Document("The mill is red.\n\n- It is old.", (("What colour is the mill?", "It is red."),))
    places = set()
    for _ in range(30):
        document = among_articles(told, ARTICLES, random_, 1500)
        assert document.turns == told.turns and document.text.count(told.text) == 1
        assert 1000 < len(document.text) < 1700
        places.add(document.text.index(told.text))
    assert min(places) == 0 and max(places) > 900
    assert among_articles(told, ARTICLES, random_, 10) == told


def test_the_vocabulary_has_its_control_tokens_first_and_comes_back(vocabulary: Vocabulary) -> None:
    assert vocabulary.tokens[: len(CONTROL)] == CONTROL and len(vocabulary.tokens) == 500
    tokenizer = vocabulary.tokenizer()
    assert (tokenizer.bos, tokenizer.eos, tokenizer.user, tokenizer.assistant, tokenizer.think_end) == (0, 1, 2, 3, 5)
    assert tokenizer.decode(tokenizer.encode("Voilà: 12 bees!")) == "Voilà: 12 bees!"
    assert len(tokenizer.encode(ARTICLES[0])) < len(ARTICLES[0]) / 2, "no merges were learned"


def test_examples_are_the_programs_own_chat_form(vocabulary: Vocabulary) -> None:
    tokenizer = vocabulary.tokenizer()
    example = Examples(tokenizer).chat(("One?", "Two.", "Three?", "Four."))
    messages = [Message(Role.USER, "One?"), Message(Role.ASSISTANT, "Two."), Message(Role.USER, "Three?")]
    prompt = encode_chat(messages, tokenizer)
    assert example.ids == [*prompt, *tokenizer.encode("Four."), tokenizer.eos]
    weights = dict.fromkeys(example.ids)
    assert len(example.weights) == len(example.ids) and len(weights) > 4
    counted = [id for id, weight in zip(example.ids, example.weights, strict=True) if weight]
    assert tokenizer.user not in counted and tokenizer.think_end not in counted
    assert counted.count(tokenizer.eos) == 2 and counted.count(tokenizer.assistant) == 2


def test_packing_keeps_every_example_whole_and_wastes_little(vocabulary: Vocabulary) -> None:
    tokenizer = vocabulary.tokenizer()
    conversations = [Conversation(Kind.ARTICLE, (text, "What is it about?", "It is a subject.")) for text in ARTICLES]
    conversations += [Conversation(Kind.CHAT, (f"Number {n}?", "Yes. " * (n % 60 + 1))) for n in range(300)]
    mixture = Mixture(0.4, 0.3, 0.5, 0.5, 0.5, 2.0)
    examples = list(phase_examples(conversations, tokenizer, 512, mixture, seed=1))
    packed = pack(iter(examples), 512, vocabulary.pad, seed=1)
    assert packed.ids.shape[1] == 513
    assert (packed.weights[packed.ids == vocabulary.pad] == 0).all()
    assert (packed.ids == vocabulary.pad).float().mean() < 0.1
    rows = [" ".join(map(str, row)) for row in packed.ids.tolist()]
    assert all(any(" ".join(map(str, one.ids)) in row for row in rows) for one in examples)
    assert sum(len(one.ids) for one in examples) == int((packed.ids != vocabulary.pad).sum())
    assert packed.weights.max() > FULL_WEIGHT, "no document's answer"
    again = pack(phase_examples(conversations, tokenizer, 512, mixture, 1), 512, vocabulary.pad, 1)
    assert torch.equal(packed.ids, again.ids)
