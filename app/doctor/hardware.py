"""Which GPUs the kernel sees, from sysfs and procfs alone: the compute topology, the graphics cards, the PCI bus."""

import re
from dataclasses import dataclass

from app.doctor.host import Host

AMD_VENDOR = 0x1002
TARGET = "gfx1151"
_STRIX_HALO = 0x1586
_NAMES = {_STRIX_HALO: "Radeon 8060S/8050S (Strix Halo)"}
_DISPLAY_CLASS = 0x03
_CARD = re.compile(r"card\d+")


@dataclass(frozen=True, slots=True)
class AmdGpu:
    """One AMD GPU. `gfx` is None when the compute driver does not list it; `card` is its sysfs folder, if it has one.

    `render` is the number of its render node (128 for /dev/dri/renderD128), None if unknown.
    """

    name: str
    gfx: str | None
    pci_id: str | None
    card: str | None
    render: int | None
    has_driver: bool


@dataclass(frozen=True, slots=True)
class Hardware:
    """The GPUs of a machine, and the one that Haloband would use."""

    amd: tuple[AmdGpu, ...]
    nvidia: tuple[str, ...]

    @property
    def has_amd(self) -> bool:
        return bool(self.amd)

    @property
    def main(self) -> AmdGpu | None:
        """The GPU this program is made for, or else the first one."""
        return next((gpu for gpu in self.amd if gpu.gfx == TARGET), self.amd[0] if self.amd else None)

    @property
    def is_strix_halo(self) -> bool:
        return self.main is not None and self.main.gfx == TARGET


def read_hardware(host: Host) -> Hardware:
    """All GPUs. Those in the compute topology come first; the rest are cards and PCI devices it does not list."""
    found = _compute_gpus(host)
    seen = {gpu.pci_id for gpu in found}
    for gpu in [*_cards(host), *_driverless(host)]:
        if gpu.pci_id not in seen:
            found.append(gpu)
            seen.add(gpu.pci_id)
    return Hardware(tuple(found), _nvidia(host))


def gfx_name(target_version: int) -> str:
    """The name behind the topology's decimal gfx_target_version: 110501 is gfx1151 (minor and stepping are hex)."""
    major, rest = divmod(target_version, 10_000)
    minor, stepping = divmod(rest, 100)
    return f"gfx{major}{minor:x}{stepping:x}"


def _compute_gpus(host: Host) -> list[AmdGpu]:
    found = []
    for path in host.glob("sys/class/kfd/kfd/topology/nodes/*/properties"):
        properties = _properties(host.text(path) or "")
        target = properties.get("gfx_target_version", 0)
        if not target or not properties.get("simd_count", 0):  # a processor node
            continue
        device = properties.get("device_id", 0)
        render = properties.get("drm_render_minor") or None
        pci_id = f"{properties.get('vendor_id', AMD_VENDOR):04x}:{device:04x}"
        gfx = gfx_name(target)
        found.append(AmdGpu(_NAMES.get(device, f"AMD GPU {gfx}"), gfx, pci_id, _card_of(host, render), render, True))
    return found


def _properties(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _card_of(host: Host, render: int | None) -> str | None:
    """The card folder whose device has this render node."""
    for card in _card_folders(host):
        if render is None or host.exists(f"{card}/device/drm/renderD{render}"):
            return card
    return None


def _card_folders(host: Host) -> list[str]:
    """card0 and its like that belong to AMD, without connectors such as card0-DP-1."""
    return [
        path
        for path in host.glob("sys/class/drm/card*")
        if _CARD.fullmatch(path.rpartition("/")[2]) and host.number(f"{path}/device/vendor") == AMD_VENDOR
    ]


def _cards(host: Host) -> list[AmdGpu]:
    found = []
    for card in _card_folders(host):
        device = host.number(f"{card}/device/device") or 0
        name = host.text(f"{card}/device/product_name") or _NAMES.get(device, "AMD GPU")
        found.append(AmdGpu(name, None, f"{AMD_VENDOR:04x}:{device:04x}", card, None, True))
    return found


def _driverless(host: Host) -> list[AmdGpu]:
    """Display controllers on the PCI bus that no driver has taken."""
    found = []
    for path in host.glob("sys/bus/pci/devices/*"):
        is_display = (host.number(f"{path}/class") or 0) >> 16 == _DISPLAY_CLASS
        if is_display and host.number(f"{path}/vendor") == AMD_VENDOR and not host.exists(f"{path}/driver"):
            device = host.number(f"{path}/device") or 0
            pci_id = f"{AMD_VENDOR:04x}:{device:04x}"
            found.append(AmdGpu(_NAMES.get(device, "AMD GPU"), None, pci_id, None, None, False))
    return found


def _nvidia(host: Host) -> tuple[str, ...]:
    names = []
    for path in host.glob("proc/driver/nvidia/gpus/*/information"):
        for line in (host.text(path) or "").splitlines():
            label, _, value = line.partition(":")
            if label.strip() == "Model":
                names.append(value.strip())
    return tuple(names)
