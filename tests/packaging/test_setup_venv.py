"""`make setup` keeps a torch that is there, wherever it is, and picks the hip-python that belongs to it."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.packaging.test_desktop_files import PACKAGING, load

LOCK = (PACKAGING / "requirements.lock").read_text()


def put_torch(environment: Path, version: str, hip: str) -> Path:
    """A virtual environment with a stand-in for a ROCm torch; its interpreter."""
    venv.create(environment, with_pip=False, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "torch").mkdir()
    text = f"from types import SimpleNamespace\n__version__ = {version!r}\nversion = SimpleNamespace(hip={hip!r})\n"
    (packages / "torch" / "__init__.py").write_text(text)
    return environment / "bin" / "python"


@pytest.mark.skipif(os.name != "posix", reason="make runs on Linux")
def test_the_torch_of_a_virtual_environment_is_seen_in_the_one_it_makes(tmp_path: Path) -> None:
    outer = put_torch(tmp_path / "outer", "2.11.0+rocm7.2", "7.2.53211")
    made = tmp_path / "made"
    # As the file does it, with `venv` told to leave pip out: that takes seconds and is not the question here.
    script = (
        "import setup_venv, subprocess, pathlib; run = subprocess.run\n"
        "def quick(words, **k): return run([*words, '--without-pip'] if 'venv' in words else words, **k)\n"
        f"subprocess.run = quick; setup_venv.create_environment(pathlib.Path({str(made)!r}))"
    )
    done = subprocess.run([outer, "-c", script], cwd=PACKAGING, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "keeping torch 2.11.0+rocm7.2" in done.stdout, done.stderr
    setup = load("setup_venv")
    assert setup.importable_torch(str(made / "bin" / "python")) == setup.Torch("2.11.0+rocm7.2", "7.2.53211")


def test_an_environment_without_pip_gets_it_and_keeps_what_is_in_it(tmp_path: Path) -> None:
    """Debian's Python without python3-venv leaves one and fails; after that package is installed, setup must work."""
    setup, broken = load("setup_venv"), tmp_path / "broken"
    venv.create(broken, with_pip=False, symlinks=True)
    (broken / "kept").touch()
    interpreter = setup.create_environment(broken)
    found = subprocess.run([interpreter, "-m", "pip", "--version"], check=True, capture_output=True, text=True)
    assert str(broken) in found.stdout and (broken / "kept").exists()


def test_without_a_torch_there_is_none(tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=False, symlinks=True)
    assert load("setup_venv").importable_torch(str(tmp_path / "empty" / "bin" / "python")) is None


def names(lines: list[str]) -> list[str]:
    return [line.partition("==")[0] for line in lines if "==" in line]


def test_nothing_changes_where_no_torch_is_kept() -> None:
    assert load("setup_venv").wanted_lines(LOCK, None) == LOCK.splitlines()


def test_a_kept_torch_without_rocm_leaves_the_rest_alone() -> None:
    setup = load("setup_venv")
    kept = setup.wanted_lines(LOCK, setup.Torch("2.11.0+cu130", None))
    assert kept == [line for line in LOCK.splitlines() if not line.startswith("torch==")]
    assert "torch" in names(LOCK.splitlines()) and "hip-python" in names(kept)


@pytest.mark.parametrize("hip", ["7.2.53211", "6.4.1"])
def test_hip_python_follows_the_rocm_of_the_kept_torch(hip: str) -> None:
    setup = load("setup_venv")
    lines = setup.wanted_lines(LOCK, setup.Torch("2.11.0", hip))
    assert [line for line in lines if line.startswith("hip-python")] == [f"hip-python=={hip[0]}.*"]
    assert not {"torch", "rocm-bindings-hip"} & set(names(lines))


def test_the_locked_hip_python_serves_its_own_rocm() -> None:
    setup = load("setup_venv")
    (locked,) = [line for line in LOCK.splitlines() if line.startswith("hip-python==")]
    assert locked in setup.wanted_lines(LOCK, setup.Torch("2.13.0", locked.partition("==")[2][:6]))


def test_an_old_python_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    with pytest.raises(SystemExit, match=r"3\.11 or newer"):
        load("setup_venv").main()
