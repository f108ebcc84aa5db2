"""The last stages: measure the shipped file, other models and the teacher, and write the page.

The measures are recipe.scoring's and recipe.answering's; here is what is measured on whom. The text is the same for
every run (recipe.examination), so no run's folder is needed to measure a model: a file will do.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path

import torch
from recipe.answering import answers, needle_cases, needles_found, readings_answered
from recipe.conversations import Conversation, Kind
from recipe.dataset import pack_chats
from recipe.examination import examined_conversations
from recipe.processes import call_all
from recipe.report import PROMPTS, Figures, section, write_section
from recipe.scoring import Subject, kl_between, sparse_dense_kl, student_bits_per_byte, teacher_bits_per_byte
from recipe.student import Student
from recipe.teacher import load_teacher
from recipe.teacher_text import TeacherText
from recipe.vocabulary import Vocabulary
from recipe.work import Work, write_whole

import engine
from engine.errors import UserError
from engine.model_source import open_model

_KL_SEQUENCES = 16


@dataclass(frozen=True, slots=True)
class Material:
    """What every model is measured on: the conversations of the examination, and their articles."""

    conversations: Sequence[Conversation]
    articles: Sequence[str]

    @classmethod
    def read(cls, work: Work) -> "Material":
        conversations = examined_conversations()[: work.settings.examined]
        return cls(conversations, [one.texts[0] for one in conversations if one.kind is Kind.ARTICLE])


def evaluate(work: Work, others: Sequence[Path]) -> None:
    """Measure and leave figures.json: the run's shipped file ("new") where it has one, and `others`, files or folders
    each called by its name; the teacher; and what quantising cost where the run's master is there too.

    Raises UserError where there is nothing to measure, one is missing or two are called the same.
    """
    named = _named(work, others)
    torch.set_float32_matmul_precision("highest")
    material = Material.read(work)
    models = _students(named, material, work)
    teacher = load_teacher(work.teacher, work.device, work.dtype)
    bits = teacher_bits_per_byte(teacher, TeacherText.open(work.teacher), material.conversations)
    models.append(Figures("teacher", None, bits, {}, None, None, ()))
    kl = _quantisation_kl(work, material) if work.shipped.exists() and work.master.exists() else None
    figures = {"models": [asdict(model) for model in models], "kl": kl}
    write_whole(work.figures, json.dumps(figures, indent=1))
    print(json.dumps({"stage": "evaluate", "kl": kl, "models": [_headline(model) for model in models]}), flush=True)


def _named(work: Work, others: Sequence[Path]) -> dict[str, Path]:
    found = {"new": work.shipped} if work.shipped.exists() else {}
    for path in others:
        if not path.exists():
            raise UserError(f"{path}: there is no such file to compare with.")
        if path.stem in found:
            raise UserError(f"{path}: two models would be called {path.stem!r}; rename one of the files.")
        found[path.stem] = path
    if not found:
        raise UserError(f"{work.folder} has no model yet, and none to compare with was named.")
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
    model, settings = engine.load(path), work.settings
    needles = {}
    for length in settings.needle_lengths:
        room = length - settings.answer_tokens
        cases = needle_cases(material.articles, subject.tokenizer, room, settings.needles_each, length)
        needles[length] = needles_found(model, cases), len(cases)
    found = Figures(
        name=name,
        file_bytes=path.stat().st_size,
        bits_per_byte=student_bits_per_byte(subject, material.conversations),
        needles=needles,
        read=readings_answered(model, settings.answer_tokens),
        sparse_dense_kl=sparse_dense_kl(subject, "\n\n".join(material.articles), max(settings.needle_lengths)),
        answers=answers(model, PROMPTS, settings.answer_tokens),
    )
    print(json.dumps({"evaluated": name, "seconds": round(time.monotonic() - began, 1)}), flush=True)
    return found


def _quantisation_kl(work: Work, material: Material) -> float:
    """KL(master || shipped) in nats a token, in float32, over sequences of the first phase's length."""
    exact, shipped = (Student.load(path, work.device, torch.float32) for path in (work.master, work.shipped))
    vocabulary, length = Vocabulary.from_gguf(open_model(work.shipped)), work.settings.training.phases[0].length
    packed = pack_chats(material.conversations, vocabulary, length, work.settings.seed)
    return kl_between(exact, shipped, packed.ids[:_KL_SEQUENCES, :-1].to(work.device).long())


def write_page(work: Work, page: Path) -> None:
    """Put the figures and answers into the page (docs/embedded-model.md in the repository)."""
    stored = json.loads(work.figures.read_text())
    models = []
    for fields in stored["models"]:
        needles = {int(length): (found, asked) for length, (found, asked) in fields.pop("needles").items()}
        read = fields.pop("read", None)
        models.append(Figures(**fields, needles=needles, read=tuple(read) if read else None))
    notes = []
    if stored["kl"] is not None:
        notes.append(f"KL of the shipped file against its master: {stored['kl']:.4f} nats a token.")
    log = work.folder / "log.jsonl"
    if log.exists() and (lines := log.read_text().splitlines()):
        last = json.loads(lines[-1])
        tokens, seconds = last["tokens"] / 1e6, last["seconds"]
        notes.append(f"{last['steps']:,} steps, {tokens:,.1f} M tokens, {seconds:,.0f} s of training.")
    write_section(page, section(models, notes))
