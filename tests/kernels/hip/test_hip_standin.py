"""The real hip-python and our launch code against a stand-in HIP library: statuses, logs, the cache, and a result."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernels.errors import KernelUnavailableError
from kernels.hip_device import HipDevice
from kernels.hiprtc_builder import HiprtcBuilder
from tests.kernels.hip.emulated import FOLDER, compile_cxx

STANDIN = Path(__file__).parent / "standin"
ROOT = Path(__file__).parents[3]

hip = pytest.importorskip("hip", reason="hip-python is not installed").hip


def arch_offset() -> int:
    """Where hip-python's device properties hold gcnArchName: the structure is filled with its own offsets as text."""
    properties = hip.hipDeviceProp_t()
    size = properties.c_sizeof()
    ruler = b"".join(b"%07x\0" % at for at in range(0, size, 8))
    ctypes.memmove(int(properties), ruler, size)
    text = str(properties.gcnArchName)
    return int(text[-3:], 16) + 7 - len(text)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What standin/session.py found, in one process that sees a ROCm folder with only the stand-ins in it."""
    rocm, library = tmp_path_factory.mktemp("rocm"), "lib/libamdhip64.so"
    (rocm / "lib").mkdir()
    emulator = FOLDER / "emulator.cpp"
    compile_cxx([f"-DARCH_OFFSET={arch_offset()}", STANDIN / "amdhip64.cpp", emulator, "-ldl", "-o", rocm / library])
    compile_cxx([STANDIN / "hiprtc.cpp", "-o", rocm / "lib" / "libhiprtc.so"])
    environment = os.environ | {
        "ROCM_PATH": str(rocm),
        "ROCM_HOME": str(rocm),
        "LD_LIBRARY_PATH": str(rocm / "lib"),
        "STANDIN_INCLUDE": str(FOLDER),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(STANDIN / "session.py"), str(tmp_path_factory.mktemp("cache"))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


Answers = dict[str, dict[str, Any]]


def test_a_kernel_is_built_launched_and_right(answers: Answers) -> None:
    answer = answers["run"]
    assert answer.get("nmse", 1.0) <= 1e-10, answer
    assert answer["device"] == "Stand-in (gfx1151)"
    assert answer["builder"] == "hiprtc 9.0 of HIP 7.2.43211"


def test_the_second_launcher_loads_the_stored_code_object(answers: Answers) -> None:
    assert answers["again"]["nmse"] <= 1e-10
    assert [name.split("-")[0] for name in answers["files"]] == ["norm_rope"]
    assert all(answers["files"].values()), "the file must not be written again"


def test_another_rocm_builds_its_own_code_objects(answers: Answers) -> None:
    """hiprtc's own version is the same in all of them."""
    assert answers["upgraded"]["builder"] == "hiprtc 9.0 of HIP 7.3.1"
    assert answers["upgraded"]["files"] == 2


def test_a_runtime_that_tells_no_version_is_none_to_stop_at(answers: Answers) -> None:
    assert answers["silent"]["builder"] == "hiprtc 9.0"
    assert answers["silent"]["nmse"] <= 1e-10


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("hipModuleLoadData", "hipErrorNoBinaryForGpu"),
        ("hipModuleGetFunction", "hipErrorNotFound"),
        ("hipModuleLaunchKernel", "hipErrorLaunchOutOfResources"),
        ("hipDeviceSynchronize", "hipErrorLaunchFailure"),
        ("hipSetDevice", "hipErrorInvalidDevice"),
    ],
)
def test_every_failing_call_names_itself_the_kernel_and_the_device(answers: Answers, call: str, name: str) -> None:
    answer = answers[call]
    assert answer["error"] == "KernelLaunchError", answer
    assert call in answer["message"] and name in answer["message"] and "gfx1151" in answer["message"]
    assert ("norm_rope" in answer["message"]) == (call != "hipSetDevice")


def test_no_device_is_said_in_one_sentence(answers: Answers) -> None:
    assert answers["hipGetDeviceCount"]["error"] == "KernelUnavailableError"
    assert "hipErrorNoDevice" in answers["hipGetDeviceCount"]["message"]


def test_a_refused_build_keeps_the_compilers_log(answers: Answers) -> None:
    answer = answers["broken"]
    assert answer["error"] == "KernelBuildError"
    assert "norm_rope" in answer["message"] and "gfx1151" in answer["message"] and "hiprtc 9.0" in answer["message"]
    assert "norm_rope.hip" in answer["log"] and "K_WIDTH" in answer["log"]


def test_a_fault_inside_a_kernel_shows_at_the_synchronisation(answers: Answers) -> None:
    assert answers["divergent"]["error"] == "KernelLaunchError"
    assert "divergent" in answers["divergent"]["message"] and "hipDeviceSynchronize" in answers["divergent"]["message"]


def test_a_missing_entry_function_is_named(answers: Answers) -> None:
    assert answers["absent"]["error"] == "KernelLaunchError"
    assert "absent" in answers["absent"]["message"] and "hipErrorNotFound" in answers["absent"]["message"]


@pytest.mark.parametrize("attempt", [HipDevice, lambda: HiprtcBuilder("gfx1151")])
def test_without_a_gpu_the_reason_is_said(attempt: Callable[[], object]) -> None:
    """On a machine with ROCm both doors open; on any other each says in one sentence what is missing."""
    try:
        attempt()
    except KernelUnavailableError as reason:
        assert "cannot be loaded" in str(reason) or "no AMD GPU" in str(reason)
