"""What CONTRIBUTING promises of the files themselves: none is long. Data, and what a tool writes, does not count."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 500  # lines
WRITTEN_BY_HAND = {".py", ".cpp", ".h", ".hip", ".md", ".toml", ".xml", ".yml", ".desktop", ".spec", ".sh", ".lock", ""}
DATA = ("resources/", "tests/data/", "tests/fuzz/corpus/")


def tracked_files() -> list[Path]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is no checkout, so nobody edits it")
    return [ROOT / name for name in done.stdout.splitlines() if not name.startswith(DATA)]


def test_no_file_is_longer_than_500_lines() -> None:
    files = [path for path in tracked_files() if path.suffix in WRITTEN_BY_HAND and path.is_file()]
    assert len(files) > 300
    lengths = {str(path.relative_to(ROOT)): path.read_bytes().count(b"\n") for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}
