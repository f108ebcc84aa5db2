"""Reads the kernel's own counters of AMD GPUs from sysfs: memory (VRAM and GTT), load, temperature.

Used by the benchmark's environment record and the app's memory display, off the GUI thread. A missing or unreadable
counter is None, never 0; a machine without such a GPU has no cards. `root` is / except in tests.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_CARD = re.compile(r"card\d+")


@dataclass(frozen=True, slots=True)
class GpuCounters:
    """One card. Bytes; `busy_percent` 0 to 100; `temperature_c` in degrees Celsius."""

    name: str
    vram_used: int | None
    vram_total: int | None
    gtt_used: int | None
    gtt_total: int | None
    busy_percent: int | None
    temperature_c: float | None


def read_gpus(root: Path = Path("/")) -> tuple[GpuCounters, ...]:
    """All cards with at least one memory counter, by name. card0-DP-1 and its like are connectors, not cards."""
    folder = root / "sys/class/drm"
    try:
        names = sorted(entry.name for entry in folder.iterdir() if _CARD.fullmatch(entry.name))
    except OSError:
        return ()
    cards = [_read_card(name, folder / name / "device") for name in names]
    return tuple(card for card in cards if card.vram_total is not None or card.gtt_total is not None)


def _read_card(name: str, device: Path) -> GpuCounters:
    hottest = [value for path in device.glob("hwmon/hwmon*/temp1_input") if (value := read_number(path)) is not None]
    return GpuCounters(
        name,
        read_number(device / "mem_info_vram_used"),
        read_number(device / "mem_info_vram_total"),
        read_number(device / "mem_info_gtt_used"),
        read_number(device / "mem_info_gtt_total"),
        read_number(device / "gpu_busy_percent"),
        max(hottest) / 1000 if hottest else None,
    )


def read_number(path: Path) -> int | None:
    """The integer in a one-line file; None if it cannot be read or is something else."""
    text = read_line(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def read_line(path: Path) -> str | None:
    """The stripped text of a small file; None if it cannot be read or is empty."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
