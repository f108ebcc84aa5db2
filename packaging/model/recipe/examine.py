"""The last stages: measure the shipped file, other models and the teacher, and write the page.

Evaluation itself is recipe.evaluate; here is what is measured on whom.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path

import torch
from recipe.conversations import Conversation, Kind, read_conversations
from recipe.dataset import Sequences
from recipe.evaluate import (
    NeedleCase,
    Subject,
    answers,
    kl_between,
    needle_cases,
    needles_found,
    readings_answered,
    sparse_dense_kl,
    student_bits_per_byte,
    teacher_bits_per_byte,
)
from recipe.processes import call_all
from recipe.report import PROMPTS, Figures, section, write_section
from recipe.student import Student
from recipe.teacher import load_teacher
from recipe.teacher_text import TeacherText
from recipe.vocabulary import Vocabulary
from recipe.work import Work, write_whole

from engine.errors import UserError
from engine.model_source import open_model

_CONVERSATIONS = 1500  # of the held-out ones, for bits a byte
_KL_SEQUENCES = 16


@dataclass(frozen=True, slots=True)
class Material:
    """What every model is measured on: conversations, needles by the length of their documents, one long text."""

    held_out: Sequence[Conversation]
    cases: Mapping[int, Sequence[NeedleCase]]
    long_text: str


def evaluate(work: Work, others: Sequence[Path]) -> None:
    """Measure and leave figures.json; `others` are model files to compare with, each called by its file's name.

    Raises UserError where one is missing or two are called the same.
    """
    named = _named(others) | {"new": work.shipped}
    torch.set_float32_matmul_precision("highest")
    held_out = list(read_conversations(work.held_out))[:_CONVERSATIONS]
    tokenizer = Vocabulary.from_gguf(open_model(work.shipped)).tokenizer()
    articles = [one.texts[0] for one in held_out if one.kind is Kind.ARTICLE] or [one.texts[1] for one in held_out]
    settings = work.settings
    cases = {
        length: needle_cases(articles, tokenizer, length - settings.answer_tokens, settings.needles_each, length)
        for length in settings.needle_lengths
    }
    material = Material(held_out, cases, "\n\n".join(articles))
    models = _students(named, material, work)
    teacher = load_teacher(work.teacher, work.device, work.dtype)
    bits = teacher_bits_per_byte(teacher, TeacherText.open(work.teacher), held_out)
    models.append(Figures("teacher", None, bits, {}, None, None, ()))
    kl = _quantisation_kl(work)
    figures = {"models": [asdict(model) for model in models], "kl": kl}
    write_whole(work.figures, json.dumps(figures, indent=1))
    print(json.dumps({"stage": "evaluate", "kl": kl, "models": [_headline(model) for model in models]}), flush=True)


def _named(others: Sequence[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in others:
        if not path.exists():
            raise UserError(f"{path}: there is no such file to compare with.")
        if path.stem in found or path.stem == "new":
            raise UserError(f"{path}: two models would be called {path.stem!r}; rename one of the files.")
        found[path.stem] = path
    return found


def _students(files: Mapping[str, Path], material: Material, work: Work) -> list[Figures]:
    """Figures of model files by name, in their order; on several devices at the same time."""
    turns = zip(files.items(), cycle(work.devices), strict=False)
    calls = [(name, path, material, work, device) for (name, path), device in turns]
    return [_figures(*one) for one in calls] if len(work.devices) == 1 else call_all(_figures, calls, len(work.devices))


def _headline(model: Figures) -> dict[str, object]:
    return {"name": model.name, "bits_per_byte": model.bits_per_byte, "needles": dict(model.needles)}


def _figures(name: str, path: Path, material: Material, work: Work, device: torch.device) -> Figures:
    began = time.monotonic()
    torch.set_float32_matmul_precision("highest")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    subject = Subject(Student.load(path, device, work.dtype), Vocabulary.from_gguf(open_model(path)).tokenizer())
    longest = max(work.settings.needle_lengths)
    found = Figures(
        name=name,
        file_bytes=path.stat().st_size,
        bits_per_byte=student_bits_per_byte(subject, material.held_out),
        needles={length: (needles_found(subject, each), len(each)) for length, each in material.cases.items()},
        read=readings_answered(subject, work.settings.answer_tokens),
        sparse_dense_kl=sparse_dense_kl(subject, material.long_text, longest),
        answers=answers(subject, PROMPTS, work.settings.answer_tokens),
    )
    print(json.dumps({"evaluated": name, "seconds": round(time.monotonic() - began, 1)}), flush=True)
    return found


def _quantisation_kl(work: Work) -> float:
    """KL(master || shipped) in nats a token, in float32, over held-out sequences."""
    exact, shipped = (Student.load(path, work.device, torch.float32) for path in (work.master, work.shipped))
    ids = Sequences.read(work.held_out_sequences).ids[:_KL_SEQUENCES, :-1].to(work.device).long()
    return kl_between(exact, shipped, ids)


def write_page(work: Work, page: Path) -> None:
    """Put the figures and answers into the page (docs/embedded-model.md in the repository)."""
    stored = json.loads(work.figures.read_text())
    models = []
    for fields in stored["models"]:
        needles = {int(length): (found, asked) for length, (found, asked) in fields.pop("needles").items()}
        read = fields.pop("read", None)
        models.append(Figures(**fields, needles=needles, read=tuple(read) if read else None))
    notes = [f"KL of the shipped file against its master: {stored['kl']:.4f} nats a token."]
    log = [json.loads(line) for line in (work.folder / "log.jsonl").read_text().splitlines()]
    if log:
        last = log[-1]
        tokens, seconds = last["tokens"] / 1e6, last["seconds"]
        notes.append(f"{last['steps']:,} steps, {tokens:,.1f} M tokens, {seconds:,.0f} s of training.")
    write_section(page, section(models, notes))
