"""Version numbers as they are written by kernels, ROCm, compilers and Python packages. Pure functions."""

import re

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_UBUNTU_KERNEL = re.compile(r"(\d+)\.(\d+)\.(\d+)-(\d+)-(\w+)")

Version = tuple[int, ...]


def parse_version(text: str | None) -> Version | None:
    """The first run of dotted numbers: "7.2.0-43" is (7, 2, 0), "6.18.9-200.fc43" is (6, 18, 9). None without one."""
    found = _NUMBERS.search(text or "")
    return tuple(int(part) for part in found.group().split(".")) if found else None


def version_text(version: Version, parts: int = 3) -> str:
    """At most the first `parts` numbers, dotted."""
    return ".".join(map(str, version[:parts]))


def parse_ubuntu_kernel(release: str) -> tuple[Version, int, str] | None:
    """(version, build, flavour) of "6.14.0-1018-oem"; None for other distributions' names."""
    found = _UBUNTU_KERNEL.match(release)
    if found is None:
        return None
    *version, build, flavour = found.groups()
    return tuple(map(int, version)), int(build), flavour
