"""What a benchmark ran on: program versions, machine, model file, and the load that other programs caused.

Everything is read from files below `root` (/ except in tests) and from Python itself; a fact that cannot be read is
None. Called by the runner on the worker thread, outside the clock.
"""

import hashlib
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from engine.gpu_counters import read_gpus, read_line

WHOLE_HASH_BYTES = 1 << 30  # larger files are hashed in samples: reading 98 GB would take minutes
_SAMPLE_BYTES, _SAMPLES = 1 << 20, 64
OTHER_CORES_LIMIT = 0.25  # processor cores used by others that still count as quiet
GPU_BUSY_LIMIT = 5  # percent
_SLOW_PROFILES = ("low-power", "power-saver", "quiet", "cool")


@dataclass(frozen=True, slots=True)
class Machine:
    """Versions and hardware. `power_profile` is the platform profile, `governor` the processor's."""

    haloband: str | None
    commit: str | None
    python: str
    torch: str | None
    numpy: str | None
    system: str
    kernel: str
    processor: str | None
    cores: int
    threads: int
    memory_bytes: int | None
    driver: str | None
    power_profile: str | None
    governor: str | None
    on_battery: bool | None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The model as it was run. `fingerprint` is a SHA-256 of the file, or of samples of it, and says which."""

    name: str
    fingerprint: str | None
    architecture: str
    parameters: int
    file_bytes: int
    quantization: str
    layers: int
    context_length: int
    backend: str
    device: str
    native: str | None


@dataclass(frozen=True, slots=True)
class Load:
    """What else was going on. `other_cores`: processor cores kept busy by other programs, on average."""

    other_cores: float | None
    load_average: float | None
    gpu_busy_percent: int | None
    gpu_temperature_c: float | None


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Seconds of processor time so far: of everybody (idle excluded), and of this process."""

    busy_s: float
    own_s: float


def read_machine(threads: int, root: Path = Path("/")) -> Machine:
    """The machine and the program's versions. `threads` is what tensor work uses; torch is not imported here."""
    return Machine(
        haloband=_version("haloband"),
        commit=read_commit(Path(__file__).resolve().parents[2]),
        python=platform.python_version(),
        torch=_version("torch"),
        numpy=_version("numpy"),
        system=platform.system(),
        kernel=platform.release(),
        processor=_processor(root),
        cores=os.cpu_count() or 1,
        threads=threads,
        memory_bytes=_memory_bytes(root),
        driver=_driver(root),
        power_profile=read_line(root / "sys/firmware/acpi/platform_profile"),
        governor=read_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        on_battery=_on_battery(root),
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def read_commit(checkout: Path) -> str | None:
    """The commit of a git checkout, read from its files; None for an installed copy."""
    head = read_line(checkout / ".git/HEAD")
    if head is None or not head.startswith("ref: "):
        return head
    ref = head.removeprefix("ref: ")
    found = read_line(checkout / ".git" / ref)
    if found is not None:
        return found
    packed = (read_line(checkout / ".git/packed-refs") or "").splitlines()
    return next((line.split()[0] for line in packed if line.endswith(f" {ref}")), None)


def _processor(root: Path) -> str | None:
    for line in (read_line(root / "proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or None


def _memory_bytes(root: Path) -> int | None:
    return read_field_kib(root / "proc/meminfo", "MemTotal")


def read_field_kib(path: Path, field: str) -> int | None:
    """Bytes of a "Field:  123 kB" line in a /proc file; None if it is not there."""
    for line in (read_line(path) or "").splitlines():
        name, _, value = line.partition(":")
        number = value.removesuffix("kB").strip()
        if name == field and number.isdigit():
            return int(number) * 1024
    return None


def _driver(root: Path) -> str | None:
    nvidia = read_line(root / "proc/driver/nvidia/version")
    if nvidia is not None:
        return nvidia.splitlines()[0]
    amd = read_line(root / "sys/module/amdgpu/version")
    if amd is not None:
        return f"amdgpu {amd}"
    return "amdgpu of the kernel" if (root / "sys/module/amdgpu").is_dir() else None


def _on_battery(root: Path) -> bool | None:
    """True if every mains supply is unplugged; None on a machine without one."""
    online = [value for path in root.glob("sys/class/power_supply/*/online") if (value := read_line(path)) is not None]
    return None if not online else all(value == "0" for value in online)


def fingerprint_file(path: Path, whole_limit: int = WHOLE_HASH_BYTES) -> str | None:
    """SHA-256 of a file; over `whole_limit` bytes, of its length and 64 MiB spread over it. None if unreadable."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if size <= whole_limit:
                return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
            digest = hashlib.sha256(str(size).encode())
            for index in range(_SAMPLES):
                file.seek((size - _SAMPLE_BYTES) * index // (_SAMPLES - 1) if size > _SAMPLE_BYTES else 0)
                digest.update(file.read(_SAMPLE_BYTES))
            return "sha256 of 64 samples:" + digest.hexdigest()
    except OSError:
        return None


def read_cpu_times(root: Path = Path("/")) -> CpuTimes | None:
    """Processor times of the machine and of this process (Linux); None elsewhere."""
    machine, own = read_line(root / "proc/stat"), read_line(root / "proc/self/stat")
    if machine is None or own is None:
        return None
    try:
        ticks = [int(value) for value in machine.splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _iowait, irq, softirq, steal = ticks
        mine = own.rpartition(")")[2].split()  # the name before it may hold spaces
        own_ticks = int(mine[11]) + int(mine[12])
    except (ValueError, IndexError):
        return None
    per_second = os.sysconf("SC_CLK_TCK")
    return CpuTimes((user + nice + system + irq + softirq + steal) / per_second, own_ticks / per_second)


class LoadWatch:
    """Measures what others did between its creation and `read`."""

    def __init__(self, root: Path = Path("/"), clock: Callable[[], float] = time.monotonic) -> None:
        self._root, self._clock = root, clock
        self._times, self._since = read_cpu_times(root), clock()

    def read(self) -> Load:
        """The load since the watch was made."""
        times, elapsed = read_cpu_times(self._root), self._clock() - self._since
        others = None
        if times is not None and self._times is not None and elapsed > 0:
            busy, own = times.busy_s - self._times.busy_s, times.own_s - self._times.own_s
            others = max(0.0, busy - own) / elapsed
        average = (read_line(self._root / "proc/loadavg") or "").split()
        gpus = read_gpus(self._root)
        busy_gpus = [gpu.busy_percent for gpu in gpus if gpu.busy_percent is not None]
        heat = [gpu.temperature_c for gpu in gpus if gpu.temperature_c is not None]
        return Load(
            others,
            float(average[0]) if average else None,
            max(busy_gpus) if busy_gpus else None,
            max(heat) if heat else None,
        )


def not_quiet_reasons(machine: Machine, before: Load, during: Load | None = None) -> tuple[str, ...]:
    """Why figures of this run may not stand for the machine, in words; empty if it was quiet.

    The GPU's load counts before the run only: during it, it is our own.
    """
    reasons = []
    loads = [before.other_cores, during.other_cores if during else None]
    others = max((value for value in loads if value is not None), default=0.0)
    if others > OTHER_CORES_LIMIT:
        reasons.append(f"other programs kept {others:.1f} processor cores busy")
    if before.gpu_busy_percent is not None and before.gpu_busy_percent > GPU_BUSY_LIMIT:
        reasons.append(f"the GPU was {before.gpu_busy_percent} % busy before the run")
    if machine.power_profile in _SLOW_PROFILES:
        reasons.append(f"the power profile is {machine.power_profile}")
    if machine.on_battery:
        reasons.append("the machine runs on its battery")
    return tuple(reasons)
