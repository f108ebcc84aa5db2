"""The masks that are never allocated: an engine with them answers the same, bit for bit, and needs their bytes."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from engine.cache_shape import CacheShape
from engine.ledger import all_layers
from engine.plan import Step
from tests.support.retained_mask import masked
from tests.support.running import feed, network_of, timeline_of
from tests.support.tiny_model import oracle_case

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("chunk", (700, 301, 128))
def test_a_retained_mask_changes_no_bit(tiny_path: Path, chunk: int) -> None:
    network = network_of(tiny_path)
    ids = oracle_case(700)["input_ids"].tolist()
    analytic, explicit = timeline_of(network, context=1024), timeline_of(masked(network), context=1024)
    assert torch.equal(feed(analytic, ids, chunk), feed(explicit, ids, chunk))
    for ours, theirs in zip(analytic.state.layers, explicit.state.layers, strict=True):
        assert torch.equal(ours.compressed, theirs.compressed)
        assert torch.equal(ours.index, theirs.index)
        for a, b in zip(ours.volatile(), theirs.volatile(), strict=True):
            assert torch.equal(a, b)


def peaks(model: Path, tokens: int) -> tuple[int, int]:
    """Bytes with retained masks and without, each of a process of its own."""

    def peak(kind: str) -> int:
        command = [sys.executable, "-m", "tests.support.retained_mask", str(model), str(tokens), kind]
        return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)

    with ThreadPoolExecutor() as pool:
        retained, analytic = pool.map(peak, ("retained", "analytic"))
    return retained, analytic


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from the Linux kernel")
def test_the_masks_take_the_bytes_that_the_ledger_says(tiny_path: Path) -> None:
    tokens = 4096  # half a gigabyte of masks, beside which a process's own few megabytes are no matter
    config = network_of(tiny_path).config
    promised = sum(layer.mask_bytes for layer in all_layers(CacheShape.from_config(config), tokens, [Step(0, tokens)]))
    retained, analytic = peaks(tiny_path, tokens)
    assert retained - analytic == pytest.approx(promised, rel=0.05)
