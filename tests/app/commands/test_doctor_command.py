"""`haloband doctor` as a command: its output, its exit status, and the engine's self-test in a real process."""

import argparse
import json
import threading
from pathlib import Path

import pytest

from app.commands import doctor
from app.doctor.finding import Severity
from app.doctor.hardware import read_hardware
from app.doctor.host import SELF_TEST_TIMEOUT_S, CommandResult, Host, real_host, run_command
from app.doctor.self_test import check_self_test
from tests.app.doctor.recorded import RAISED, SELF_TEST, host


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    doctor.add_arguments(parser)
    return parser.parse_args(words)


def run_on(machine: Host, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(doctor, "real_host", lambda: machine)
    return doctor.run(parse(*words))


def test_a_healthy_machine_gives_status_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_on(host(tmp_path, files=RAISED), monkeypatch) == 0
    shown = capsys.readouterr()
    assert "gfx1151" in shown.out and "Nothing stands in the way." in shown.out and not shown.err


def test_a_problem_gives_status_1_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_on(host(tmp_path), monkeypatch, "--json") == 1
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert data["worst"] == "problem" and data["schema"] == 1
    assert {entry["key"]: entry for entry in data["findings"]}["gtt_limit"]["facts"]["wanted_pages"] == 32_505_856
    assert shown.err == "haloband doctor: 1 problem, 0 warnings.\n"


def test_quick_starts_no_process_and_reads_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = host(tmp_path, files=RAISED, commands={SELF_TEST: CommandResult(-9, "")})
    assert run_on(machine, monkeypatch, "--quick", "--model", "/nowhere") == 0
    assert run_on(machine, monkeypatch) == 1


def test_the_engine_answers_on_this_machine() -> None:
    """The real command in a real process: it is what judges every user's machine."""
    machine = real_host()
    findings = {finding.key: finding for finding in check_self_test(machine, read_hardware(machine))}
    assert findings["engine"].severity is Severity.OK, findings["engine"]
    assert "cpu_kernels" in findings


def test_kernels_that_a_variable_keeps_off_are_not_a_matter_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Again the real process: what the engine's loader says of the variable is what the doctor's advice goes by."""
    monkeypatch.setenv("HALOBAND_NATIVE", "off")
    machine = real_host()
    findings = {finding.key: finding for finding in check_self_test(machine, read_hardware(machine))}
    kernels = findings["cpu_kernels"]
    assert kernels.severity in (Severity.WARNING, Severity.NOTE) and kernels.found.startswith("none")
    assert kernels.advice == "Start Haloband without the variable HALOBAND_NATIVE."


def test_commands_that_are_absent_or_hang_give_no_answer() -> None:
    assert run_command(("haloband-no-such-program", "--version")) is None
    assert run_command(("sleep", "30"), timeout_s=0.2) is None
    assert run_command(("sh", "-c", "echo out; echo err >&2; exit 3")) == CommandResult(3, "out\n", "err\n")
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert run_command(("sleep", "30"), stop=stop) is None
    assert SELF_TEST_TIMEOUT_S > 60  # a cold start of torch from a slow disk takes half of that
