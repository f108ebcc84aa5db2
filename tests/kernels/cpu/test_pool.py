"""The worker pool: a job ends only when every worker has acknowledged it; fork, threads and exit are survived."""

import ctypes
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from kernels.cpu import NativeCpu
from kernels.cpu.build import SOURCES
from tests.kernels.cpu.conftest import open_kernels

STALL_MICROSECONDS = 3000
ROUNDS = 5


def race(native: NativeCpu, *, early: bool, rounds: int, stall: int) -> int:
    """Cells left wrong by a one-row job followed at once by a full one; `early` restores the fault."""
    library = native.library
    library.function("hb_pool_set_stall", [ctypes.c_void_p, ctypes.c_int64], None)(library.pool, stall)
    run = library.function("hb_pool_race", [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64], ctypes.c_int64)
    wrong = int(run(library.pool, rounds, early))
    library.function("hb_pool_set_stall", [ctypes.c_void_p, ctypes.c_int64], None)(library.pool, 0)
    return wrong


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_a_stalled_worker_without_rows_cannot_touch_the_next_job(
    kernel_folder: Path, variant: str, threads: int
) -> None:
    native = open_kernels(kernel_folder, variant, threads)
    assert race(native, early=False, rounds=ROUNDS, stall=STALL_MICROSECONDS) == 0


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_the_stall_shows_the_fault_of_a_job_that_ends_with_its_rows(
    kernel_folder: Path, variant: str, threads: int
) -> None:
    """If run() stopped waiting for workers without rows, the test above would fail: the same hook finds that fault."""
    native = open_kernels(kernel_folder, variant, threads)
    assert race(native, early=True, rounds=ROUNDS, stall=STALL_MICROSECONDS) > 0


def test_thousands_of_jobs_without_a_stall_are_right(native: NativeCpu) -> None:
    assert race(native, early=False, rounds=3000, stall=0) == 0


def test_one_thread_needs_no_workers(native_alone: NativeCpu) -> None:
    assert native_alone.threads == 1
    assert race(native_alone, early=False, rounds=10, stall=0) == 0


def python(kernel_folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    """Run `body` in a fresh interpreter with `native` (the fastest variant, two threads) and `race` at hand."""
    program = """
import os, sys
from pathlib import Path
from tests.kernels.cpu.conftest import open_kernels
from tests.kernels.cpu.test_pool import race
native = open_kernels(Path(os.environ["KERNEL_FOLDER"]), "", 2)
"""
    code = program + textwrap.dedent(body)
    root = SOURCES.parents[1]
    return subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=os.environ | {"KERNEL_FOLDER": str(kernel_folder)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_starts_its_own_workers_and_leaves_the_parents_alone(kernel_folder: Path) -> None:
    done = python(
        kernel_folder,
        """
        assert race(native, early=False, rounds=20, stall=0) == 0
        child = os.fork()
        if child == 0:
            wrong = race(native, early=False, rounds=20, stall=100)
            workers = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 2
            del native
            os._exit(7 if wrong == 0 and workers >= 2 else 1)
        assert race(native, early=False, rounds=20, stall=0) == 0
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "7"), done.stderr


def test_closing_the_library_ends_its_workers(kernel_folder: Path) -> None:
    done = python(
        kernel_folder,
        """
        import gc
        count = lambda: len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else None
        before = count()
        extra = open_kernels(Path(os.environ["KERNEL_FOLDER"]), native.variant, 4)
        during = count()
        del extra
        gc.collect()
        after = count()
        assert before is None or (during == before + 3 and after == before), (before, during, after)
        """,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_program_exits_while_workers_sleep(kernel_folder: Path) -> None:
    done = python(kernel_folder, "assert race(native, early=False, rounds=3, stall=0) == 0; sys.exit(5)")
    assert done.returncode == 5, done.stderr
