"""The stages that make the model: sample, build, warm up, train, export. Each reads and leaves files of a run's folder.

The command line (packaging/model) calls them, one after the other or alone.
"""

import json
import multiprocessing
import random
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import torch
from recipe.basics import basic_conversations
from recipe.conversations import read_conversations, write_conversations
from recipe.dataset import Examples, Sequences, pack, phase_examples, token_bytes
from recipe.export import export
from recipe.harvest import Harvest, Ids, harvest
from recipe.sampler import Sampler, SamplerSize, Window
from recipe.scripts import make_scripts
from recipe.student import Student
from recipe.student_shape import TABLE_LEAF
from recipe.teacher import load_teacher
from recipe.teacher_text import TeacherText
from recipe.training import Trainer
from recipe.vocabulary import Vocabulary, train_vocabulary
from recipe.work import Work

from engine.convert import convert
from engine.recipes import Recipes

_HELD_OUT_SEQUENCES = 128  # enough for a validation loss, few enough for a second's work
_worker: tuple[Ids, TeacherText] | None = None


def sample(work: Work) -> None:
    """Let the teacher talk for `sample_seconds`; leaves text/window-N.jsonl, and sampled.json when done."""
    if work.sampled.exists():
        return
    plan = work.settings.sampling
    work.texts.mkdir(parents=True, exist_ok=True)
    text = TeacherText.open(work.teacher)
    articles = int(plan.scripts * plan.article_share)
    scripts = make_scripts(text, plan.scripts - articles, articles, work.settings.seed)
    teacher = load_teacher(work.teacher, work.device, work.dtype)
    size = SamplerSize(plan.rows, plan.length)
    sampler = Sampler(teacher, scripts, size, text.turn_end, work.settings.seed)
    began = time.monotonic()
    windows = sampler.windows(work.sample_seconds, plan.most_windows)
    totals = {"windows": 0, "tokens": 0, "finished": 0, "kept": 0}
    for number, found in enumerate(_harvested(windows, scripts.numpy(), work.teacher, plan.workers)):
        write_conversations(work.texts / f"window-{number:04}.jsonl", found.kept)
        totals["windows"] += 1
        totals["tokens"] += found.tokens
        totals["finished"] += found.finished
        totals["kept"] += len(found.kept)
    _report("sample", began, **totals)
    work.sampled.write_text(json.dumps(totals))


def _harvested(windows: Iterator[Window], scripts: Ids, teacher: Path, workers: int) -> Iterator[Harvest]:
    """Harvest in other processes, while the next window is being sampled; in this one without workers."""
    if not workers:
        text = TeacherText.open(teacher)
        for window in windows:
            yield harvest(window.tokens.numpy(), window.serials.numpy(), scripts, text)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, (scripts, teacher)) as pool:
        pending: list[Future[Harvest]] = []
        for window in windows:
            pending.append(pool.submit(_harvest_window, window.tokens.numpy(), window.serials.numpy()))
        for one in pending:
            yield one.result()


def _start_worker(scripts: Ids, teacher: Path) -> None:
    global _worker  # noqa: PLW0603  a worker process has one task; the table is sent to it once
    _worker = scripts, TeacherText.open(teacher)


def _harvest_window(tokens: Ids, serials: Ids) -> Harvest:
    assert _worker is not None
    scripts, text = _worker
    return harvest(tokens, serials, scripts, text)


def build(work: Work) -> None:
    """Hold some conversations out, train the vocabulary on the others, and pack every phase's sequences."""
    settings, began = work.settings, time.monotonic()
    if not work.training.exists() or not work.held_out.exists():
        _split(work)
    if not work.vocabulary.exists():
        texts = (text for one in read_conversations(work.training) for text in one.texts)
        train_vocabulary(texts, settings.shape.vocab).write(work.vocabulary)
    missing = [number for number in range(len(settings.training.phases)) if not work.sequences(number).exists()]
    if settings.sampling.workers:
        with ProcessPoolExecutor(len(missing) + 1, multiprocessing.get_context("spawn")) as pool:
            done = [pool.submit(_pack_phase, work, number) for number in missing]
            _pack_held_out(work)
            for one in done:
                one.result()
    else:
        for number in missing:
            _pack_phase(work, number)
        _pack_held_out(work)
    tokens = [Sequences.read(work.sequences(number)).ids.numel() for number in range(len(settings.training.phases))]
    _report("build", began, tokens=tokens)


def _split(work: Work) -> None:
    """Every n-th conversation is held out, in the order they were sampled. Equal conversations count once.

    Basics are trained on only: what is held out is the teacher's.
    """
    found = (one for path in sorted(work.texts.glob("*.jsonl")) for one in read_conversations(path))
    conversations = list(dict.fromkeys(found))
    every = round(1 / work.settings.held_out)
    write_conversations(work.held_out, conversations[::every])
    kept = [one for number, one in enumerate(conversations) if number % every]
    basics = basic_conversations(random.Random(work.settings.seed), round(work.settings.basics * len(kept)))
    write_conversations(work.training, kept + basics)


def _pack_phase(work: Work, number: int) -> None:
    """The sequences of one phase; phases do not depend on one another, so each may have a process of its own."""
    settings, vocabulary = work.settings, Vocabulary.read(work.vocabulary)
    phase, seed = settings.training.phases[number], settings.seed + number
    conversations = list(read_conversations(work.training))
    found = phase_examples(conversations, vocabulary.tokenizer(), phase.length, phase.mixture, seed)
    pack(found, phase.length, vocabulary.pad, seed).write(work.sequences(number))


def _pack_held_out(work: Work) -> None:
    """Some held-out conversations at the first phase's length, for the loss that is logged."""
    vocabulary, length = Vocabulary.read(work.vocabulary), work.settings.training.phases[0].length
    examples = Examples(vocabulary.tokenizer())
    chats = (examples.chat(one.turns) for one in read_conversations(work.held_out))
    packed = pack((chat for chat in chats if len(chat.ids) <= length), length, vocabulary.pad, work.settings.seed)
    first = slice(_HELD_OUT_SEQUENCES)
    Sequences(packed.ids[first], packed.weights[first]).write(work.held_out_sequences)


def _allow_tf32() -> None:
    """What stays float32 in training need not be exact; its products are the smaller part."""
    torch.set_float32_matmul_precision("high")


def warm_up(work: Work) -> None:
    """Compile every phase's step on random tokens, so that training finds it in the compiler's cache."""
    began = time.monotonic()
    _allow_tf32()
    student = Student.new(work.settings.shape, 0, work.device, work.dtype, work.is_compiled)
    for phase in work.settings.training.phases:
        ids = torch.randint(7, work.settings.shape.vocab, (phase.batch, phase.length + 1), device=work.device)
        output = student.forward(ids[:, :-1])
        (student.losses(output.hidden, ids[:, 1:]).mean() + output.index_loss).backward()
    _report("warm-up", began)


def train(work: Work) -> bool:
    """Train or go on training; whether training is over."""
    settings, began = work.settings, time.monotonic()
    _allow_tf32()
    student = Student.new(settings.shape, settings.seed, work.device, work.dtype, work.is_compiled)
    trainer = Trainer(student, settings.training, work.train_seconds, work.folder, settings.seed)
    trainer.resume()
    data = [Sequences.read(work.sequences(number)) for number in range(len(settings.training.phases))]
    sizes = token_bytes(Vocabulary.read(work.vocabulary))
    is_over = trainer.run(data, Sequences.read(work.held_out_sequences), sizes, work.stop_at)
    _report("train", began, steps=trainer.progress.steps, tokens=trainer.progress.tokens, over=is_over)
    return is_over


def write_files(work: Work) -> None:
    """The checkpoint as master.gguf (matrices in F16) and, quantised by the recipe `mix`, as the file to ship."""
    began = time.monotonic()
    stored = torch.load(work.folder / "checkpoint.pt", map_location="cpu", weights_only=True)["parameters"]
    parameters = {name: tensor.int() if name.endswith(TABLE_LEAF) else tensor for name, tensor in stored.items()}
    vocabulary = Vocabulary.read(work.vocabulary)
    export(work.master, work.settings.shape, parameters, vocabulary, work.settings.name, exact=False)
    done = convert(work.master, work.shipped, Recipes.MIX.value, overwrite=True)
    _report("export", began, master_bytes=done.source_bytes, shipped_bytes=done.target_bytes)


def _report(stage: str, began: float, **figures: object) -> None:
    print(json.dumps({"stage": stage, "seconds": round(time.monotonic() - began, 1), **figures}), flush=True)
