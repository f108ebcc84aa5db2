"""The kernel, its amdgpu driver and the GPU's firmware: versions that are known to fail on gfx1151.

Sources: kernels before 6.18.4 and ROCm before 7.2 disagree about the registers of gfx1151 (ROCm/TheRock issue 2991;
Ubuntu's OEM kernel has the change from 6.14.0-1018 on); MES firmware 0x83 of linux-firmware 20251125 hangs the GPU
(ROCm issue 5724).
"""

from collections.abc import Iterator

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import Host
from app.doctor.version import parse_ubuntu_kernel, parse_version

KERNEL_WANTED = (6, 18, 4)
_OEM_WANTED = ((6, 14, 0), 1018)
_BAD_MES = 0x83
_MES_MASK = 0xFFF  # the high bits of the counter are not part of the firmware's own version


def check_driver(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """The kernel always; driver and firmware where there is an AMD GPU."""
    yield _kernel(host, hardware)
    if hardware.has_amd:
        yield _amdgpu(host)
        yield from _firmware(host, hardware)


def has_register_fix(release: str) -> bool:
    """Whether a kernel of this name reports the register file of gfx1151 in full."""
    ubuntu = parse_ubuntu_kernel(release)
    if ubuntu is not None and ubuntu[2] == "oem" and ubuntu[0] == _OEM_WANTED[0]:
        return ubuntu[1] >= _OEM_WANTED[1]
    version = parse_version(release)
    return version is not None and version >= KERNEL_WANTED


def _kernel(host: Host, hardware: Hardware) -> Finding:
    release = host.text("proc/sys/kernel/osrelease")
    title, found = "Kernel", f"Linux {release}" if release else "not Linux, or unknown"
    if not hardware.is_strix_halo:
        return Finding("kernel", Topic.DRIVER, title, Severity.OK if release else Severity.NOTE, found)
    wanted = "6.18.4 or newer (Ubuntu's OEM kernel: 6.14.0-1018 or newer)"
    if release and has_register_fix(release):
        return Finding("kernel", Topic.DRIVER, title, Severity.OK, found, wanted)
    advice = (
        "Install a newer kernel and restart; older ones tell ROCm too small a register file for gfx1151, and programs "
        "crash under load."
    )
    return Finding("kernel", Topic.DRIVER, title, Severity.WARNING, found, wanted, advice)


def _amdgpu(host: Host) -> Finding:
    wanted = "the kernel's own amdgpu driver"
    if not host.exists("sys/module/amdgpu"):
        advice = "Load it with `sudo modprobe amdgpu`, and remove it from /etc/modprobe.d if it is listed there."
        return Finding("amdgpu", Topic.DRIVER, "amdgpu driver", Severity.PROBLEM, "not loaded", wanted, advice)
    version = host.text("sys/module/amdgpu/version")
    if version is None:
        return Finding("amdgpu", Topic.DRIVER, "amdgpu driver", Severity.OK, "of the kernel", wanted)
    advice = "Nothing, if it works. On crashes remove the amdgpu-dkms package and restart into the kernel's own driver."
    found = f"{version}, installed beside the kernel (DKMS)"
    return Finding("amdgpu", Topic.DRIVER, "amdgpu driver", Severity.NOTE, found, wanted, advice)


def _firmware(host: Host, hardware: Hardware) -> Iterator[Finding]:
    if hardware.main is None or hardware.main.card is None:
        return
    version = host.number(f"{hardware.main.card}/device/fw_version/mes_fw_version")
    if version is None:
        return
    bad = version & _MES_MASK == _BAD_MES
    yield Finding(
        "firmware",
        Topic.DRIVER,
        "GPU firmware",
        Severity.PROBLEM if bad else Severity.OK,
        f"MES {version & _MES_MASK:#04x}",
        "any but MES 0x83 (linux-firmware 20251125)",
        "Install another linux-firmware, 20260110 for example, and restart: this one hangs the GPU." if bad else "",
        {"mes": version},
    )
