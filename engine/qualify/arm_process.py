"""Starts one arm as a process of its own, passes on its progress, and says how it ended.

The process's words go to a file, so that a full pipe cannot hold it up; its progress comes by a thread that reads
lines. Used by the run on whatever thread iterates it.
"""

import contextlib
import json
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.errors import Stopped
from engine.qualify.records import ProcessResult, ProcessSpec
from engine.record_json import from_plain, to_plain
from engine.strict_json import parse_value

RESULT_FILE = "result.json"
_LOOK_EVERY_S = 0.1
_PATIENCE_S = 5.0


class ArmDied(Exception):
    """An arm ended without a result. Says which one and how; it is not started again."""


def read_result(folder: Path, spec: ProcessSpec) -> ProcessResult | None:
    """The result of a finished arm; None if there is none, or it is of another question, or it is damaged."""
    try:
        text = (folder / RESULT_FILE).read_text(encoding="utf-8")
        data = parse_value(text, may_have_constants=True)
        result = from_plain(ProcessResult, data, "result")
    except (OSError, ValueError):
        return None
    return result if result.spec == spec else None


def run_arm_process(
    command: Sequence[str], spec: ProcessSpec, folder: Path, stop: threading.Event
) -> Iterator[tuple[str, float]]:
    """Run an arm to its end, yielding (what, share done). Raises Stopped or ArmDied; no process outlives it."""
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped in the middle
    folder.mkdir(parents=True)
    spec_path, words = folder / "spec.json", folder / "stderr.txt"
    spec_path.write_text(json.dumps(to_plain(spec)), encoding="utf-8")
    with words.open("wb") as errors:
        process = subprocess.Popen(
            [*command, str(spec_path), str(folder)], stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL
        )
    try:
        yield from _follow(process, stop)
    finally:
        _end(process)
    if process.returncode != 0 or not (folder / RESULT_FILE).exists():
        raise ArmDied(f"Process {spec.name} {_how_it_ended(process.returncode)}: {_last_words(words)}")


def _follow(process: "subprocess.Popen[bytes]", stop: threading.Event) -> Iterator[tuple[str, float]]:
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read_lines, args=(process, lines), name="arm-output", daemon=True)
    reader.start()
    while True:
        if stop.is_set():
            raise Stopped("the qualification was stopped")
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=_LOOK_EVERY_S)
            if line is None:
                process.wait()
                return
            told = _parse(line)
            if told is not None:
                yield told


def _read_lines(process: "subprocess.Popen[bytes]", lines: "queue.SimpleQueue[bytes | None]") -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _parse(line: bytes) -> tuple[str, float] | None:
    """A progress line; anything else that a library prints is passed over."""
    try:
        told = parse_value(line.decode())
        return str(told["what"]), min(1.0, int(told["done"]) / max(1, int(told["of"])))
    except (ValueError, TypeError, KeyError):
        return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _last_words(path: Path) -> str:
    """The last line it wrote: the sentence of an error, or the end of a traceback."""
    lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
