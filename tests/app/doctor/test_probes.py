"""Each probe against single bad facts: what is found, how bad it is, and the exact thing to do."""

from pathlib import Path
from typing import Any

import pytest

from app.doctor.disk import MAX_BYTES, check_disk, read_bounded
from app.doctor.driver import has_register_fix
from app.doctor.finding import Severity
from app.doctor.hardware import gfx_name, read_hardware
from app.doctor.host import DeviceNode, User
from app.doctor.memory import GIB, pages_limit, wanted_gtt_bytes
from app.doctor.rocm import has_register_bug, read_versions
from app.doctor.version import parse_version
from tests.app.doctor.recorded import CARD, RAISED, findings, host

NODE = "sys/class/kfd/kfd/topology/nodes/1/properties"
CLOSED = DeviceNode("render", 0o660, False)


def expect(tmp_path: Path, key: str, severity: Severity, *words: str, **changes: Any) -> None:
    """The finding `key` of a changed Strix Halo has this severity, and these words somewhere."""
    finding = findings(host(tmp_path, **changes))[key]
    said = f"{finding.found} {finding.wanted} {finding.advice}"
    assert finding.severity is severity, finding
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("target", "name"),
    [(110501, "gfx1151"), (110500, "gfx1150"), (120001, "gfx1201"), (90010, "gfx90a"), (100300, "gfx1030")],
)
def test_names_of_targets(target: int, name: str) -> None:
    assert gfx_name(target) == name


def test_another_amd_gpu_is_named_and_not_promised(tmp_path: Path) -> None:
    properties = "simd_count 96\ngfx_target_version 120001\nvendor_id 4098\ndevice_id 30032\ndrm_render_minor 128\n"
    files = {NODE: properties, f"{CARD}/device": "0x7550"}
    expect(tmp_path, "gpu", Severity.WARNING, "gfx1201", "gfx1151", files=files)


def test_a_gpu_that_compute_does_not_list(tmp_path: Path) -> None:
    expect(tmp_path, "gpu", Severity.WARNING, "Strix Halo", "HSA_AMD", files={NODE: None})


def test_a_gpu_without_a_driver(tmp_path: Path) -> None:
    files = {NODE: None, f"{CARD}/vendor": None, "sys/bus/pci/devices/0000:c3:00.0/driver/uevent": None}
    expect(tmp_path, "gpu", Severity.PROBLEM, "no driver", "modprobe amdgpu", files=files)


def test_strix_halo_is_chosen_beside_another_gpu_and_its_own_card_is_read(tmp_path: Path) -> None:
    properties = "simd_count 96\ngfx_target_version 120001\nvendor_id 4098\ndevice_id 30032\ndrm_render_minor 129\n"
    files = {
        "sys/class/kfd/kfd/topology/nodes/2/properties": properties,
        "sys/class/drm/card0/device/vendor": "0x1002",
        "sys/class/drm/card0/device/device": "0x7550",
        "sys/class/drm/card0/device/drm/renderD129/dev": "226:129",
        "sys/class/drm/card0/device/mem_info_gtt_total": "1",
    }
    hardware = read_hardware(host(tmp_path, files=files))
    assert [gpu.gfx for gpu in hardware.amd] == ["gfx1151", "gfx1201"]
    assert hardware.main is not None and hardware.main.card == "sys/class/drm/card1"


@pytest.mark.parametrize("text", ["", "simd_count many\n", "gfx_target_version 110501\n", "\0\0\0", "simd_count 1 2 3"])
def test_damaged_topology_is_no_gpu(tmp_path: Path, text: str) -> None:
    hardware = read_hardware(host(tmp_path, files={NODE: text, f"{CARD}/vendor": None}))
    assert not hardware.amd


@pytest.mark.parametrize(
    ("release", "good"),
    [
        ("6.18.4", True),
        ("6.18.9-200.fc43.x86_64", True),
        ("7.0.0-29-generic", True),
        ("6.18.3-arch1-1", False),
        ("6.17.0-19-generic", False),
        ("6.14.0-1018-oem", True),
        ("6.14.0-1017-oem", False),
        ("6.14.0-1018-generic", False),
        ("unknown", False),
    ],
)
def test_kernels(release: str, good: bool) -> None:
    assert has_register_fix(release) is good


def test_an_old_kernel_and_bad_firmware(tmp_path: Path) -> None:
    expect(tmp_path, "kernel", Severity.WARNING, "6.18.4", files={"proc/sys/kernel/osrelease": "6.17.9"})
    bad = {f"{CARD}/fw_version/mes_fw_version": "0x00000083"}
    expect(tmp_path, "firmware", Severity.PROBLEM, "0x83", "linux-firmware", files=bad)
    without = {f"{CARD}/fw_version/mes_fw_version": None}
    assert "firmware" not in findings(host(tmp_path, files=without))


def test_the_driver(tmp_path: Path) -> None:
    expect(tmp_path, "amdgpu", Severity.NOTE, "6.16.13", files={"sys/module/amdgpu/version": "6.16.13"})
    absent = {"sys/module/amdgpu/parameters/cwsr_enable": None}
    expect(tmp_path, "amdgpu", Severity.PROBLEM, "modprobe amdgpu", files=absent)


def test_rights_on_the_compute_device(tmp_path: Path) -> None:
    def says(*words: str, node: DeviceNode | None = CLOSED, user: User | None = None) -> None:
        expect(tmp_path, "kfd", Severity.PROBLEM, *words, devices={"/dev/kfd": node}, user=user)

    outsider = User("bob", frozenset({"bob"}), frozenset())
    says("does not exist", "--device=/dev/kfd", node=None)
    says("usermod -aG render,video bob", user=outsider)
    says("usermod -aG render,video,gpu bob", node=DeviceNode("gpu", 0o660, False), user=outsider)
    says("Log out and in again", user=User("bob", frozenset({"bob"}), frozenset({"render"})))
    says("mode 0640", "udev", node=DeviceNode("render", 0o640, False))
    expect(tmp_path, "render_node", Severity.PROBLEM, "usermod", devices={"/dev/dri/renderD128": CLOSED}, user=outsider)


@pytest.mark.parametrize(
    ("total_gib", "carve_out", "pages"),
    [
        (124.0, GIB // 2, 32_505_856),  # 128 GB as Linux sees it
        (125.5, GIB // 2, 32_505_856),
        (31.0, 96 * GIB, 7_602_176),  # a carve-out of 96 GiB leaves little
        (61.5, GIB // 2, 15_728_640),
        (251.0, GIB // 2, 32_505_856),
        (0, 0, 0),
    ],
)
def test_the_limit_to_set(total_gib: float, carve_out: int, pages: int) -> None:
    assert pages_limit(wanted_gtt_bytes(int(total_gib * GIB), carve_out)) == pages


def test_how_the_limit_is_raised(tmp_path: Path) -> None:
    expect(tmp_path, "gtt_limit", Severity.PROBLEM, "GRUB_CMDLINE_LINUX_DEFAULT", "ttm.pages_limit=32505856")
    old_way = {"proc/cmdline": "quiet amdgpu.gttsize=65536 ttm.pages_limit=32505856"}
    expect(tmp_path, "gtt_limit", Severity.PROBLEM, "Remove amdgpu.gttsize", files=old_way)
    ignored = {"proc/cmdline": "quiet ttm.pages_limit=32505856"}
    expect(tmp_path, "gtt_limit", Severity.PROBLEM, "modprobe.d", files=ignored)


def test_a_machine_too_small_for_ds4_is_only_warned(tmp_path: Path) -> None:
    small = {
        "proc/meminfo": "MemTotal: 64000000 kB\nMemAvailable: 50000000 kB\n",
        f"{CARD}/mem_info_gtt_total": "32000000000",
    }
    expect(tmp_path, "gtt_limit", Severity.WARNING, "ttm.pages_limit=15728640", files=small)


def test_a_large_carve_out(tmp_path: Path) -> None:
    large = {f"{CARD}/mem_info_vram_total": str(96 * GIB)}
    expect(tmp_path, "carve_out", Severity.WARNING, "96.0 GiB", "512 MB", files=large)


def test_little_free_memory_and_much_swap(tmp_path: Path) -> None:
    meminfo = "MemTotal: 130023424 kB\nMemAvailable: 50000000 kB\nSwapTotal: 8388604 kB\nSwapFree: 1000000 kB\n"
    changes = {"files": {**RAISED, "proc/meminfo": meminfo}}
    expect(tmp_path, "free_memory", Severity.WARNING, "47.7 GiB", "Close other programs", **changes)
    expect(tmp_path, "swap", Severity.WARNING, "swapoff", **changes)


@pytest.mark.parametrize(
    ("text", "bug"),
    [
        ("7.2.0", False),
        ("7.2.2-81", False),
        ("7.1.1", True),
        ("6.4.3", True),
        ("7.9", True),
        ("7.10.0", True),
        ("7.11.0a20260101", False),
        ("10.0.0", False),
    ],
)
def test_register_bug_of_rocm(text: str, bug: bool) -> None:
    version = parse_version(text)
    assert version is not None and has_register_bug(version) is bug


def test_where_rocm_is_looked_for(tmp_path: Path) -> None:
    def source(**changes: Any) -> tuple[object, str]:
        versions = read_versions(host(tmp_path, **changes))
        return versions.rocm, versions.rocm_source

    assert source() == ((7, 2, 2), "/opt/rocm")
    assert source(packages={"rocm-sdk-core": "7.11.0a20260101"}) == ((7, 11, 0), "rocm-sdk-core package")
    elsewhere = {"srv/rocm-7.3/.info/version": "7.3.1"}
    assert source(environment={"ROCM_PATH": "/srv/rocm-7.3"}, files=elsewhere) == ((7, 3, 1), "/srv/rocm-7.3")
    hip = {"hipconfig --version": "7.1.52802-26aae437f6"}
    assert source(files={"opt/rocm/.info/version": None}, commands=hip) == ((7, 1, 52802), "hipconfig")


def test_rocm_missing_or_old(tmp_path: Path) -> None:
    expect(tmp_path, "rocm", Severity.PROBLEM, "miscounts", files={"opt/rocm/.info/version": "7.1.0"})
    expect(tmp_path, "rocm", Severity.PROBLEM, "AMD's wheels", files={"opt/rocm/.info/version": None})


@pytest.mark.parametrize(
    ("version_file", "words"),
    [
        ("cuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n", "CUDA 13.0"),
        ("cuda = None\nhip = None\n", "the processor only"),
        ("", "the processor only"),
    ],
)
def test_a_torch_that_cannot_use_the_gpu(tmp_path: Path, version_file: str, words: str) -> None:
    texts = {"torch/version.py": version_file}
    expect(tmp_path, "torch", Severity.PROBLEM, words, "AMD's wheels", package_files=texts)


def test_no_torch_and_no_hip_python(tmp_path: Path) -> None:
    packages = {"torch": None, "hip-python": None}
    expect(tmp_path, "torch", Severity.PROBLEM, "make setup", packages=packages)
    expect(tmp_path, "hip_python", Severity.PROBLEM, "pip install hip-python", packages=packages)


def test_versions_that_do_not_belong_together(tmp_path: Path) -> None:
    expect(tmp_path, "agreement", Severity.OK, "ROCm 7.2, torch 7.2, hip-python 7.2")
    newer = {"hip-python": "10.0.0.0.1.2"}
    expect(tmp_path, "agreement", Severity.PROBLEM, "pip install 'hip-python==7.*'", packages=newer)
    older = {"torch/version.py": "hip = '6.4.43482-0f2d60242'\n"}
    expect(tmp_path, "agreement", Severity.PROBLEM, "a torch that is built for ROCm 7.2", package_files=older)
    near = {"hip-python": "7.1.1"}
    expect(tmp_path, "agreement", Severity.NOTE, "hip-python~=7.2.0", packages=near)


def test_variables_that_mislead(tmp_path: Path) -> None:
    override = {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}
    expect(tmp_path, "gfx_override", Severity.WARNING, "gfx1100", environment=override)
    assert "gfx_override" not in findings(host(tmp_path, environment={"HSA_OVERRIDE_GFX_VERSION": "11.5.1"}))
    expect(tmp_path, "hidden_gpu", Severity.PROBLEM, "hides", environment={"HIP_VISIBLE_DEVICES": ""})
    assert "hidden_gpu" not in findings(host(tmp_path, environment={"HIP_VISIBLE_DEVICES": "0"}))


@pytest.mark.parametrize(
    ("rocm", "clang", "severity"),
    [
        ("7.2.2", 22, Severity.OK),
        ("7.2.0", 22, Severity.WARNING),  # called 22, and still without the correction
        ("7.1.1", 20, Severity.WARNING),
        ("10.0.0", 23, Severity.OK),
        ("7.10.0", 22, Severity.OK),
        ("7.10.0", 20, Severity.WARNING),
        ("7.10.0", None, Severity.NOTE),
        (None, 21, Severity.WARNING),
        (None, 22, Severity.OK),
    ],
)
def test_the_compiler(tmp_path: Path, rocm: str | None, clang: int | None, severity: Severity) -> None:
    output = f"AMD clang version {clang}.0.0git" if clang else None
    commands = {"/opt/rocm/llvm/bin/clang --version": output}
    expect(tmp_path, "compiler", severity, files={"opt/rocm/.info/version": rocm}, commands=commands)


def test_the_compiler_without_a_gpu(tmp_path: Path) -> None:
    expect(tmp_path, "ziglang", Severity.WARNING, "ziglang>=0.17", "LLVM 20", packages={"ziglang": "0.15.2"})
    expect(tmp_path, "ziglang", Severity.OK, "LLVM 22", packages={"ziglang": "0.17.1"})


@pytest.mark.parametrize(
    ("python", "qt", "severity"),
    [
        ((3, 11, 7), "6.12.0", Severity.PROBLEM),
        ((3, 11, 7), "6.13.1", Severity.PROBLEM),
        ((3, 11, 7), "6.11.3", Severity.OK),
        ((3, 12, 0), "6.12.0", Severity.OK),
        ((3, 12, 0), None, Severity.WARNING),
    ],
)
def test_qt_and_python(tmp_path: Path, python: tuple[int, int, int], qt: str | None, severity: Severity) -> None:
    expect(tmp_path, "pyside6", severity, python=python, packages={"PySide6-Essentials": qt})


def test_an_old_python_and_missing_packages(tmp_path: Path) -> None:
    expect(tmp_path, "python", Severity.PROBLEM, "3.11 or newer", python=(3, 10, 2))
    packages = {"psutil": None, "pypdf": None}
    expect(tmp_path, "packages", Severity.PROBLEM, "psutil, pypdf", "make setup", packages=packages)


@pytest.mark.parametrize(
    ("profile", "governor", "driver", "severity"),
    [
        ("performance", "performance", "amd-pstate-epp", Severity.OK),
        ("balanced", "powersave", "amd-pstate-epp", Severity.NOTE),
        ("low-power", "powersave", "amd-pstate-epp", Severity.WARNING),
        (None, "performance", "acpi-cpufreq", Severity.OK),
        (None, "powersave", "acpi-cpufreq", Severity.WARNING),
        (None, "powersave", "amd-pstate-epp", Severity.NOTE),
        (None, None, None, Severity.NOTE),
    ],
)
def test_power(
    tmp_path: Path, profile: str | None, governor: str | None, driver: str | None, severity: Severity
) -> None:
    cpu = "sys/devices/system/cpu/cpu0/cpufreq"
    files = {
        "sys/firmware/acpi/platform_profile": profile,
        f"{cpu}/scaling_governor": governor,
        f"{cpu}/scaling_driver": driver,
    }
    expect(tmp_path, "power_profile", severity, files=files)


def test_on_battery(tmp_path: Path) -> None:
    expect(tmp_path, "battery", Severity.WARNING, "Plug it in", files={"sys/class/power_supply/AC/online": "0"})


class Clock:
    """Moves on by `step` seconds at each look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("disk") / "large.gguf"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES * 4)  # sparse: takes no room
    return path


def test_the_disk_test_is_bounded_in_bytes_and_in_time(large_file: Path) -> None:
    assert read_bounded(large_file, Clock(0.001)).bytes == MAX_BYTES
    slow = read_bounded(large_file, Clock(0.5))
    assert 0 < slow.bytes < MAX_BYTES and slow.seconds < 4


@pytest.mark.parametrize(("step", "severity"), [(0.001, Severity.OK), (0.006, Severity.NOTE), (0.1, Severity.WARNING)])
def test_the_verdict_on_a_disk(large_file: Path, step: float, severity: Severity) -> None:
    (finding,) = check_disk(large_file, Clock(step))
    assert finding.severity is severity and "GB/s" in finding.found


def test_a_quick_disk_is_told_in_milliseconds(large_file: Path) -> None:
    (finding,) = check_disk(large_file, Clock(0.0001))
    assert " ms, the largest DS4 file in " in finding.found


def test_of_a_model_folder_the_largest_file_is_read(large_file: Path) -> None:
    folder = large_file.parent / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model-00001-of-00002.safetensors").write_bytes(bytes(100))
    (folder / "model-00002-of-00002.safetensors").hardlink_to(large_file)
    (finding,) = check_disk(folder, Clock(0.001))
    assert finding.facts["file_bytes"] == large_file.stat().st_size


def test_a_small_or_missing_model_says_nothing_of_the_disk(tmp_path: Path) -> None:
    small = tmp_path / "small.gguf"
    for content in (b"", b"x" * 1000):
        small.write_bytes(content)
        (finding,) = check_disk(small)
        assert finding.severity is Severity.NOTE and "too little" in finding.found
    (finding,) = check_disk(tmp_path / "absent.gguf")
    assert finding.severity is Severity.WARNING and "No such file" in finding.found
    (finding,) = check_disk(tmp_path)
    assert finding.severity is Severity.WARNING
