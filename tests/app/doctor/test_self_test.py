"""The engine's self-test and how it is judged: what broke it, and whether the processor's kernels were compiled."""

import functools
import json
import re
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from app.doctor.finding import Finding, Severity
from app.doctor.host import CommandResult
from app.doctor.self_test import SelfTest, run_self_test
from kernels.cpu.library import load_library
from tests.app.doctor.recorded import RAISED, SELF_TEST, findings, host

ROOT = Path(__file__).resolve().parents[3]
NOT_BUILT = "avx512: not built; avx2: not built; x86_64_v2: not built"
ON_THE_CPU = SelfTest(
    finite=True,
    backend="cpu",
    device="cpu",
    native_note="avx2, 4 threads",
    cpu_variant="avx2",
    cpu_reason="avx512: not built",
    torch="2.13.0+cpu",
    torch_sees_gpu=False,
    window_error=None,
)
UNCOMPILED = replace(ON_THE_CPU, native_note=f"plain torch: {NOT_BUILT}", cpu_variant=None, cpu_reason=NOT_BUILT)


def judged(
    folder: Path, answer: SelfTest | CommandResult | None, machine: str = "no_gpu", **changes: Any
) -> dict[str, Finding]:
    """What doctor says of a recorded machine where the self-test ends so."""
    result = CommandResult(0, json.dumps(asdict(answer))) if isinstance(answer, SelfTest) else answer
    return findings(host(folder, machine, commands={SELF_TEST: result}, **changes))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, "did not start"),
        (CommandResult(-11, ""), "killed by signal 11"),
        (CommandResult(1, "", "Traceback\nImportError: libamdhip64.so.7"), "libamdhip64.so.7"),
        (CommandResult(1, "", "a.b.OddError: it broke\n[31:ERROR] Failed to execute"), "it broke"),
        (CommandResult(1, "", "haloband: The file is damaged.\n"), "The file is damaged."),
        (CommandResult(1, "", ""), "no message"),
        (CommandResult(0, "not json"), "status 0"),
        (CommandResult(0, ""), "status 0"),
        (CommandResult(0, "[1]"), "status 0"),
        (CommandResult(0, '{"finite": true, "native": null}'), "status 0"),
        (replace(ON_THE_CPU, finite=False), "cpu on cpu: not finite"),
    ],
)
def test_an_engine_that_does_not_run(tmp_path: Path, result: SelfTest | CommandResult | None, words: str) -> None:
    finding = judged(tmp_path, result)["engine"]
    assert finding.severity is Severity.PROBLEM and words in finding.found


def test_a_window_that_cannot_open(tmp_path: Path) -> None:
    answer = json.dumps(asdict(replace(ON_THE_CPU, window_error="ImportError: libEGL")))
    found = judged(tmp_path, CommandResult(1, answer, "a warning"))
    assert found["window"].severity is Severity.PROBLEM
    assert "libEGL" in found["window"].found and "make setup" in found["window"].advice
    assert found["engine"].severity is Severity.OK


def test_what_the_engine_says_of_itself(tmp_path: Path) -> None:
    noisy = CommandResult(0, "a warning of torch\n" + json.dumps(asdict(ON_THE_CPU)))
    found = judged(tmp_path, noisy, "strix_halo_default")
    assert found["engine"].found == "the embedded model answers (cpu on cpu; avx2, 4 threads)"
    assert found["torch_gpu"].severity is Severity.PROBLEM and "sees no GPU" in found["torch_gpu"].found


@pytest.mark.parametrize("machine", ["strix_halo_default", "no_gpu", "nvidia"])
def test_compiled_kernels_are_named_by_their_build_wherever_the_model_ran(tmp_path: Path, machine: str) -> None:
    finding = findings(host(tmp_path, machine, files=RAISED))["cpu_kernels"]
    assert finding.severity is Severity.OK and finding.found in {"avx512", "avx2"} and not finding.advice


def test_kernels_that_were_not_compiled_are_a_warning_on_the_cpu_and_a_note_beside_a_gpu(tmp_path: Path) -> None:
    finding = judged(tmp_path, UNCOMPILED)["cpu_kernels"]
    assert finding.severity is Severity.WARNING and finding.facts["reason"] == NOT_BUILT
    assert "torch does the work" in finding.found and "`sudo apt install g++`" in finding.advice
    beside = replace(UNCOMPILED, backend="gpu", native_note="HIP kernels by nvrtc 13.0")
    assert judged(tmp_path, beside, "nvidia")["cpu_kernels"].severity is Severity.NOTE


def test_a_package_without_its_kernels_asks_for_no_compiler(tmp_path: Path) -> None:
    finding = judged(tmp_path, UNCOMPILED, is_packaged=True)["cpu_kernels"]
    assert finding.severity is Severity.WARNING
    assert "Install Haloband again" in finding.advice and "g++" not in finding.advice and "make" not in finding.advice


def test_the_advised_command_compiles_although_everything_else_is_installed(tmp_path: Path) -> None:
    """A plain `make setup` finds its stamp up to date and does nothing, whatever compiler came since."""
    advice = judged(tmp_path, UNCOMPILED)["cpu_kernels"].advice
    (command,) = re.findall(r"`(make [^`]*)`", advice)
    (tmp_path / ".runtime-installed").touch()
    words = [*command.split(), "--dry-run", f"VENV={tmp_path}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "setup_venv.py" in done.stdout


def test_the_real_self_test_without_compiled_kernels_gives_the_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an installation without a compiler: the folder of the kernels holds no library."""
    monkeypatch.delenv("HALOBAND_NATIVE", raising=False)
    monkeypatch.setattr("kernels.cpu.load_library", functools.partial(load_library, folder=tmp_path / "nothing"))
    monkeypatch.setattr("engine.placing.gpu_backend", _no_gpu)
    answer = run_self_test()
    assert answer.finite and answer.cpu_variant is None
    assert answer.native_note == f"plain torch: {answer.cpu_reason}" and "not built" in answer.cpu_reason
    finding = judged(tmp_path, answer)["cpu_kernels"]
    assert finding.severity is Severity.WARNING and "g++" in finding.advice


def _no_gpu(_config: object) -> object:
    from engine.backends import NoGpu

    return NoGpu("this torch sees no GPU")
