"""Short fuzzing for the ordinary test run: every input of the corpus, and some hundreds of new ones for each target."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.limits import bounded
from tests.fuzz.targets import TARGETS, prepare

CORPUS = Path(__file__).resolve().parent / "corpus"
EXAMPLES = {"gguf": 400, "model": 250, "chat": 400, "snapshot": 200, "settings": 250, "benchmark": 300}


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


def test_the_bounds_are_real() -> None:
    """A target that asks for more than 1 GiB is caught, touched or not."""

    def greedy(ask: Callable[[], object]) -> None:
        with bounded():
            ask()

    with pytest.raises(MemoryError):
        greedy(lambda: bytearray(3 << 30))
    import torch

    with pytest.raises(RuntimeError, match="allocate"):
        greedy(lambda: torch.empty(3 << 30, dtype=torch.uint8))
    with bounded():
        assert len(bytes(1 << 20)) == 1 << 20


def test_every_target_has_seeds() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} == set(TARGETS)
