"""What a model can do, in numbers and in its own words: bits a byte, needles found, sparse against dense, answers.

Students of any vocabulary run through recipe.student, the teacher through recipe.teacher, so all are compared on the
same text. Greedy decoding runs whole sequences again for each token: batches are small and a GPU is wide.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from recipe.conversations import Conversation
from recipe.dataset import Examples
from recipe.documents import Needle, hide, join_articles, make_needles
from recipe.readings import READINGS
from recipe.student import Student
from recipe.teacher import Teacher
from recipe.teacher_text import TeacherText
from torch import Tensor

from engine.plan import RAW_WINDOW
from engine.tokenizer import Tokenizer

_BATCH_TOKENS = 1 << 15
_READING_TOKENS = 32
_NEEDLE_TOKENS = 16  # the answer to a needle's question is a short sentence
LossesOf = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Subject:
    """A student under test with its tokenizer."""

    student: Student
    tokenizer: Tokenizer


@dataclass(frozen=True, slots=True)
class NeedleCase:
    """A document with one fact hidden in it."""

    text: str
    needle: Needle


def student_bits_per_byte(subject: Subject, conversations: Sequence[Conversation]) -> float:
    """Over every message's text and its end; the marks that open a message are not counted."""
    examples = Examples(subject.tokenizer)
    rows = []
    for one in conversations:
        example = examples.chat(one.turns)
        # Weights are 0 for what opens a message; a question's own mark is weighed as the end of an answer is.
        rows.append((example.ids, [weight > 0 for weight in example.weights]))

    def losses(ids: Tensor) -> Tensor:
        return subject.student.losses(subject.student.forward(ids[:, :-1]).hidden, ids[:, 1:])

    return _bits_per_byte(rows, conversations, losses, subject.student.device, RAW_WINDOW)


def teacher_bits_per_byte(teacher: Teacher, text: TeacherText, conversations: Sequence[Conversation]) -> float:
    """The same for the teacher, in its own chat markup."""
    rows = []
    for one in conversations:
        ids: list[int] = []
        counts: list[bool] = []
        for number, message in enumerate(one.turns):
            opening = text.open_turn(("user", "assistant")[number % 2])
            spoken = [*text.encode(message), text.turn_end]
            ids += [*opening, *spoken, *text.encode("\n")]
            counts += [False] * len(opening) + [True] * len(spoken) + [False]
        rows.append((ids, counts))

    def losses(ids: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(
            teacher.logits(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none"
        )

    return _bits_per_byte(rows, conversations, losses, teacher.device, 8)


@torch.no_grad()
def _bits_per_byte(
    rows: Sequence[tuple[list[int], list[bool]]],
    conversations: Sequence[Conversation],
    losses: LossesOf,
    device: torch.device,
    grain: int,
) -> float:
    """Rows of like length run together, padded on the right, where padding touches nothing that counts."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number][0]))
    nats = 0.0
    for batch in _batches([len(rows[number][0]) for number in order]):
        chosen = [rows[order[at]] for at in batch]
        ids, counts = _padded(chosen, grain, device)
        nats += float((losses(ids) * counts[:, 1:]).sum())
    total_bytes = sum(len(text.encode()) for one in conversations for text in one.turns)
    return nats / math.log(2) / total_bytes


def _batches(lengths: Sequence[int]) -> list[range]:
    """Consecutive runs of ascending lengths, each of about as many tokens when padded."""
    found, begin = [], 0
    for at in range(len(lengths)):
        if (at + 1 - begin) * lengths[at] > _BATCH_TOKENS and at > begin:
            found.append(range(begin, at))
            begin = at
    return [*found, range(begin, len(lengths))] if lengths else found


def _padded(rows: Sequence[tuple[list[int], list[bool]]], grain: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """ids int64 and counts bool [rows, whole grains + 1]."""
    width = -(-(max(len(ids) for ids, _ in rows) - 1) // grain) * grain + 1
    ids = torch.zeros(len(rows), width, dtype=torch.int64)
    counts = torch.zeros(len(rows), width, dtype=torch.bool)
    for row, (own, own_counts) in enumerate(rows):
        ids[row, : len(own)] = torch.tensor(own)
        counts[row, : len(own)] = torch.tensor(own_counts)
    return ids.to(device), counts.to(device)


@torch.no_grad()
def answers(subject: Subject, questions: Sequence[str], most_tokens: int) -> list[str]:
    """Greedy answers, one question at a time in batches of like length."""
    examples, found = Examples(subject.tokenizer), [""] * len(questions)
    prompts = [examples.chat((question, "")).ids[:-1] for question in questions]
    order = sorted(range(len(prompts)), key=lambda number: len(prompts[number]))
    for batch in _batches([len(prompts[number]) + most_tokens for number in order]):
        chosen = [order[at] for at in batch]
        for number, said in zip(chosen, _greedy(subject, [prompts[n] for n in chosen], most_tokens), strict=True):
            found[number] = subject.tokenizer.decode(said).strip()
    return found


def _greedy(subject: Subject, prompts: Sequence[list[int]], most_tokens: int) -> list[list[int]]:
    student, eos = subject.student, subject.tokenizer.eos
    width = -(-(max(map(len, prompts)) + most_tokens) // RAW_WINDOW) * RAW_WINDOW
    ids = torch.zeros(len(prompts), width, dtype=torch.int64, device=student.device)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt)
    lengths = torch.tensor([len(prompt) for prompt in prompts], device=student.device)
    rows, is_done = torch.arange(len(prompts), device=student.device), torch.zeros_like(lengths, dtype=torch.bool)
    starts = lengths.tolist()
    while not bool(is_done.all()) and int((lengths - torch.tensor(starts, device=student.device)).max()) < most_tokens:
        used = -(-int(lengths.max()) // RAW_WINDOW) * RAW_WINDOW
        hidden = student.forward(ids[:, :used]).hidden[rows, lengths - 1]
        chosen = student.logits(hidden).argmax(dim=1)
        is_done |= chosen == eos
        ids[rows[~is_done], lengths[~is_done]] = chosen[~is_done]
        lengths += (~is_done).long()
    spans = zip(ids.tolist(), starts, lengths.tolist(), strict=True)
    return [row[start:stop] for row, start, stop in spans]


def needle_cases(articles: Sequence[str], tokenizer: Tokenizer, tokens: int, count: int, seed: int) -> list[NeedleCase]:
    """`count` documents of just under `tokens` tokens, a fact in each, at depths spread over the whole document."""
    random_, cases = random.Random(seed), []
    for _ in range(count):
        (needle,) = make_needles(random_, 1)
        room = tokens - len(tokenizer.encode(f" {needle.fact} {needle.question}")) - 16
        text = tokenizer.decode(tokenizer.encode(join_articles(articles, random_, tokens * 8))[:room])
        cases.append(NeedleCase(hide(text, [needle], random_), needle))
    return cases


def needles_found(subject: Subject, cases: Sequence[NeedleCase]) -> int:
    """In how many answers the deciding word stands."""
    questions = [f"{case.text}\n\n{case.needle.question}" for case in cases]
    said = answers(subject, questions, _NEEDLE_TOKENS)
    return sum(case.needle.key in answer.replace(",", "") for case, answer in zip(cases, said, strict=True))


def readings_answered(subject: Subject, most_tokens: int) -> tuple[int, int]:
    """How many questions about texts in words of their own are answered, and how many there are."""
    said = answers(subject, [one.prompt for one in READINGS], min(most_tokens, _READING_TOKENS))
    return sum(one.is_answered_by(answer) for one, answer in zip(READINGS, said, strict=True)), len(READINGS)


@torch.no_grad()
def sparse_dense_kl(subject: Subject, text: str, tokens: int) -> float:
    """Mean KL(all rows visible || indexer's selection) in nats, over the last 512 positions of a long text."""
    student = subject.student
    ids = [subject.tokenizer.bos, *subject.tokenizer.encode(text)][:tokens]
    usable = len(ids) // RAW_WINDOW * RAW_WINDOW
    batch = torch.tensor([ids[:usable]], device=student.device)

    def log_probabilities() -> Tensor:
        return student.logits(student.forward(batch).hidden[0, -512:]).double().log_softmax(dim=1)

    sparse = log_probabilities()
    student.selects = False
    try:
        dense = log_probabilities()
    finally:
        student.selects = True
    return float((dense.exp() * (dense - sparse)).sum(dim=1).mean())


@torch.no_grad()
def kl_between(exact: Student, other: Student, ids: Tensor) -> float:
    """Mean KL(exact || other) in nats a token over ids int64 [B, T]: what quantisation costs."""
    total = 0.0
    for row in ids.split(1):
        first, second = (model.logits(model.forward(row).hidden).log_softmax(dim=-1) for model in (exact, other))
        total += float((first.exp() * (first - second)).sum(dim=-1).mean())
    return total / len(ids)
