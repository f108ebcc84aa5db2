"""How much memory the GPU may use, and how to let it use more: carve-out, GTT limit, free memory, swap.

On Strix Halo all memory is one pool. The carve-out is taken from it at boot; the GTT limit says how much of the rest
the GPU may map, and is set by ttm.pages_limit in pages of 4 KiB. Sizes are in bytes.
"""

import re
from collections.abc import Iterator

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import Host
from app.plain_words import size_text

GIB = 1 << 30
PAGE_BYTES = 4096
DS4_WEIGHT_BYTES = 98_300_000_000  # the largest published DS4 file for this machine
DESKTOP_RESERVE_BYTES = 8 * GIB
LARGEST_GTT_BYTES = 124 * GIB
_SYSTEM_BYTES = 4 * GIB  # what the GPU must never get
_SMALL_CARVE_OUT_BYTES = GIB
_MODULE_BYTES = 16 * GIB  # memory comes in steps of this; firmware keeps some of it for itself
_LEAST_FREE_BYTES = 2 * GIB  # the embedded model and the window
_CMDLINE_PAGES = re.compile(r"(?:^|\s)ttm\.pages_limit=(\d+)")


def check_memory(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """Free memory always; carve-out and GTT limit where there is an AMD GPU."""
    memory = read_meminfo(host)
    card = f"{hardware.main.card}/device" if hardware.main and hardware.main.card else None
    carve_out = host.number(f"{card}/mem_info_vram_total") if card else None
    gtt = host.number(f"{card}/mem_info_gtt_total") if card else None
    if hardware.is_strix_halo and carve_out is not None:
        yield _carve_out(carve_out)
    if hardware.is_strix_halo and gtt is not None:
        yield _gtt_limit(host, gtt, wanted_gtt_bytes(memory.get("MemTotal", 0), carve_out or 0))
    yield _free_memory(memory, hardware)
    yield from _swap(memory, hardware)


def read_meminfo(host: Host) -> dict[str, int]:
    """The fields of /proc/meminfo in bytes; empty where there is none."""
    fields = {}
    for line in (host.text("proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        number = value.removesuffix("kB").strip()
        if number.isdecimal():
            fields[name] = int(number) * 1024
    return fields


def wanted_gtt_bytes(total: int, carve_out: int) -> int:
    """The GTT limit to set: everything that is installed and not carved out, less 4 GiB, 124 GiB at most."""
    installed = -(-(total + carve_out) // _MODULE_BYTES) * _MODULE_BYTES
    return max(0, min(LARGEST_GTT_BYTES, installed - max(carve_out - _SMALL_CARVE_OUT_BYTES, 0) - _SYSTEM_BYTES))


def pages_limit(size: int) -> int:
    """The value of ttm.pages_limit for `size` bytes."""
    return size // PAGE_BYTES


def _carve_out(size: int) -> Finding:
    large = size > _SMALL_CARVE_OUT_BYTES
    advice = (
        "In the firmware setup, set the GPU's own memory (UMA frame buffer, iGPU memory) to 512 MB: a carve-out is lost"
        " to everything else, and DS4 needs one large pool."
    )
    return Finding(
        "carve_out",
        Topic.MEMORY,
        "VRAM carve-out",
        Severity.WARNING if large else Severity.OK,
        size_text(size),
        "512 MiB, or 1 GiB at most",
        advice if large else "",
        {"bytes": size},
    )


def _gtt_limit(host: Host, limit: int, wanted: int) -> Finding:
    found, facts = size_text(limit), {"bytes": limit, "wanted_bytes": wanted, "wanted_pages": pages_limit(wanted)}
    needed = DS4_WEIGHT_BYTES + DESKTOP_RESERVE_BYTES
    title, words = "GTT limit", f"{size_text(wanted)}: ttm.pages_limit={pages_limit(wanted)}"
    if limit >= wanted:
        return Finding("gtt_limit", Topic.MEMORY, title, Severity.OK, found, words, "", facts)
    # With less memory installed than DS4 needs, raising the limit helps smaller models only.
    severity = Severity.PROBLEM if limit < needed <= wanted else Severity.WARNING
    return Finding("gtt_limit", Topic.MEMORY, title, severity, found, words, _gtt_advice(host, wanted), facts)


def _gtt_advice(host: Host, wanted: int) -> str:
    command_line = host.text("proc/cmdline") or ""
    booted = _CMDLINE_PAGES.search(command_line)
    parameter = f"ttm.pages_limit={pages_limit(wanted)}"
    if "amdgpu.gttsize=" in command_line:
        return (
            f"Remove amdgpu.gttsize from the kernel's command line, where it overrides the limit, and have {parameter} "
            "there instead; then restart."
        )
    if booted is not None and int(booted.group(1)) >= pages_limit(wanted):
        return (
            f"The kernel was started with ttm.pages_limit={booted.group(1)}, but the driver has not taken it. Look for "
            "another value in /etc/modprobe.d and in the initramfs (`sudo update-initramfs -u`), then restart."
        )
    return (
        f"Add {parameter} to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, run `sudo update-grub` (Fedora: "
        f"`sudo grubby --update-kernel=ALL --args={parameter}`), and restart."
    )


def _free_memory(memory: dict[str, int], hardware: Hardware) -> Finding:
    available = memory.get("MemAvailable")
    title = "Free memory"
    if available is None:
        return Finding("free_memory", Topic.MEMORY, title, Severity.NOTE, "unknown")
    needed = DS4_WEIGHT_BYTES + DESKTOP_RESERVE_BYTES if hardware.is_strix_halo else _LEAST_FREE_BYTES
    found = f"{size_text(available)} of {size_text(memory.get('MemTotal', 0))}"
    facts = {"available_bytes": available, "wanted_bytes": needed, "cma_free_bytes": memory.get("CmaFree")}
    if hardware.is_strix_halo:
        wanted = f"{size_text(needed)} to load DS4: the file, and 8 GiB for the desktop"
    else:
        wanted = f"{size_text(needed)} for the embedded model and the window"
    if available >= needed:
        return Finding("free_memory", Topic.MEMORY, title, Severity.OK, found, wanted, "", facts)
    advice = "Close other programs before loading a model; Haloband refuses a model that does not fit."
    return Finding("free_memory", Topic.MEMORY, title, Severity.WARNING, found, wanted, advice, facts)


def _swap(memory: dict[str, int], hardware: Hardware) -> Iterator[Finding]:
    total = memory.get("SwapTotal")
    if total is None or not hardware.is_strix_halo:
        return
    used = total - memory.get("SwapFree", total)
    in_use = used > GIB
    yield Finding(
        "swap",
        Topic.MEMORY,
        "Swap in use",
        Severity.WARNING if in_use else Severity.OK,
        f"{size_text(used)} of {size_text(total)}",
        "as good as none",
        "Close programs, then empty it with `sudo swapoff -a && sudo swapon -a`: swapped weights read at disk speed."
        if in_use
        else "",
        {"used_bytes": used, "total_bytes": total},
    )
