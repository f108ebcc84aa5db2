"""One fresh process of the qualification: `python -m engine.qualify.arm SPEC.json FOLDER`.

It loads the model, works through its tapes or its keys, writes hashes and logits into the folder, and last of all
result.json: a process whose result is there is finished. Progress goes to stdout, one JSON object a line; a failure
is one line on stderr and a status other than 0.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

import engine
from engine.bench.environment import read_machine
from engine.errors import EngineError, UserError
from engine.host import PROC, peak_resident_bytes
from engine.qualify.arm_process import RESULT_FILE
from engine.qualify.records import DomainResult, KeyResult, ProcessResult, ProcessSpec
from engine.qualify.retrieval import find_keys
from engine.qualify.tapes import Tape, load_tapes
from engine.record_json import from_plain, to_plain
from engine.threads import cpu_threads

if TYPE_CHECKING:
    from engine import Model, Session

Tell = Callable[[str, int, int], None]  # what, done, of


def run_arm(spec: ProcessSpec, folder: Path, tell: Tell) -> ProcessResult:
    """Do everything the spec asks for; logits are written into `folder`. Raises UserError and EngineError."""
    began, swapped = time.monotonic(), swapped_in_pages()
    model = engine.load(spec.model, kv_rounding=spec.kv_rounding, dtype=spec.dtype)
    domains: list[DomainResult] = []
    keys: tuple[KeyResult, ...] = ()
    if spec.retrieval_tokens:
        keys = find_keys(model, spec, tell)
    else:
        tapes = load_tapes(model.tokenizer)
        domains = [_measure(model, spec, tapes[domain], folder, tell) for domain in spec.domains]
    machine = read_machine(cpu_threads())
    after = swapped_in_pages()
    return ProcessResult(
        spec=spec,
        model_name=model.info.name,
        model_fingerprint=model.fingerprint,
        backend=model.info.backend,
        device=model.info.device,
        native=model.info.native,
        versions=(
            f"haloband {machine.haloband}", f"commit {machine.commit}", f"python {machine.python}",
            f"torch {machine.torch}", f"kernel {machine.kernel}", f"threads {machine.threads}",
        ),
        domains=tuple(domains),
        keys=keys,
        peak_bytes=peak_resident_bytes(),
        swapped_in_pages=None if swapped is None or after is None else after - swapped,
        wall_s=time.monotonic() - began,
    )  # fmt: skip


def swapped_in_pages(proc: Path = PROC) -> int | None:
    """Pages swapped in since the machine started; None where the kernel does not say."""
    try:
        lines = (proc / "vmstat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("pswpin "))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _measure(model: "Model", spec: ProcessSpec, tape: Tape, folder: Path, tell: Tell) -> DomainResult:
    """Prefill the tape, feed its continuation row by row, then answer greedily from the prompt's end."""
    name = tape.domain.value
    needed = spec.prompt_tokens + max(spec.rows, spec.greedy)
    session = model.session(context=needed, mode=spec.mode, cap=spec.cap, cut="greedy")
    started = time.monotonic()
    first = _prefill(session, tape.ids[: spec.prompt_tokens], lambda done: tell(name, done, needed))
    prefilled = time.monotonic()
    saved, state = session.snapshot(), state_hashes(session)
    fed = tape.ids[spec.prompt_tokens : spec.prompt_tokens + spec.rows - 1]
    rows = _teacher_forced(session, first, fed, lambda done: tell(name, spec.prompt_tokens + done, needed))
    forced = time.monotonic()
    session.restore(saved)
    ids, gaps = _greedy(session, first, spec.greedy)
    file = f"{name}.npy"
    np.save(folder / file, rows)
    return DomainResult(
        domain=tape.domain,
        tape_sha256=tape.sha256,
        tape_is_frozen=tape.is_frozen,
        logits_file=file,
        logits_sha256=hashlib.sha256(rows.tobytes()).hexdigest(),
        state_sha256=state,
        greedy_ids=ids,
        greedy_gaps=gaps,
        prefill_s=prefilled - started,
        rows_s=forced - prefilled,
        greedy_s=time.monotonic() - forced,
    )


def _prefill(session: "Session", ids: Sequence[int], tell: Callable[[int], None]) -> torch.Tensor:
    """Logits float32 [vocab] after `ids`, with progress."""
    running = session.prefill_steps(ids)
    while True:
        try:
            tell(next(running).done)
        except StopIteration as finished:
            logits: torch.Tensor = finished.value
            return logits


def _teacher_forced(
    session: "Session", first: torch.Tensor, fed: Sequence[int], tell: Callable[[int], None]
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Logits [1 + len(fed), vocab]: after the prompt, and after each token of the tape."""
    rows = np.empty((1 + len(fed), first.shape[0]), dtype=np.float32)
    rows[0] = first.float().cpu().numpy()
    for index, token in enumerate(fed, 1):
        rows[index] = session.decode(token).float().cpu().numpy()
        tell(index)
    return rows


def _greedy(session: "Session", logits: torch.Tensor, count: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """`count` greedy ids and, at each, the gap between the two largest logits. The lower id wins a tie."""
    ids: list[int] = []
    gaps: list[float] = []
    for _ in range(count):
        if ids:
            logits = session.decode(ids[-1])
        top = torch.topk(logits.float(), 2).values
        gaps.append(float(top[0] - top[1]))
        ids.append(int(torch.nonzero(logits == logits.max())[0]))
    return tuple(ids), tuple(gaps)


def state_hashes(session: "Session") -> tuple[str, ...]:
    """SHA-256 of each tensor that the session keeps, layer by layer: rows in use first, then what is overwritten."""
    state, found = session.timeline.state, []
    for layer in state.layers:
        rows = state.position // layer.ratio if layer.ratio else 0
        index_rows = rows if layer.index.shape[0] else 0
        tensors = [layer.compressed_rows(rows), layer.index_rows(index_rows), *layer.volatile()]
        found += [hashlib.sha256(_bytes(tensor)).hexdigest() for tensor in tensors]
    return tuple(found)


def _bytes(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().cpu().contiguous()
    return plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


class _Teller:
    """Prints progress at most four times a second."""

    def __init__(self) -> None:
        self._told = float("-inf")

    def __call__(self, what: str, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self._told >= 0.25 or done >= of:
            self._told = now
            print(json.dumps({"what": what, "done": done, "of": of}), flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run the arm of SPEC.json into FOLDER; 0 when its result is there."""
    spec_path, folder = Path(arguments[0]), Path(arguments[1])
    try:
        spec = from_plain(ProcessSpec, json.loads(spec_path.read_text(encoding="utf-8")), "spec")
        result = run_arm(spec, folder, _Teller())
    except (UserError, EngineError, MemoryError, OSError) as error:
        print(str(error) or type(error).__name__, file=sys.stderr)
        return 1
    partial = folder / f".{RESULT_FILE}"
    partial.write_text(json.dumps(to_plain(result)), encoding="utf-8")
    os.replace(partial, folder / RESULT_FILE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
