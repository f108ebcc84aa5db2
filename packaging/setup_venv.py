"""Create the virtual environment that `make` uses and install the locked packages into it.

Runs on the standard library alone. A torch that the outer interpreter can import is kept (a ROCm or CUDA
wheel the user chose): the environment then sees the outer packages and pip is told not to replace it.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def importable_torch(python: str) -> str | None:
    """Return the version of the torch that `python` imports, or None."""
    probe = "import torch; print(torch.__version__)"
    found = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def create_environment(venv: Path) -> Path:
    """Make `venv` unless it exists; return its interpreter."""
    interpreter = venv / "bin" / "python"
    if not interpreter.exists():
        outer = importable_torch(sys.executable)
        options = ["--system-site-packages"] if outer else []
        if outer:
            print(f"keeping torch {outer} of {sys.executable}")
        subprocess.run([sys.executable, "-m", "venv", *options, str(venv)], check=True)
    return interpreter


def install(interpreter: Path, lock: Path) -> None:
    """Install the lock and this project; the torch already importable inside `venv` stays."""
    kept = importable_torch(str(interpreter))
    wanted = lock.read_text().splitlines()
    if kept:
        wanted = [line for line in wanted if not line.startswith("torch==")]
    with tempfile.TemporaryDirectory() as scratch:
        requirements = Path(scratch, "requirements.txt")
        requirements.write_text("\n".join(wanted) + "\n")
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        constraint = []
        if kept:
            pinned = Path(scratch, "kept.txt")
            pinned.write_text(f"torch=={kept}\n")
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
