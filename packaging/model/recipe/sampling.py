"""The first stage: the teacher talks on every device, and what is fit of it is written down as it comes.

A call that has to stop leaves what it has; the next one goes on with other random numbers.
"""

import json
import multiprocessing
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import torch
from recipe.conversations import write_conversations
from recipe.harvest import Harvest, Ids, harvest
from recipe.processes import call_all
from recipe.sampler import Sampler, SamplerSize, Window
from recipe.scripts import make_scripts
from recipe.teacher import load_teacher
from recipe.teacher_text import TeacherText
from recipe.work import Work, report, write_whole

_CALLS_APART = 1000  # seeds of two calls differ by more than there are devices
_COUNTED = ("windows", "tokens", "finished", "kept")
_worker: tuple[Ids, TeacherText] | None = None
Totals = dict[str, float]


def sample(work: Work) -> bool:
    """Whether the teacher has talked for `sample_seconds`; lets it, as far as this call's time goes.

    Leaves text/window-CALL-DEVICE-N.jsonl, sampling.json, and sampled.json when done.
    """
    if work.sampled.exists():
        return True
    work.texts.mkdir(parents=True, exist_ok=True)
    began, totals = time.monotonic(), _totals(work)
    call, seconds = int(totals["calls"]), work.sample_seconds - totals["seconds"]
    totals["calls"] += 1
    write_whole(work.sampling, json.dumps(totals))  # should this call die, the next one has other seeds
    parts = _on_each_device(work, call, seconds)
    totals |= {name: totals[name] + sum(part[name] for part in parts) for name in _COUNTED}
    totals["seconds"] += max(part["seconds"] for part in parts)
    write_whole(work.sampling, json.dumps(totals))
    report("sample", began, **totals)
    is_done = totals["seconds"] >= work.sample_seconds or work.settings.sampling.most_windows is not None
    if is_done:
        work.sampling.replace(work.sampled)
    return is_done


def _totals(work: Work) -> Totals:
    if work.sampling.exists():
        stored: Totals = json.loads(work.sampling.read_text())
        return stored
    return dict.fromkeys((*_COUNTED, "calls", "seconds"), 0)


def _on_each_device(work: Work, call: int, seconds: float) -> list[Totals]:
    """Several devices have a process each."""
    devices = len(work.devices)
    if devices == 1:
        return [_speak(work, 0, call, seconds)]
    return call_all(_speak, [(work, number, call, seconds) for number in range(devices)], devices)


def _speak(work: Work, device: int, call: int, seconds: float) -> Totals:
    """One device's part of one call: at most so many seconds of talk, beginning when the teacher is ready."""
    plan, seed = work.settings.sampling, work.settings.seed + _CALLS_APART * call + device
    if work.device.type == "cuda":
        torch.cuda.set_device(work.devices[device])  # streams and graphs belong to the current one
    text = TeacherText.open(work.teacher)
    articles = int(plan.scripts * plan.article_share)
    scripts = make_scripts(text, plan.scripts - articles, articles, seed)
    teacher = load_teacher(work.teacher, work.devices[device], work.dtype)
    sampler = Sampler(teacher, scripts, SamplerSize(plan.rows, plan.length), text.turn_end, seed)
    began, totals = time.monotonic(), dict.fromkeys((*_COUNTED, "seconds"), 0.0)
    windows = sampler.windows(min(seconds, work.stop_at - began), plan.most_windows)
    for number, found in enumerate(_harvested(windows, scripts.numpy(), work.teacher, plan.workers)):
        write_conversations(work.texts / f"window-{call:02}-{device}-{number:04}.jsonl", found.kept)
        totals["windows"] += 1
        totals["tokens"] += found.tokens
        totals["finished"] += found.finished
        totals["kept"] += len(found.kept)
    totals["seconds"] = time.monotonic() - began
    return totals


def _harvested(windows: Iterator[Window], scripts: Ids, teacher: Path, workers: int) -> Iterator[Harvest]:
    """Harvest in other processes, while the next window is being sampled; in this one without workers."""
    if not workers:
        text = TeacherText.open(teacher)
        for window in windows:
            yield harvest(window.tokens.numpy(), window.serials.numpy(), scripts, text)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, (scripts, teacher)) as pool:
        pending: deque[Future[Harvest]] = deque()
        for window in windows:
            pending.append(pool.submit(_harvest_window, window.tokens.numpy(), window.serials.numpy()))
            while pending and pending[0].done():
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _start_worker(scripts: Ids, teacher: Path) -> None:
    global _worker  # noqa: PLW0603  a worker process has one task; the table is sent to it once
    _worker = scripts, TeacherText.open(teacher)


def _harvest_window(tokens: Ids, serials: Ids) -> Harvest:
    assert _worker is not None
    scripts, text = _worker
    return harvest(tokens, serials, scripts, text)
