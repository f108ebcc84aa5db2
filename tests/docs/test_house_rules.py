"""What CONTRIBUTING promises of the files themselves: none is long (data, and what a tool writes, does not count), and
imports go one way."""

import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
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


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for types alone count: who knows whom is a matter of the text. The error names the circle."""
    graph = grimp.build_graph("app", "engine", "kernels", "resources", cache_dir=None)
    assert len(graph.modules) > 300
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()
