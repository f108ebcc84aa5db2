"""The profiler of docs/benchmarks.md runs, and sees the operations that every backend has."""

import subprocess
import sys

from tests.perf.profile_prefill import operations


def test_a_prompts_operations_are_listed_with_their_time() -> None:
    command = [sys.executable, "-m", "tests.perf.profile_prefill", "--tokens", "200"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    listed = {line.split()[0] for line in printed.splitlines()}
    assert {"attend", "run_experts", "linear", "between", "total"} <= listed
    assert {"mix", "attend", "select", "route", "run_experts", "linear"} <= set(operations())
