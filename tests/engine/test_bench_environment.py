"""Facts and load of a machine, read from a made-up root; a missing or odd file is unknown, never zero."""

import hashlib
import os
from pathlib import Path

import pytest

from engine.bench.environment import (
    Load,
    LoadWatch,
    fingerprint_file,
    not_quiet_reasons,
    read_commit,
    read_cpu_times,
    read_field_kib,
    read_machine,
)
from engine.bench.peak import PeakWatch
from engine.gpu_counters import read_gpus
from tests.engine.bench_fake import StubClock

_TICKS = os.sysconf("SC_CLK_TCK")
_QUIET = Load(0.0, 0.1, None, None)


def _put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _cpu(root: Path, busy_s: float, own_s: float) -> None:
    _put(root, "proc/stat", f"cpu  {int(busy_s * _TICKS)} 0 0 999 5 0 0 0 0 0\ncpu0 1 2 3\n")
    _put(root, "proc/self/stat", f"42 (odd (name) x) R 1 1 1 0 -1 0 0 0 0 0 {int(own_s * _TICKS)} 0 0 0 20 0\n")


def test_a_bare_root_has_no_facts_and_is_quiet(tmp_path: Path) -> None:
    machine = read_machine(2, tmp_path)
    assert machine.threads == 2
    assert (machine.memory_bytes, machine.driver, machine.power_profile, machine.governor) == (None,) * 4
    assert machine.on_battery is None
    load = LoadWatch(tmp_path).read()
    assert load == Load(None, None, None, None)
    assert not_quiet_reasons(machine, load) == ()


def test_facts_are_read_where_the_kernel_puts_them(tmp_path: Path) -> None:
    _put(tmp_path, "proc/meminfo", "MemTotal:       16384 kB\nMemFree: 12 kB\n")
    _put(tmp_path, "proc/cpuinfo", "processor : 0\nmodel name\t: A Fine Processor\n")
    _put(tmp_path, "sys/firmware/acpi/platform_profile", "low-power\n")
    _put(tmp_path, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
    _put(tmp_path, "sys/class/power_supply/AC/online", "0\n")
    _put(tmp_path, "sys/module/amdgpu/version", "6.12\n")
    machine = read_machine(2, tmp_path)
    assert machine.memory_bytes == 16 << 20
    assert machine.processor == "A Fine Processor"
    assert (machine.power_profile, machine.governor, machine.driver) == ("low-power", "powersave", "amdgpu 6.12")
    assert machine.on_battery is True
    assert not_quiet_reasons(machine, _QUIET) == (
        "the power profile is low-power",
        "the machine runs on its battery",
    )


def test_load_of_others_leaves_out_our_own(tmp_path: Path) -> None:
    clock = StubClock()
    _cpu(tmp_path, 100, 10)
    watch = LoadWatch(tmp_path, clock)
    clock.now += 10
    _cpu(tmp_path, 125, 30)  # 25 s of processor time in 10 s, 20 of them ours
    load = watch.read()
    assert load.other_cores == pytest.approx(0.5)
    assert not_quiet_reasons(read_machine(1, tmp_path), load) == ("other programs kept 0.5 processor cores busy",)


def test_the_busier_of_before_and_during_is_told(tmp_path: Path) -> None:
    machine = read_machine(1, tmp_path)
    during = Load(1.25, 2.0, 99, 80.0)  # the GPU is ours by then
    assert not_quiet_reasons(machine, _QUIET, during) == ("other programs kept 1.2 processor cores busy",)
    assert not_quiet_reasons(machine, Load(0.1, 0.1, 40, None)) == ("the GPU was 40 % busy before the run",)


@pytest.mark.parametrize("text", ["", "cpu\n", "cpu a b c d e f g h\n", "cpu 1 2 3\n"])
def test_odd_counters_are_unknown(tmp_path: Path, text: str) -> None:
    _cpu(tmp_path, 1, 1)
    _put(tmp_path, "proc/stat", text)
    assert read_cpu_times(tmp_path) is None


def test_gpu_counters_of_cards_and_not_of_connectors(tmp_path: Path) -> None:
    device = "sys/class/drm/card1/device"
    for name, value in (("vram_used", 1), ("vram_total", 2), ("gtt_used", 3), ("gtt_total", 4)):
        _put(tmp_path, f"{device}/mem_info_{name}", f"{value << 30}\n")
    _put(tmp_path, f"{device}/gpu_busy_percent", "37\n")
    _put(tmp_path, f"{device}/hwmon/hwmon3/temp1_input", "61500\n")
    _put(tmp_path, "sys/class/drm/card1-DP-1/device/mem_info_vram_total", "5\n")
    _put(tmp_path, "sys/class/drm/card0/device/vendor", "0x10de\n")
    (card,) = read_gpus(tmp_path)
    assert (card.name, card.vram_used, card.vram_total) == ("card1", 1 << 30, 2 << 30)
    assert (card.gtt_used, card.gtt_total, card.busy_percent, card.temperature_c) == (3 << 30, 4 << 30, 37, 61.5)
    load = LoadWatch(tmp_path).read()
    assert (load.gpu_busy_percent, load.gpu_temperature_c) == (37, 61.5)


def test_a_counter_that_is_no_number_is_unknown(tmp_path: Path) -> None:
    _put(tmp_path, "sys/class/drm/card0/device/mem_info_vram_total", "8\n")
    _put(tmp_path, "sys/class/drm/card0/device/mem_info_vram_used", "lots\n")
    _put(tmp_path, "sys/class/drm/card0/device/mem_info_gtt_used", "\n")
    (card,) = read_gpus(tmp_path)
    assert (card.vram_total, card.vram_used, card.gtt_used, card.busy_percent) == (8, None, None, None)


def test_commit_of_a_checkout(tmp_path: Path) -> None:
    assert read_commit(tmp_path) is None
    _put(tmp_path, ".git/HEAD", "ref: refs/heads/main\n")
    assert read_commit(tmp_path) is None
    _put(tmp_path, ".git/packed-refs", "# pack-refs\n" + "a" * 40 + " refs/heads/main\n")
    assert read_commit(tmp_path) == "a" * 40
    _put(tmp_path, ".git/refs/heads/main", "b" * 40 + "\n")
    assert read_commit(tmp_path) == "b" * 40
    _put(tmp_path, ".git/HEAD", "c" * 40 + "\n")
    assert read_commit(tmp_path) == "c" * 40


def test_a_run_in_a_checkout_says_its_commit() -> None:
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git" / "HEAD").is_file():
        pytest.skip("this is no checkout")
    commit = read_machine(1).commit
    assert commit is not None and commit == read_commit(checkout)


def test_a_file_is_hashed_whole_or_in_samples_and_says_which(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    content = bytes(range(256)) * 40_000  # ten samples long
    path.write_bytes(content)
    assert fingerprint_file(path) == "sha256:" + hashlib.sha256(content).hexdigest()
    sampled = fingerprint_file(path, whole_limit=1000)
    assert sampled is not None
    assert sampled.startswith("sha256 of 64 samples:")
    path.write_bytes(content[:-1] + b"x")
    assert fingerprint_file(path, whole_limit=1000) != sampled
    assert fingerprint_file(tmp_path / "none") is None


def test_peak_memory_covers_what_was_touched_since_the_watch_began() -> None:
    """The kernel counts pages in batches, so the mark may lag behind what is resident by a little."""
    watch = PeakWatch("cpu")
    block = bytearray(64 << 20)
    block[::4096] = b"x" * len(block[::4096])
    resident = read_field_kib(Path("/proc/self/status"), "VmRSS")
    assert resident is not None
    del block
    peak = watch.resident_bytes()
    assert peak is not None and peak >= resident - (8 << 20)
    assert watch.gpu_bytes() is None


def test_a_watch_begins_with_a_new_mark(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    PeakWatch("cpu", tmp_path)
    assert (tmp_path / "self" / "clear_refs").read_text() == "5"  # proc(5): reset the high-water mark


def test_peak_memory_is_unknown_without_proc(tmp_path: Path) -> None:
    assert PeakWatch("cpu", tmp_path).resident_bytes() is None
