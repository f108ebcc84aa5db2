"""What a model is heard to say is what its weights say: by the engine, one conversation at a time."""

from pathlib import Path

import pytest
import torch
from recipe.answering import NeedleCase, answers, needle_cases, needles_found, readings_answered
from recipe.dataset import Examples
from recipe.documents import Needle
from recipe.examination import examined_conversations
from recipe.export import export
from recipe.settings import TOY
from recipe.student import Student
from recipe.student_shape import initial_parameters
from recipe.topics import TOPICS
from recipe.vocabulary import train_vocabulary

import engine
import resources

ARTICLES = [one.texts[0] for one in examined_conversations()[:40] if len(one.texts) == 3]


@pytest.fixture(scope="module")
def shipped() -> engine.Model:
    return engine.load(backend="cpu")


def test_every_token_is_the_likeliest_of_the_forward_that_is_trained(shipped: engine.Model) -> None:
    questions = ["Why is the sky blue?", "What is a volcano?"]
    student = Student.load(resources.embedded_model(), torch.device("cpu"), torch.float32)
    for question, said in zip(questions, answers(shipped, questions, 40), strict=True):
        ids = Examples(shipped.tokenizer).chat((question, said)).ids
        begin = len(Examples(shipped.tokenizer).chat((question, "")).ids) - 1
        padded = torch.nn.functional.pad(torch.tensor([ids]), (0, -len(ids) % 128))
        with torch.no_grad():
            likeliest = student.logits(student.forward(padded).hidden)[0].argmax(dim=1)
        assert len(ids) > begin + 10 and likeliest[begin - 1 : len(ids) - 1].tolist() == ids[begin:]


def test_an_answer_does_not_depend_on_what_was_asked_before(shipped: engine.Model) -> None:
    questions = ["What is a volcano?", "What is a volcano for? " * 30, "What is a volcano?"]
    first, _, last = answers(shipped, questions, 12)
    assert first == last == answers(shipped, questions[:1], 12)[0]
    assert answers(shipped, questions[:1], 3)[0] == " ".join(first.split()[:3]), "the limit is not in tokens"


def test_needle_cases_have_the_length_asked_for_and_are_found(shipped: engine.Model) -> None:
    cases = needle_cases(ARTICLES, shipped.tokenizer, 700, 3, seed=1)
    for case in cases:
        assert 640 < len(shipped.tokenizer.encode(case.prompt)) < 700
        assert case.needle.fact in case.text
    others = [NeedleCase(case.text.replace(case.needle.fact, ""), case.needle) for case in cases]
    assert (needles_found(shipped, cases), needles_found(shipped, others)) == (3, 0)


def test_a_needle_is_found_by_its_word_with_or_without_commas() -> None:
    case = NeedleCase("Text.", Needle("The tower has 1234 steps.", "How many?", "It has 1234 steps.", "1234"))
    assert case.prompt == "Text.\n\nHow many?"
    assert case.is_found_by("It has 1,234 steps.") and not case.is_found_by("It has 123 steps.")


def test_an_untrained_model_reads_nothing(tmp_path: Path) -> None:
    parameters = initial_parameters(TOY.shape, 0)
    vocabulary = train_vocabulary(TOPICS, TOY.shape.vocab)
    export(tmp_path / "new.gguf", TOY.shape, parameters, vocabulary, TOY.name, exact=True)
    assert readings_answered(engine.load(tmp_path / "new.gguf", backend="cpu"), 3) == (0, 120)
