"""Python itself, packages that fail together (PySide6 6.12 aborts on Python below 3.12), and the window's libraries."""

from collections.abc import Iterator

from app.display import DEBIAN_PACKAGES
from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import Host
from app.doctor.version import parse_version, version_text

_LEAST_PYTHON = (3, 11)
_BAD_QT, _GOOD_PYTHON = (6, 12), (3, 12)
_NEEDED = ("numpy", "tokenizers", "platformdirs", "pyqtgraph", "Pygments", "markdown-it-py", "psutil", "pypdf")


def check_python_packages(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """Python's version, Qt's, and missing libraries and packages; a package of ours brings all but the libraries."""
    library = host.missing_window_library()
    if library is not None:
        yield _no_library(library)
    if host.is_packaged:
        return
    yield _python(host)
    yield _qt(host)
    missing = [name for name in _NEEDED if host.package_version(name) is None]
    if missing:
        yield Finding(
            "packages",
            Topic.SOFTWARE,
            "Python packages",
            Severity.PROBLEM,
            f"not installed: {', '.join(missing)}",
            "all of them",
            "Run `make setup`, or `pip install haloband`.",
        )


def _no_library(library: str) -> Finding:
    return Finding(
        "window_libraries",
        Topic.SOFTWARE,
        "Libraries of the window",
        Severity.WARNING,
        f"{library} is missing",
        "all of them",
        f"On Debian and Ubuntu, run `sudo apt install {DEBIAN_PACKAGES}`. "
        "The commands work without it, the window does not.",
    )


def _python(host: Host) -> Finding:
    good = host.python >= _LEAST_PYTHON
    return Finding(
        "python",
        Topic.SOFTWARE,
        "Python",
        Severity.OK if good else Severity.PROBLEM,
        version_text(host.python),
        "3.11 or newer",
        "" if good else "Run `make setup PYTHON=python3.12` with a newer Python.",
    )


def _qt(host: Host) -> Finding:
    text = host.package_version("PySide6-Essentials") or host.package_version("PySide6")
    version = parse_version(text)
    title, wanted = "PySide6", "6.8 to 6.11, or newer on Python 3.12 and later"
    if version is None:
        advice = "Run `make setup`. The commands work without it, the window does not."
        return Finding("pyside6", Topic.SOFTWARE, title, Severity.WARNING, "none", wanted, advice)
    if version[:2] >= _BAD_QT and host.python < _GOOD_PYTHON:
        advice = (
            "Run `pip install 'PySide6-Essentials<6.12'`, or use Python 3.12: this pair aborts the window after some "
            "thousand events."
        )
        found = f"{text} on Python {version_text(host.python, 2)}"
        return Finding("pyside6", Topic.SOFTWARE, title, Severity.PROBLEM, found, wanted, advice)
    return Finding("pyside6", Topic.SOFTWARE, title, Severity.OK, text or "", wanted)
