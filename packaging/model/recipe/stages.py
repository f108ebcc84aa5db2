"""The stages after the data is made: warm up, train, export. Each reads and leaves files of a run's folder.

The command line (packaging/model) calls them, one after the other or alone; sampling and building are modules of
their own.
"""

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch
from recipe import team
from recipe.averaging import Parameters, average
from recipe.dataset import Sequences, token_bytes
from recipe.export import export
from recipe.processes import call_all
from recipe.student import Student
from recipe.student_shape import TABLE_LEAF
from recipe.team import ALONE, Team
from recipe.training import Trainer
from recipe.vocabulary import Vocabulary
from recipe.work import Work, report, write_whole

from engine.convert import convert
from engine.errors import UserError
from engine.recipes import Recipes


def _allow_tf32() -> None:
    """What stays float32 in training need not be exact; its products are the smaller part."""
    torch.set_float32_matmul_precision("high")


def warm_up(work: Work) -> None:
    """Compile every phase's step on random tokens, so that training finds it in the compiler's cache.

    What is compiled belongs to one device, so each has a process of its own.
    """
    if len(work.devices) == 1:
        _warm_up(work, work.device)
    else:
        call_all(_warm_up, [(work, device) for device in work.devices], len(work.devices))


def _warm_up(work: Work, device: torch.device) -> None:
    began = time.monotonic()
    _allow_tf32()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    student = Student.new(work.settings.shape, 0, device, work.dtype, work.is_compiled)
    for phase in work.settings.training.phases:
        ids = torch.randint(7, work.settings.shape.vocab, (phase.batch, phase.length + 1), device=device)
        output = student.forward(ids[:, :-1])
        (student.losses(output.hidden, ids[:, 1:]).mean() + output.index_loss).backward()
        report("warm-up", began, device=str(device), length=phase.length)


def train(work: Work) -> bool:
    """Train or go on training, one process a device; whether training is over."""
    if work.trained.exists():
        return True
    if len(work.devices) == 1:
        _train(work, ALONE)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            arguments = (work, Path(scratch, "meeting"))
            torch.multiprocessing.spawn(_train_as_member, arguments, nprocs=len(work.devices))  # type: ignore[no-untyped-call]
    return work.trained.exists()


def _train_as_member(rank: int, work: Work, meeting: Path) -> None:
    member = team.join(rank, len(work.devices), meeting, work.devices[rank])
    _train(work, member)
    team.leave(member)  # not when it failed: leaving waits for the others, who wait for this one


def _train(work: Work, member: Team) -> None:
    settings, began = work.settings, time.monotonic()
    _allow_tf32()
    plan = settings.training
    if work.start is not None:
        plan = replace(plan, rate=plan.further_rate)
    student = _beginning(work, work.devices[member.rank])
    trainer = Trainer(student, plan, work.train_seconds, work.folder, settings.seed, member)
    trainer.resume()
    data = [Sequences.read_all(work.sequences(number)) for number in range(len(settings.training.phases))]
    sizes = token_bytes(Vocabulary.read(work.vocabulary))
    is_over = trainer.run(data, Sequences.read(work.held_out_sequences), sizes, work.stop_at)
    if member.is_leader:
        done = {"steps": trainer.progress.steps, "tokens": trainer.progress.tokens}
        report("train", began, **done, over=is_over)
        if is_over:
            write_whole(work.trained, json.dumps(done))


def _beginning(work: Work, device: torch.device) -> Student:
    """A new student, or the model to train further. Raises UserError where that has another shape."""
    settings = work.settings
    student = Student.new(settings.shape, settings.seed, device, work.dtype, work.is_compiled)
    if work.start is None:
        return student
    found = Student.load(work.start, device, work.dtype)
    if _sizes(found) != _sizes(student):
        raise UserError(f"{work.start}: this model does not have the shape that the recipe trains.")
    return Student(settings.shape, found.parameters, work.dtype, work.is_compiled).trainable()


def _sizes(student: Student) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in student.parameters.items()}


def write_files(work: Work) -> None:
    """The averaged weights as master.gguf (matrices in F16) and, quantised by the recipe `mix`, as the file to ship."""
    began = time.monotonic()
    parameters = average(_states(work))
    vocabulary = Vocabulary.read(work.vocabulary)
    export(work.master, work.settings.shape, parameters, vocabulary, work.settings.name, exact=False)
    done = convert(work.master, work.shipped, Recipes.MIX.value, overwrite=True)
    report("export", began, master_bytes=done.source_bytes, shipped_bytes=done.target_bytes)


def _states(work: Work) -> list[tuple[float, Parameters]]:
    """Shares and weights: the last, those from the middle of the run, and what it began from.

    A run that has not come to its middle, or that began from nothing, has the more of the last.
    """
    plan, found = work.settings.training, []
    if work.middle.exists():
        found.append((plan.middle_share, torch.load(work.middle, map_location="cpu", weights_only=True)))
    if work.start is not None:
        found.append((plan.start_share, Student.load(work.start, torch.device("cpu"), torch.float32).parameters))
    last = torch.load(work.checkpoint, map_location="cpu", weights_only=True)["parameters"]
    found.append((1 - sum(share for share, _ in found), last))
    return [(share, _with_integer_tables(state)) for share, state in found]


def _with_integer_tables(state: Parameters) -> Parameters:
    return {
        name: tensor.detach().int() if name.endswith(TABLE_LEAF) else tensor.detach() for name, tensor in state.items()
    }
