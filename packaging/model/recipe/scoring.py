"""How well a model knows text, in numbers: bits a byte, sparse against dense, one set of weights against another.

Students of any vocabulary run through recipe.student, the teacher through recipe.teacher, so all are compared on the
same text. What a model says is recipe.answering's.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from recipe.conversations import Conversation
from recipe.dataset import Examples
from recipe.student import Student
from recipe.teacher import Teacher
from recipe.teacher_text import TeacherText
from torch import Tensor

from engine.plan import RAW_WINDOW
from engine.tokenizer import Tokenizer

_BATCH_TOKENS = {"cuda": 1 << 15, "cpu": 1 << 11}  # a processor does best with what its caches hold
LossesOf = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Subject:
    """A student under test with its tokenizer."""

    student: Student
    tokenizer: Tokenizer


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
    for batch in _batches([len(rows[number][0]) for number in order], _BATCH_TOKENS[device.type]):
        chosen = [rows[order[at]] for at in batch]
        ids, counts = _padded(chosen, grain, device)
        nats += float((losses(ids) * counts[:, 1:]).sum())
    total_bytes = sum(len(text.encode()) for one in conversations for text in one.turns)
    return nats / math.log(2) / total_bytes


def _batches(lengths: Sequence[int], most: int) -> list[range]:
    """Consecutive runs of ascending lengths, each of at most `most` tokens when padded, or of one row."""
    found, begin = [], 0
    for at in range(len(lengths)):
        if (at + 1 - begin) * lengths[at] > most and at > begin:
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
