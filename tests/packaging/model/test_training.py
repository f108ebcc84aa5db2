"""The optimiser and the figures: orthogonal updates, a loss that falls, bits a byte and divergence by hand."""

import json
import math
import re
from pathlib import Path
from random import Random

import pytest
import torch
from recipe import passage_subjects
from recipe.basics import basic_conversations, trained_questions
from recipe.conversations import Conversation, Kind
from recipe.dataset import Examples
from recipe.optimiser import Optimiser, Rates, orthogonalise
from recipe.readings import READINGS
from recipe.report import BEGIN, PROMPTS, Figures, section, write_section
from recipe.scoring import Subject, sparse_dense_kl, student_bits_per_byte
from recipe.settings import TOY
from recipe.student import Student
from recipe.student_shape import is_matrix, is_trained
from recipe.topics import TOPICS
from recipe.vocabulary import train_vocabulary
from recipe.written import written_conversations, written_questions

CPU = torch.device("cpu")


@pytest.mark.parametrize("shape", ((3, 8, 8), (2, 12, 5), (2, 5, 12)))
def test_orthogonalised_matrices_have_singular_values_near_one(shape: tuple[int, ...]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 7
    found = orthogonalise(matrices)
    values = torch.linalg.svdvals(found)
    assert values.min() > 0.5 and values.max() < 1.3
    u, _, vh = torch.linalg.svd(matrices, full_matrices=False)
    assert ((u.mT @ found @ vh.mT).diagonal(dim1=1, dim2=2) > 0.5).all(), "the singular vectors changed"


@pytest.fixture(scope="module")
def subject() -> Subject:
    tokenizer = train_vocabulary(TOPICS, TOY.shape.vocab).tokenizer()
    return Subject(Student.new(TOY.shape, 0, CPU, torch.float32), tokenizer)


def test_the_optimiser_learns_a_sequence_by_heart() -> None:
    student = Student.new(TOY.shape, 3, CPU, torch.float32)
    trained = {name: tensor for name, tensor in student.parameters.items() if is_trained(name)}
    matrices = {name: tensor for name, tensor in trained.items() if is_matrix(name, tensor)}
    optimiser = Optimiser(matrices, {n: t for n, t in trained.items() if n not in matrices})
    ids = torch.randint(7, TOY.shape.vocab, (1, 129), generator=torch.Generator().manual_seed(1))
    losses = []
    for _ in range(25):
        loss = student.losses(student.forward(ids[:, :-1]).hidden, ids[:, 1:]).mean()
        loss.backward()
        optimiser.step(Rates(0.01, 0.0), 1.0)
        losses.append(float(loss.detach()))
    assert losses[0] == pytest.approx(math.log(TOY.shape.vocab), abs=0.3)
    assert losses[-1] < losses[0] - 2


def test_a_step_is_as_long_as_its_rate() -> None:
    matrix, vector = torch.ones(4, 6, requires_grad=True), torch.ones(5, requires_grad=True)
    matrix.grad, vector.grad = torch.randn(4, 6), torch.full((5,), 3.0)
    Optimiser({"m": matrix}, {"v": vector}).step(Rates(0.1, 0.0), 1.0)
    torch.testing.assert_close(vector.detach(), torch.full((5,), 0.9), atol=1e-4, rtol=0)
    assert (matrix.detach() - 1).square().mean().sqrt() == pytest.approx(0.02, rel=0.5)


def test_bits_a_byte_are_the_losses_of_text_and_ends(subject: Subject) -> None:
    conversations = [
        Conversation(Kind.CHAT, ("What is bread?", "Bread is food.")),
        Conversation(Kind.CHAT, ("A?", "B.")),
    ]
    nats = 0.0
    for one in conversations:
        ids = torch.tensor([Examples(subject.tokenizer).chat(one.texts).ids])
        padded = torch.nn.functional.pad(ids, (0, 128 - ids.shape[1] + 1))
        with torch.no_grad():
            losses = subject.student.losses(subject.student.forward(padded[:, :-1]).hidden, padded[:, 1:])[0]
        marks = {subject.tokenizer.user, subject.tokenizer.think_end}
        nats += sum(float(loss) for loss, id in zip(losses, ids[0, 1:].tolist(), strict=False) if id not in marks)
    expected = nats / math.log(2) / sum(len(text) for one in conversations for text in one.texts)
    assert student_bits_per_byte(subject, conversations) == pytest.approx(expected, rel=1e-4)


def test_readings_are_answered_by_their_texts_and_by_nothing_less() -> None:
    assert len(READINGS) == 120
    for one in READINGS:
        text = one.prompt.rpartition("\n\n")[0]
        assert one.is_answered_by(text) and all(one.is_answered_by(f"It is {key}.") for key in one.keys), one
        assert not one.is_answered_by("The text does not say.")
    (far,) = (one for one in READINGS if one.keys == ("20",))
    assert not far.is_answered_by("It must be 204 centimetres away.")


def test_no_template_makes_a_readings_question() -> None:
    """Each way of asking with each noun, name and pronoun that passages have."""
    words = json.loads(Path(passage_subjects.__file__).with_name("passages.json").read_text("utf-8"))["words"]
    people = [*map(re.escape, (*words["women"], *words["men"])), "he", "she", "his", "her", "him"]
    values = "|".join(re.escape(word) for each in words.values() for word in each) + "|\\d+"
    questions = [one.prompt.rpartition("\n\n")[2] for one in READINGS]
    checked = 0
    for kind in passage_subjects.KINDS.values():
        things = [rf"the (?:[A-Z]\w+ )?{re.escape(noun)}" for noun in kind.get("subjects", ())]
        names = "|".join([*things, "it", "its"] if things else people)
        for _, asked, *_ in kind["asked"].values():
            for way in filter(None, asked.split("|")):
                parts = (re.escape(part) for part in re.split(r"\{(?:subject|subject's|object)\}", way))
                pattern = re.sub(r"\\\{.*?\\\}", lambda _: f"(?:{values})", f"(?:{names})(?:'s)?".join(parts))
                assert not [one for one in questions if re.fullmatch(pattern, one, re.IGNORECASE)], way
                checked += 1
    assert checked > 150


def test_prompts_that_training_asks_are_marked() -> None:
    text = section([Figures("new", 1, 0.9, {}, None, None, ["said"] * len(PROMPTS))], [])
    trained = trained_questions() | written_questions()
    random_ = Random(5)
    chats = [*basic_conversations(random_, 10_000), *written_conversations(random_, 10_000)]
    other_draw = {text.lower().strip(" ?!.") for one in chats for text in one.texts[0::2]}
    marked = 0
    for prompt in PROMPTS:
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {prompt.splitlines()[0]}"))
        assert "†" in row or (prompt not in trained and prompt.lower().strip(" ?!.") not in other_draw), prompt
        marked += "†" in row
    assert 10 < marked <= len(PROMPTS) - 20, "fewer than twenty prompts show what was not learned by heart"
    assert "| What is the capital of France? † |" in text and "| Name three things that float. |" in text


def test_selection_costs_nothing_where_everything_is_selected(subject: Subject) -> None:
    assert sparse_dense_kl(subject, "bread " * 100, 64 * 4) >= 0
    assert subject.student.selects


def test_the_page_keeps_what_was_written_by_hand(tmp_path) -> None:  # type: ignore[no-untyped-def]
    page = tmp_path / "page.md"
    page.write_text("# The embedded model\n\nBy hand.\n")
    model = Figures("new", 35_000_000, 0.9, {1024: (19, 20)}, (7, 30), 0.01, ["a | b\nc"] * len(PROMPTS))
    for _ in range(2):
        write_section(page, section([model, Figures("teacher", None, 0.7, {}, None, None, ())], ["A note."]))
    text = page.read_text()
    assert text.startswith("# The embedded model\n\nBy hand.\n") and text.count(BEGIN) == 1
    assert "| new | 35.0 MB | 0.900 | 19 of 20 | 7 of 30 | 0.0100 |" in text and "a \\| b<br>c" in text
