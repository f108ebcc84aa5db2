"""Create the virtual environment that `make` uses and install the locked packages into it.

Runs on the standard library alone. A torch that the outer interpreter can import is kept (a ROCm or CUDA
wheel the user chose): the environment then sees the outer packages and pip is told not to replace it. hip-python
follows the ROCm of that torch.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

_PROBE = "import torch; print(torch.__version__, torch.version.hip)"
_OF_HIP = ("hip-python==", "rocm-bindings-hip==")  # follow the ROCm that torch was built with


@dataclass(frozen=True)
class Torch:
    """A torch that can be imported, and the version of ROCm's HIP it was built with, if any."""

    version: str
    hip: str | None


def importable_torch(python: str) -> Torch | None:
    """What `python` imports, or None."""
    found = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return None
    version, hip = found.stdout.split()
    return Torch(version, None if hip == "None" else hip)


def create_environment(venv: Path) -> Path:
    """Make `venv` unless a whole one exists; return its interpreter.

    One without pip gets it: a Python without its `venv` package (Debian, Ubuntu) leaves such a one, and other tools do.
    """
    interpreter = venv / "bin" / "python"
    if not _has_pip(interpreter):
        outer = importable_torch(sys.executable)
        options = ["--system-site-packages"] if outer else []
        make = [sys.executable, "-m", "venv", *options, str(venv)]
        add_pip = [str(interpreter), "-m", "ensurepip", "--default-pip"]
        subprocess.run(add_pip if interpreter.exists() else make, check=True)
        if outer:
            print(f"keeping torch {outer.version} of {sys.executable}")
            if sys.prefix != sys.base_prefix:
                _see_packages_of_this_environment(venv)
    return interpreter


def _has_pip(interpreter: Path) -> bool:
    command = [str(interpreter), "-m", "pip", "--version"]
    return interpreter.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


def _see_packages_of_this_environment(venv: Path) -> None:
    """`--system-site-packages` shows the system's packages alone, also when a virtual environment makes another."""
    inside = sysconfig.get_path("purelib", vars={"base": str(venv), "platbase": str(venv)})
    own = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    Path(inside, "outer_environment.pth").write_text("\n".join(own) + "\n")


def wanted_lines(lock: str, kept: Torch | None) -> list[str]:
    """The lock without the torch that is kept; of hip-python the version whose first number is that torch's ROCm."""
    lines = lock.splitlines()
    if kept is None:
        return lines
    lines = [line for line in lines if not line.startswith("torch==")]
    if kept.hip is None or f"hip-python=={kept.hip.split('.')[0]}." in lock:
        return lines
    return [line for line in lines if not line.startswith(_OF_HIP)] + [f"hip-python=={kept.hip.split('.')[0]}.*"]


def install(interpreter: Path, lock: Path) -> None:
    """Install the lock and this project; the torch already importable inside `venv` stays."""
    kept = importable_torch(str(interpreter))
    with tempfile.TemporaryDirectory() as scratch:
        requirements = Path(scratch, "requirements.txt")
        requirements.write_text("\n".join(wanted_lines(lock.read_text(), kept)) + "\n")
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        constraint = []
        if kept:
            pinned = Path(scratch, "kept.txt")
            pinned.write_text(f"torch=={kept.version}\n")
            constraint = ["--constraint", str(pinned)]
        subprocess.run([*pip, *constraint, "-r", str(requirements)], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", "."], check=True, env={**os.environ})


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  this file runs on whatever python3 is there
        sys.exit("Haloband needs Python 3.11 or newer: run make PYTHON=python3.11")
    venv, lock = Path(sys.argv[1]), Path(sys.argv[2])
    print("setting up Haloband (once)", flush=True)
    try:
        install(create_environment(venv), lock)
    except subprocess.CalledProcessError as failure:
        sys.exit(f"setup stopped: {' '.join(map(str, failure.cmd))} failed with status {failure.returncode}")


if __name__ == "__main__":
    main()
