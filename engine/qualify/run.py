"""Runs a qualification: fresh processes one after another, then statistics, limits, report.

`run_qualification` yields progress and ends with the report. Stopping ends the running process; what is finished stays
in the work folder, and the same qualification started again goes on there. A process that dies is reported: nothing is
ever run again by itself.
"""

import hashlib
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.errors import Stopped
from engine.plan import STEP_CAP
from engine.qualify.arm_process import ArmDied, read_result, run_arm_process
from engine.qualify.limits import LIMITS_FILE, load_limits
from engine.qualify.records import (
    EXACT_PROMPT_TOKENS,
    EXACT_ROWS,
    GREEDY_TOKENS,
    PROMPT_TOKENS,
    ROWS,
    Axis,
    Domain,
    ProcessResult,
    ProcessSpec,
    Report,
)
from engine.qualify.report import make_report
from engine.record_json import to_plain

ARM_COMMAND = (sys.executable, "-m", "engine.qualify.arm")


@dataclass(frozen=True, slots=True)
class QualifyRequest:
    """What to qualify. `retrieval_tokens` 0 and `with_exact` False leave those axes out."""

    cap_a: int = 2_048
    cap_b: int = 8_192
    model: str | None = None
    kv_rounding: str | None = None
    dtype: str = "auto"
    domains: tuple[Domain, ...] = tuple(Domain)
    with_exact: bool = True
    retrieval_tokens: int = 16_384
    prompt_tokens: int = PROMPT_TOKENS
    rows: int = ROWS
    greedy: int = GREEDY_TOKENS


@dataclass(frozen=True, slots=True)
class QualifyProgressed:
    """Where the run is. `process` counts from 1; `what` is a domain or "keys"; `share` is of all processes, 0 to 1."""

    process: int
    processes: int
    name: str
    what: str
    share: float


@dataclass(frozen=True, slots=True)
class QualifyEnded:
    """The last update. `report` is None after a stop: the run can go on later."""

    report: Report | None


QualifyUpdate = QualifyProgressed | QualifyEnded


def process_specs(request: QualifyRequest) -> tuple[ProcessSpec, ...]:
    """The processes of a request, in the order they run: A B B A, sparse and exact, keys sparse and dense."""
    common = (request.dtype, request.kv_rounding, request.model, request.domains)
    a, b = ("A", request.cap_a), ("B", request.cap_b)
    specs = [
        ProcessSpec(Axis.WIDTH, place, arm, "sparse", cap, *common, request.prompt_tokens, request.rows, request.greedy)
        for place, (arm, cap) in enumerate((a, b, b, a), 1)
    ]
    exact_prompt = min(EXACT_PROMPT_TOKENS, request.prompt_tokens)
    exact_rows = min(EXACT_ROWS, 2 * request.rows)
    if request.with_exact:  # the oracle in float32, whatever the other arms compute in
        for arm, dtype in (("sparse", request.dtype), ("exact", "float32")):
            shape = (exact_prompt, exact_rows, request.greedy)
            specs.append(ProcessSpec(Axis.SELECTION, len(specs) + 1, arm, arm, STEP_CAP, dtype, *common[1:], *shape))
    if request.retrieval_tokens:
        for arm in ("sparse", "dense"):
            keys = (0, 0, 0, request.retrieval_tokens)
            specs.append(ProcessSpec(Axis.RETRIEVAL, len(specs) + 1, arm, arm, STEP_CAP, *common, *keys))
    return tuple(specs)


def run_qualification(
    request: QualifyRequest,
    folder: Path,
    stop: threading.Event,
    command: Sequence[str] = ARM_COMMAND,
    limits_file: Path = LIMITS_FILE,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[QualifyUpdate]:
    """Run or go on with a qualification in `folder`. `command` starts an arm; SPEC and FOLDER are appended to it.

    Raises UserError for limits that cannot be read, OSError for a folder that cannot be written.
    """
    limits, limits_sha256 = load_limits(limits_file)
    specs = process_specs(request)
    work = folder / "work" / _run_name(specs, limits_sha256)
    started = _begin(work, now)
    results: list[ProcessResult] = []
    failure: str | None = None
    for number, spec in enumerate(specs, 1):
        try:
            yield from _run_process(spec, work / spec.name, (number, len(specs)), stop, command)
        except Stopped:
            yield QualifyEnded(None)
            return
        except ArmDied as death:
            failure = str(death)
            break
        result = read_result(work / spec.name, spec)
        failure = f"Process {spec.name} left no readable result." if result is None else _change(results, result)
        if failure is not None or result is None:
            break
        results.append(result)
    caps = (request.cap_a, request.cap_b)
    report = make_report(started, caps, results, work, limits, limits_sha256, failure)
    shutil.rmtree(work, ignore_errors=True)
    yield QualifyEnded(report)


def _begin(work: Path, now: Callable[[], datetime]) -> str:
    """When this run began, also after a stop."""
    mark = work / "started"
    if not mark.exists():
        work.mkdir(parents=True, exist_ok=True)
        mark.write_text(now().isoformat(timespec="seconds"), encoding="utf-8")
    return mark.read_text(encoding="utf-8")


def _run_name(specs: Sequence[ProcessSpec], limits_sha256: str) -> str:
    """The same for the same question: a stopped run is found again, and no other is mistaken for it."""
    told = json.dumps([to_plain(spec) for spec in specs]) + limits_sha256
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _run_process(
    spec: ProcessSpec, folder: Path, place: tuple[int, int], stop: threading.Event, command: Sequence[str]
) -> Iterator[QualifyUpdate]:
    """Run one arm unless its result is there already; progress over tapes that count alike."""
    number, total = place
    parts = [domain.value for domain in spec.domains] if spec.rows else ["keys"]
    if read_result(folder, spec) is None:
        yield QualifyProgressed(number, total, spec.name, "", (number - 1) / total)
        for what, share in run_arm_process(command, spec, folder, stop):
            done = (parts.index(what) + share) / len(parts) if what in parts else 0.0
            yield QualifyProgressed(number, total, spec.name, what, (number - 1 + done) / total)
    yield QualifyProgressed(number, total, spec.name, "", number / total)


def _change(results: Sequence[ProcessResult], new: ProcessResult) -> str | None:
    """What differs between processes that must not: a run that was stopped may go on with another build or model."""
    if not results:
        return None
    first = results[0]
    alike = ("versions", "backend", "device", "native", "model_name")
    changed = [name for name in alike if getattr(first, name) != getattr(new, name)]
    if new.spec.dtype == first.spec.dtype and new.model_fingerprint != first.model_fingerprint:
        changed.append("model file")
    return (
        f"Between processes {first.spec.name} and {new.spec.name} changed: {', '.join(changed)}." if changed else None
    )
