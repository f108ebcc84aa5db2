"""The compiler of the GPU kernels: LLVM before 22 miscompiles sums over a wave on gfx11.

There a v_permlanex16 may be sunk below the mask of one lane, where it reads lanes that are off (LLVM pull requests
142962 and 182162; all ROCm before 7.2.2). The kernels pin every such value, so the sums are right all the same; other
programs on the machine have no such guard.
"""

import re
from collections.abc import Iterator

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import Host
from app.doctor.rocm import read_versions
from app.doctor.version import Version, parse_version, version_text

FIRST_GOOD_LLVM = 22
FIRST_GOOD_ROCM = (7, 2, 2)
_ROCM_PREVIEWS = (7, 9)  # from here on the number says nothing about the compiler
_ZIG_LLVM = {14: 19, 15: 20, 16: 21, 17: 22}  # minor version of zig 0.x to its LLVM
_CLANG = re.compile(r"clang version (\d+)")


def check_compiler(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """The compiler in ROCm, and the ziglang package that compiles without a GPU; each if it is there and is used."""
    if host.is_packaged:
        return
    rocm = read_versions(host).rocm
    llvm = _rocm_llvm(host)
    if llvm is not None or rocm is not None:
        yield _rocm_compiler(llvm, rocm, hardware)
    zig = parse_version(host.package_version("ziglang"))
    if zig is not None:
        yield _zig_compiler(zig)


def _rocm_llvm(host: Host) -> int | None:
    folder = (host.environment.get("ROCM_PATH") or "/opt/rocm").rstrip("/")
    for command in ((f"{folder}/llvm/bin/clang", "--version"), ("hipcc", "--version")):
        done = host.run(command)
        found = _CLANG.search(done.stdout) if done is not None else None
        if found is not None:
            return int(found.group(1))
    return None


def _rocm_compiler(llvm: int | None, rocm: Version | None, hardware: Hardware) -> Finding:
    title, wanted = "GPU compiler", f"LLVM {FIRST_GOOD_LLVM}, in ROCm 7.2.2 or newer"
    found = _compiler_name(llvm, rocm)
    good = _is_good(llvm, rocm)
    if good is None:
        return Finding("compiler", Topic.SOFTWARE, title, Severity.NOTE, f"{found}, a preview", wanted)
    if good:
        return Finding("compiler", Topic.SOFTWARE, title, Severity.OK, found, wanted, "", {"llvm": llvm})
    advice = (
        "Install ROCm 7.2.2 or newer. This compiler gets sums over a wave wrong; Haloband's kernels guard against it, "
        "other programs may not."
    )
    severity = Severity.WARNING if hardware.has_amd else Severity.NOTE
    return Finding("compiler", Topic.SOFTWARE, title, severity, found, wanted, advice, {"llvm": llvm})


def _compiler_name(llvm: int | None, rocm: Version | None) -> str:
    """Of the two numbers those that are known; one of them is."""
    if rocm is None:
        return f"LLVM {llvm}"
    return f"LLVM {llvm} of ROCm {version_text(rocm)}" if llvm else f"that of ROCm {version_text(rocm)}"


def _is_good(llvm: int | None, rocm: Version | None) -> bool | None:
    """Releases go by their own number: 7.2.0 has an LLVM that is called 22 and still lacks the correction.

    None where it cannot be told.
    """
    if rocm is not None and not _ROCM_PREVIEWS <= rocm < (10,):
        return rocm >= FIRST_GOOD_ROCM
    return None if llvm is None else llvm >= FIRST_GOOD_LLVM


def _zig_compiler(zig: Version) -> Finding:
    llvm = _ZIG_LLVM.get(zig[1]) if zig[0] == 0 and len(zig) > 1 else None
    title, wanted = "ziglang (compiles without a GPU)", "0.17 or newer (LLVM 22)"
    found = f"{version_text(zig)}, LLVM {llvm}" if llvm else version_text(zig)
    if zig >= (0, 17):
        return Finding("ziglang", Topic.SOFTWARE, title, Severity.OK, found, wanted)
    advice = "Install it with `pip install 'ziglang>=0.17'`: older ones get sums over a wave wrong on gfx11."
    return Finding("ziglang", Topic.SOFTWARE, title, Severity.WARNING, found, wanted, advice)
