"""Coverage-guided fuzzing for as long as one likes: `python -m tests.fuzz.run --seconds 600`, or `make fuzz`.

Each target runs in a process of its own, because the fuzzer never comes back from one. What it finds new goes to
build/fuzz/corpus, inputs that break something to build/fuzz/findings; the exit status is 1 if there are any. Needs the
atheris package (packaging/requirements-fuzz.lock).
"""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "corpus"
OUTPUT = ROOT / "build" / "fuzz"
TARGET_NAMES = ("gguf", "model", "chat", "snapshot", "settings", "benchmark", "chats", "document")
_MOST_BYTES = 1 << 16  # of one input: faults of parsers show in small files
_MOST_RSS_MIB = 4096  # the whole process; limits.bounded holds each input to 1 GiB


@dataclass(frozen=True, slots=True)
class Figures:
    """What one target's run came to."""

    target: str
    inputs: int
    seconds: float
    edges: int
    findings: tuple[Path, ...]
    status: int


def main() -> int:
    """Fuzz every target in turn and print the figures."""
    parser = argparse.ArgumentParser(description="Coverage-guided fuzzing of everything that reads foreign bytes.")
    parser.add_argument("--seconds", type=int, default=600, help="time for all targets together (default: 600)")
    parser.add_argument("--target", choices=TARGET_NAMES, action="append", help="only this one; may be repeated")
    parser.add_argument("--inside", choices=TARGET_NAMES, help=argparse.SUPPRESS)
    args, fuzzer_arguments = parser.parse_known_args()
    if args.inside:
        return fuzz_here(args.inside, fuzzer_arguments)
    targets = args.target or TARGET_NAMES
    figures = [fuzz_in_process(target, max(1, args.seconds // len(targets))) for target in targets]
    print(f"\n{'target':<12}{'inputs':>12}{'seconds':>10}{'edges':>8}{'findings':>10}")
    for row in figures:
        print(f"{row.target:<12}{row.inputs:>12,}{row.seconds:>10.0f}{row.edges:>8,}{len(row.findings):>10}")
    for row in figures:
        for path in row.findings:
            print(f"finding: {path.relative_to(ROOT)}")
    return 1 if any(row.findings or row.status for row in figures) else 0


def fuzz_in_process(target: str, seconds: int) -> Figures:
    """Run one target for some time; its log goes to build/fuzz/<target>.log."""
    corpus, findings = OUTPUT / "corpus" / target, OUTPUT / "findings" / target
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    known = set(findings.iterdir())
    log, began = OUTPUT / f"{target}.log", time.monotonic()
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={_MOST_BYTES}",
        f"-rss_limit_mb={_MOST_RSS_MIB}",
        f"-artifact_prefix={findings}/",
        "-timeout=60",
        "-print_final_stats=1",
    ]
    command = [sys.executable, "-m", "tests.fuzz.run", "--inside", target, *options, str(corpus), str(SEEDS / target)]
    print(f"{target}: fuzzing for {seconds} s", flush=True)
    with log.open("wb") as file:
        status = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    text = log.read_text(errors="replace")
    new = tuple(sorted(set(findings.iterdir()) - known))
    if status and not new:
        print(f"{target}: the fuzzer ended with status {status}; see {log.relative_to(ROOT)}", file=sys.stderr)
    return Figures(
        target,
        _last_number(r"stat::number_of_executed_units:\s*(\d+)", text) or _last_number(r"^#(\d+)\s", text),
        time.monotonic() - began,
        _last_number(r"cov: (\d+)", text),
        new,
        status,
    )


def fuzz_here(target: str, options: list[str]) -> int:
    """Hand this process over to the fuzzer."""
    import atheris

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one thread: the inputs are tiny
    with atheris.instrument_imports(include=["app", "engine", "tomlkit", "json", "pypdf", "docx"]):
        from tests.fuzz import limits, targets

    targets.prepare()
    run = targets.TARGETS[target]

    def one_input(data: bytes) -> None:
        with limits.bounded():
            run(data)

    atheris.Setup([sys.argv[0], *options], one_input)
    atheris.Fuzz()
    return 0


def _last_number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
