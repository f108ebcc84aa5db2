"""An arm that needs no model: run as `python fake_arm.py SCENARIO SPEC FOLDER`, it writes made-up logits of known KL.

SCENARIO is a JSON object: "noise" and "cross" are added to one logit of every row (noise in second processes of an
arm, cross in arm B), "die_at" is a process name that ends with status 3, "kill_at" one that kills itself, "hang_at"
one that waits for ever after its first progress line, "garbage_at" one that writes half a result, "commit" replaces
the program's version in the process named by "commit_at".
"""

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from engine.qualify.records import DomainResult, KeyResult, ProcessResult, ProcessSpec
from engine.record_json import from_plain, to_plain

VOCAB = 24


def logits_of(spec: ProcessSpec, scenario: dict[str, float]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """The same rows for everybody, then what the scenario adds to token 0."""
    rows = np.random.default_rng(7).normal(size=(spec.rows, VOCAB)).astype(np.float32)
    if spec.arm in ("B", "exact"):
        rows[:, 0] += scenario.get("cross", 0.0)
    if spec.place in (3, 4):
        rows[:, 0] += scenario.get("noise", 0.0)
    return rows


def result_of(spec: ProcessSpec, folder: Path, scenario: dict[str, object]) -> ProcessResult:
    numbers = {key: float(value) for key, value in scenario.items() if isinstance(value, int | float)}
    rows = logits_of(spec, numbers)
    domains = []
    for domain in spec.domains if spec.rows else ():
        np.save(folder / f"{domain.value}.npy", rows)
        digest = hashlib.sha256(rows.tobytes()).hexdigest()
        greedy = tuple(int(token) for token in rows.argmax(axis=-1)[: spec.greedy])
        gaps = tuple(0.01 for _ in greedy)
        domains.append(
            DomainResult(domain, "ab" * 32, True, f"{domain.value}.npy", digest, (digest,), greedy, gaps, 1.0, 2.0, 3.0)
        )
    keys = tuple(
        KeyResult(depth, spec.mode == "dense" or depth != scenario.get("lost_key"), "7318204")
        for depth in ((0.02, 0.2, 0.5, 0.8, 0.98) if spec.retrieval_tokens else ())
    )
    commit = scenario.get("commit", "a") if scenario.get("commit_at") == spec.name else "a"
    versions = ("haloband 0.1.0", f"commit {commit}")
    swapped = int(scenario.get("swapped", 0)) if spec.place == 2 else 0
    return ProcessResult(
        spec, "fake", "cd" * 32, "cpu", "a fake", None, versions, tuple(domains), keys, 1 << 30, swapped, 1.5
    )


def misbehave(spec: ProcessSpec, folder: Path, scenario: dict[str, object]) -> None:
    if scenario.get("die_at") == spec.name:
        print("The graph header was overwritten.", file=sys.stderr)
        sys.exit(3)
    if scenario.get("kill_at") == spec.name:
        os.kill(os.getpid(), signal.SIGKILL)
    if scenario.get("garbage_at") == spec.name:
        (folder / "result.json").write_text('{"spec": ')
        sys.exit(0)
    if scenario.get("hang_at") == spec.name:
        (folder / "pid").write_text(str(os.getpid()))
        time.sleep(600)


def main() -> None:
    scenario, spec_path, folder = json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    spec = from_plain(ProcessSpec, json.loads(spec_path.read_text()), "spec")
    print("words of a library that are not progress", flush=True)
    print(json.dumps({"what": spec.domains[0].value, "done": 1, "of": 2}), flush=True)
    misbehave(spec, folder, scenario)
    result = result_of(spec, folder, scenario)
    (folder / "result.json").write_text(json.dumps(to_plain(result)))


if __name__ == "__main__":
    main()
