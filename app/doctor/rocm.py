"""ROCm, torch and hip-python: which versions are there, and do they belong together?

Versions come from files and package metadata; nothing is imported. torch.version.hip and .cuda are read from the text
of torch/version.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import TARGET, Hardware
from app.doctor.host import Host
from app.doctor.version import Version, parse_version, version_text

# The file names the register count of gfx1151 wrongly in these (ROCm/TheRock issue 2991); 7.9 and 7.10 are previews.
_REGISTER_BUG_BEFORE = (7, 2)
_REGISTER_BUG_PREVIEWS = ((7, 9), (7, 10))
_VERSION_LINE = r"^{name}\b[^=\n]*=\s*['\"]([^'\"]+)['\"]"
_WHEELS = "Install torch from AMD's wheels for gfx1151 (docs/strix-halo.md)"


@dataclass(frozen=True, slots=True)
class RocmVersions:
    """What is installed. `torch_hip` is the ROCm that torch was built with; `torch_cuda` its CUDA, as text."""

    rocm: Version | None
    rocm_source: str
    torch: str | None
    torch_hip: Version | None
    torch_cuda: str | None
    hip_python: Version | None


def read_versions(host: Host) -> RocmVersions:
    """Look in the ROCm folder, the rocm-sdk wheels and hipconfig, in the order in which hip-python loads."""
    rocm, source = _read_rocm(host)
    hip, cuda = torch_build(host)
    hip_python = parse_version(host.package_version("hip-python"))
    return RocmVersions(rocm, source, host.package_version("torch"), hip, cuda, hip_python)


def torch_build(host: Host) -> tuple[Version | None, str | None]:
    """The ROCm and the CUDA that torch was built with, None for neither."""
    text = host.package_file("torch", "torch/version.py") or ""
    return parse_version(_version_line(text, "hip")), _version_line(text, "cuda")


def check_rocm(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """ROCm, torch, hip-python, their agreement, and variables that make them lie."""
    versions = read_versions(host)
    if host.is_packaged:
        yield _packaged(versions, hardware)
        return
    yield _rocm(versions, hardware)
    yield _torch(versions, hardware)
    yield _hip_python(versions, hardware)
    yield from _agreement(versions, hardware)
    yield from _overrides(host, hardware)


def has_register_bug(rocm: Version) -> bool:
    """Whether this ROCm miscounts the registers of gfx1151."""
    return rocm < _REGISTER_BUG_BEFORE or rocm[:2] in _REGISTER_BUG_PREVIEWS


def _read_rocm(host: Host) -> tuple[Version | None, str]:
    for package in ("rocm-sdk-core", "rocm"):
        if version := parse_version(host.package_version(package)):
            return version, f"{package} package"
    folder = host.environment.get("ROCM_PATH") or host.environment.get("ROCM_HOME") or "/opt/rocm"
    if version := parse_version(host.text(f"{folder.lstrip('/')}/.info/version")):
        return version, folder
    done = host.run(("hipconfig", "--version"))
    if done is not None and done.status == 0 and (version := parse_version(done.stdout)):
        return version, "hipconfig"
    return None, ""


def _version_line(text: str, name: str) -> str | None:
    found = re.search(_VERSION_LINE.format(name=name), text, re.MULTILINE)
    return found.group(1) if found else None


def _finding(
    key: str, title: str, severity: Severity, found: str, wanted: str, advice: str, hardware: Hardware
) -> Finding:
    """A finding about ROCm matters only where there is an AMD GPU; elsewhere it is a note without advice."""
    if not hardware.has_amd and severity.rank > Severity.NOTE.rank:
        severity, wanted, advice = Severity.NOTE, "nothing on a machine without an AMD GPU", ""
    return Finding(key, Topic.SOFTWARE, title, severity, found, wanted, advice)


def _packaged(versions: RocmVersions, hardware: Hardware) -> Finding:
    """The package carries a torch of its own, which no ROCm of the machine can change."""
    found = f"{versions.torch}, for the processor only, as in every package of Haloband"
    if not hardware.has_amd:
        return Finding("torch", Topic.SOFTWARE, "torch", Severity.OK, found)
    advice = "Install Haloband from source with AMD's torch (docs/strix-halo.md); your chats and settings stay."
    wanted = "a ROCm build, to use the AMD GPU"
    return Finding("torch", Topic.SOFTWARE, "torch", Severity.WARNING, found, wanted, advice)


def _rocm(versions: RocmVersions, hardware: Hardware) -> Finding:
    wanted = "7.2.2 or newer"
    if versions.rocm is None:
        advice = f"{_WHEELS}; they bring ROCm along. Or install your distribution's ROCm."
        return _finding("rocm", "ROCm", Severity.PROBLEM, "none", wanted, advice, hardware)
    found = f"{version_text(versions.rocm)} ({versions.rocm_source})"
    if has_register_bug(versions.rocm) and hardware.is_strix_halo:
        advice = f"Install ROCm 7.2.2 or newer: this one miscounts the registers of {TARGET} and crashes under load."
        return _finding("rocm", "ROCm", Severity.PROBLEM, found, wanted, advice, hardware)
    return _finding("rocm", "ROCm", Severity.OK, found, wanted, "", hardware)


def _torch(versions: RocmVersions, hardware: Hardware) -> Finding:
    wanted = "a ROCm build" if hardware.has_amd else "any"
    if versions.torch is None:
        return Finding(
            "torch", Topic.SOFTWARE, "torch", Severity.PROBLEM, "none", wanted, f"{_WHEELS}, or run `make setup`."
        )
    if versions.torch_hip is not None:
        found = f"{versions.torch}, built with ROCm {version_text(versions.torch_hip, 2)}"
        return _finding("torch", "torch", Severity.OK, found, wanted, "", hardware)
    kind = f"CUDA {versions.torch_cuda}" if versions.torch_cuda else "the processor only"
    severity = Severity.PROBLEM if hardware.has_amd else Severity.OK
    advice = f"{_WHEELS}: this one cannot use the AMD GPU." if hardware.has_amd else ""
    return _finding("torch", "torch", severity, f"{versions.torch}, built for {kind}", wanted, advice, hardware)


def _hip_python(versions: RocmVersions, hardware: Hardware) -> Finding:
    wanted = "the same major version as ROCm" if hardware.has_amd else ""
    if versions.hip_python is None:
        advice = "Install it with `pip install hip-python`, in the version of your ROCm."
        return _finding("hip_python", "hip-python", Severity.PROBLEM, "none", wanted, advice, hardware)
    return _finding("hip_python", "hip-python", Severity.OK, version_text(versions.hip_python), wanted, "", hardware)


def _agreement(versions: RocmVersions, hardware: Hardware) -> Iterator[Finding]:
    """HIP's interface changes with the major version: different ones in a process crash or give nonsense."""
    known = {
        "ROCm": versions.rocm,
        "torch": versions.torch_hip,
        "hip-python": versions.hip_python,
    }
    present = {name: version for name, version in known.items() if version is not None}
    if not hardware.has_amd or len(present) < 2:
        return
    found = ", ".join(f"{name} {version_text(version, 2)}" for name, version in present.items())
    wanted = "one ROCm version in all of them"
    base = versions.rocm or versions.torch_hip
    if len({version[0] for version in present.values()}) > 1:
        advice = _agreement_advice(versions)
        yield Finding("agreement", Topic.SOFTWARE, "Agreement", Severity.PROBLEM, found, wanted, advice)
    elif base is not None and len({version[:2] for version in present.values()}) > 1:
        advice = f"Works as a rule. On crashes, install `hip-python~={version_text(base, 2)}.0` and the torch for it."
        yield Finding("agreement", Topic.SOFTWARE, "Agreement", Severity.NOTE, found, wanted, advice)
    else:
        yield Finding("agreement", Topic.SOFTWARE, "Agreement", Severity.OK, found, wanted)


def _agreement_advice(versions: RocmVersions) -> str:
    base = versions.rocm or versions.torch_hip
    if base is None:
        return ""
    needs_torch = versions.torch_hip is not None and versions.torch_hip[0] != base[0]
    needs_hip_python = versions.hip_python is not None and versions.hip_python[0] != base[0]
    build = version_text(base, 2)
    if needs_torch and needs_hip_python:
        return f"Install a torch that is built for ROCm {build} and run `pip install 'hip-python=={base[0]}.*'`."
    if needs_torch:
        return f"Install a torch that is built for ROCm {build}."
    return f"Run `pip install 'hip-python=={base[0]}.*'`."


def _overrides(host: Host, hardware: Hardware) -> Iterator[Finding]:
    if not hardware.has_amd:
        return
    override = host.environment.get("HSA_OVERRIDE_GFX_VERSION")
    own = hardware.main.gfx if hardware.main else None
    if override and _override_name(override) != own:
        yield Finding(
            "gfx_override",
            Topic.SOFTWARE,
            "HSA_OVERRIDE_GFX_VERSION",
            Severity.WARNING,
            f"{override}: ROCm takes the GPU for {_override_name(override)}",
            "not set",
            "Unset it: kernels are compiled for the GPU that ROCm names, and code for another one computes wrongly.",
        )
    for name in ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        value = host.environment.get(name)
        if value is not None and value.strip() in ("", "-1"):
            advice = f"Unset {name}: it hides every GPU from this program."
            yield Finding(
                "hidden_gpu", Topic.SOFTWARE, name, Severity.PROBLEM, repr(value), "not set, or a number", advice
            )


def _override_name(override: str) -> str:
    parts = (*(parse_version(override) or ()), 0, 0, 0)
    return f"gfx{parts[0]}{parts[1]:x}{parts[2]:x}"
