"""`haloband doctor` on whole machines: healthy ones, one with everything at its default, and one with nothing."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.doctor.examine import examine
from app.doctor.finding import Finding, Severity, Topic
from app.doctor.gpu import has_usable_gpu
from app.doctor.host import CommandResult, Host, User
from app.doctor.report import as_json, as_text, summary, worst
from tests.app.doctor.recorded import CARD, RAISED, SELF_TEST, findings, host

MACHINES = ("strix_halo_default", "no_gpu", "nvidia")


def bad(found: dict[str, Finding]) -> set[str]:
    return {key for key, finding in found.items() if finding.severity in (Severity.WARNING, Severity.PROBLEM)}


def test_a_fresh_strix_halo_needs_one_kernel_parameter_and_nothing_else(tmp_path: Path) -> None:
    found = findings(host(tmp_path))
    assert bad(found) == {"gtt_limit"}
    limit = found["gtt_limit"]
    assert limit.severity is Severity.PROBLEM and limit.found == "62.0 GiB"
    assert "ttm.pages_limit=32505856" in limit.advice and "124 GiB" in limit.wanted
    assert "8060S" in found["gpu"].found and "gfx1151" in found["gpu"].found


def test_with_the_limit_raised_nothing_stands_in_the_way(tmp_path: Path) -> None:
    found = findings(host(tmp_path, files=RAISED))
    assert not bad(found)
    assert found["gtt_limit"].found == "124 GiB" and not found["gtt_limit"].advice
    assert summary(list(found.values())) == "Nothing stands in the way."


@pytest.mark.parametrize("name", ["no_gpu", "nvidia"])
def test_a_machine_without_an_amd_gpu_is_fine_and_is_told_so(tmp_path: Path, name: str) -> None:
    found = findings(host(tmp_path, name))
    assert not bad(found)
    assert not {"kfd", "gtt_limit", "carve_out", "amdgpu", "agreement"} & set(found)
    assert ("NVIDIA H200" in found["gpu"].found) == (name == "nvidia")


@pytest.mark.parametrize(
    ("name", "torch_build", "usable"),
    [
        ("strix_halo_default", "hip: str = '7.2.53211'\ncuda = None\n", True),
        ("strix_halo_default", "hip = None\ncuda = None\n", False),
        ("nvidia", "hip = None\ncuda = '13.0'\n", True),
        ("nvidia", "hip = None\ncuda = None\n", False),
        ("no_gpu", "hip = None\ncuda = '13.0'\n", False),
    ],
)
def test_a_gpu_is_usable_with_a_torch_built_for_it(tmp_path: Path, name: str, torch_build: str, usable: bool) -> None:
    machine = replace(host(tmp_path, name), package_file=lambda package, _path: {"torch": torch_build}.get(package))
    assert has_usable_gpu(machine) is usable


def test_a_machine_with_nothing_at_all_gets_a_report(tmp_path: Path) -> None:
    """No /proc, no /sys, no packages, no commands: every probe still answers."""
    empty = Host(
        root=tmp_path / "nowhere",
        run=lambda _command: None,
        device=lambda _path: None,
        package_version=lambda _name: None,
        package_file=lambda _name, _path: None,
        user=User("nobody", frozenset(), frozenset()),
        environment={},
        python=(3, 11, 0),
        self_test_command=("absent",),
    )
    found = findings(empty, tmp_path / "no-model.gguf")
    assert bad(found) == {"torch", "packages", "pyside6", "disk", "engine"}
    assert found["free_memory"].found == "unknown"
    assert len(as_text(list(found.values())).splitlines()) > len(found)


@pytest.mark.parametrize("name", MACHINES)
def test_both_views_say_the_same_and_keep_to_the_line(tmp_path: Path, name: str) -> None:
    found = list(findings(host(tmp_path, name)).values())
    text, data = as_text(found), as_json(found)
    assert json.loads(json.dumps(data)) == data and data["worst"] == worst(found).value
    joined = " ".join(text.split())
    for finding, entry in zip(found, data["findings"], strict=True):
        assert (entry["key"], entry["severity"]) == (finding.key, finding.severity.value)
        assert " ".join(f"{finding.title}: {finding.found}".split()) in joined
        assert not finding.advice or finding.advice in joined
    assert max(map(len, text.splitlines())) <= 120
    assert text.endswith(summary(found))


@pytest.mark.parametrize("name", MACHINES)
def test_topics_come_in_order_and_every_bad_finding_says_what_to_do(tmp_path: Path, name: str) -> None:
    broken = host(
        tmp_path,
        name,
        files={"proc/sys/kernel/osrelease": "6.12.1", f"{CARD}/mem_info_vram_total": str(96 << 30)},
        packages={"hip-python": None, "PySide6-Essentials": None, "numpy": None},
        commands={SELF_TEST: CommandResult(-11, "")},
        devices={"/dev/kfd": None},
    )
    found = list(examine(broken, tmp_path / "absent"))
    order = [list(Topic).index(finding.topic) for finding in found if finding.key not in ("engine", "cpu_kernels")]
    assert order == sorted(order)
    for finding in found:
        if finding.severity in (Severity.WARNING, Severity.PROBLEM):
            assert finding.advice.endswith((".", "`")) and finding.wanted, finding


def test_a_package_speaks_of_itself_and_not_of_packages_to_install(tmp_path: Path) -> None:
    """Its torch cannot be changed, so advice to install another one would lead nowhere."""
    own = {"torch": "2.13.0+cpu", "hip-python": None, "ziglang": None}
    found = findings(
        host(tmp_path, files=RAISED, packages=own, package_files={"torch/version.py": None}, is_packaged=True)
    )
    assert bad(found) == {"torch"} and "from source" in found["torch"].advice
    assert not {"rocm", "hip_python", "agreement", "compiler", "python", "pyside6"} & set(found)
    assert not bad(findings(host(tmp_path, "no_gpu", is_packaged=True)))


def test_no_probe_imports_torch(tmp_path: Path) -> None:
    """Doctor must work where torch is broken, so it may only start it in another process."""
    program = (
        "import sys; from pathlib import Path; from app.doctor.examine import examine;"
        "from app.doctor.host import real_host; list(examine(real_host(), Path('x'), quick=True));"
        "sys.exit(', '.join(name for name in ('torch', 'PySide6', 'hip') if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
