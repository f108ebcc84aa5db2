"""Is there a GPU, and is it one that the kernels are made for?"""

from collections.abc import Iterator

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import TARGET, AmdGpu, Hardware, read_hardware
from app.doctor.host import Host
from app.doctor.rocm import torch_build

_WANTED = f"{TARGET} (Strix Halo) for DeepSeek V4 Flash itself; the embedded model runs on the processor too"


def has_usable_gpu(host: Host) -> bool:
    """Whether there is a GPU and a torch built for it, as far as can be told without importing torch."""
    hardware, (hip, cuda) = read_hardware(host), torch_build(host)
    return (hardware.has_amd and hip is not None) or (bool(hardware.nvidia) and cuda is not None)


def check_gpu(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """One finding for each GPU, or one that says there is none."""
    for gpu in hardware.amd:
        yield _amd_finding(gpu)
    for name in hardware.nvidia:
        yield Finding(
            "gpu", Topic.GPU, "GPU", Severity.NOTE, f"{name}: used through CUDA if torch is built for it", _WANTED
        )
    if not hardware.amd and not hardware.nvidia:
        yield Finding("gpu", Topic.GPU, "GPU", Severity.NOTE, "none", _WANTED)


def _amd_finding(gpu: AmdGpu) -> Finding:
    severity, found, advice = _verdict(gpu)
    facts = {"name": gpu.name, "gfx": gpu.gfx, "pci_id": gpu.pci_id}
    return Finding("gpu", Topic.GPU, "GPU", severity, found, _WANTED, advice, facts)


def _verdict(gpu: AmdGpu) -> tuple[Severity, str, str]:
    if not gpu.has_driver:
        return (
            Severity.PROBLEM,
            f"{gpu.name} ({gpu.pci_id}), but no driver has taken it",
            "Load the driver with `sudo modprobe amdgpu`; if that fails, install a newer kernel and linux-firmware.",
        )
    if gpu.gfx is None:
        return (
            Severity.WARNING,
            f"{gpu.name} ({gpu.pci_id}), which the compute driver does not list",
            "Install a newer kernel, and see that it is built with HSA_AMD (`grep HSA_AMD /boot/config-$(uname -r)`).",
        )
    if gpu.gfx != TARGET:
        return (
            Severity.WARNING,
            f"{gpu.name}: {gpu.gfx}",
            f"The kernels are made and checked for {TARGET}. On {gpu.gfx} they may work, but nothing is promised.",
        )
    return Severity.OK, f"{gpu.name}: {gpu.gfx}", ""
