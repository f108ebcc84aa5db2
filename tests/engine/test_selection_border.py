"""The first tokens that select, behind tokens that see exactly as many rows without selecting."""

from pathlib import Path

import torch

from engine.plan import Step
from tests.support.running import drain, network_of, timeline_of
from tests.support.tiny_model import write_tiny_gguf

TOP_K = 40
FIRST_SELECTING = 4 * (TOP_K + 1) - 1  # beyond the raw window, so that its neighbours see equally many raw rows too


def test_a_step_across_the_border_equals_two_steps(tmp_path: Path) -> None:
    network = network_of(write_tiny_gguf(tmp_path / "tiny.gguf", attention__indexer__top_k=TOP_K))
    ids = torch.randint(7, network.config.vocab, (240,), generator=torch.Generator().manual_seed(0))
    whole = drain(network.run_step(ids, timeline_of(network).state, Step(0, 240)))
    state = timeline_of(network).state
    drain(network.run_step(ids[:FIRST_SELECTING], state, Step(0, FIRST_SELECTING)))
    state.position = FIRST_SELECTING
    rest = drain(network.run_step(ids[FIRST_SELECTING:], state, Step(FIRST_SELECTING, 240 - FIRST_SELECTING)))
    torch.testing.assert_close(whole[FIRST_SELECTING:], rest, atol=1e-4, rtol=0)
