"""Short fuzzing for the ordinary test run: every input of the corpus, and some hundreds of new ones for each target."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.limits import bounded
from tests.fuzz.targets import TARGETS, prepare

CORPUS = Path(__file__).resolve().parent / "corpus"
EXAMPLES = {
    "gguf": 400,
    "model": 250,
    "chat": 400,
    "snapshot": 200,
    "settings": 250,
    "benchmark": 300,
    "chats": 300,
    "document": 200,
}


@pytest.fixture(scope="module", autouse=True)
def prepared(one_thread: None) -> None:
    prepare()


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_corpus(path: Path) -> None:
    """Seeds, and every input that ever found a fault."""
    with bounded():
        TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_new_inputs(name: str) -> None:
    target = TARGETS[name]
    seeds = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    fresh = st.binary(max_size=300)
    # Bytes put into a seed get past the first checks far more often than bytes alone.
    changed = st.builds(_spliced, st.sampled_from(seeds), st.integers(0, 4000), st.binary(max_size=12), st.booleans())

    @settings(max_examples=EXAMPLES[name], deadline=None, database=None)
    @given(st.one_of(fresh, changed))
    def run(data: bytes) -> None:
        with bounded():
            target(data)

    run()


def _spliced(seed: bytes, at: int, patch: bytes, insert: bool) -> bytes:
    at %= len(seed) + 1
    return seed[:at] + patch + seed[at if insert else at + len(patch) :]


_GREEDY = """
import numpy, torch
from tests.fuzz.limits import TooMuchMemory, bounded

def is_caught(ask):
    try:
        with bounded():
            try:
                ask()
            except MemoryError:
                pass
    except TooMuchMemory:
        return True
    return False

asks = [bytes, lambda size: torch.empty(size, dtype=torch.uint8), lambda size: numpy.empty(size, "u1")]
print([is_caught(lambda: ask(1 << 20)) for ask in asks])
print([is_caught(lambda: ask((2 + index) << 30)) for index, ask in enumerate(asks)])
"""


def test_the_bounds_are_real() -> None:
    """In a fresh process, where nothing has had a high peak yet. What catches its own MemoryError is caught, too."""
    done = subprocess.run([sys.executable, "-c", _GREEDY], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str([False] * 3), str([True] * 3)]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "UTC"])
def test_the_last_second_of_the_calendar_in_every_time_zone(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time that is in range in one zone is past the year 9999 in another."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for path in sorted((CORPUS / "chats").iterdir()):
            TARGETS["chats"](path.read_bytes())
    finally:
        monkeypatch.undo()
        time.tzset()


def test_every_target_has_seeds() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} == set(TARGETS)
