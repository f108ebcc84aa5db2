"""The tiny oracle model, whose four heads fill a quarter of a matrix tile, on the GPU backend's kernels (emulated)."""

from pathlib import Path

import pytest

from engine.model import Network
from tests.engine.backends.conftest import Networks
from tests.engine.backends.test_gpu_answers import divergence, timeline_on
from tests.support.running import feed
from tests.support.tiny_model import oracle_case

MOST_DIVERGENCE = 1e-4  # nats: that of tests/engine/test_oracle_nano.py, for rows and products in F16
DECODED = 4


@pytest.fixture
def network(networks: Networks, tiny_path: Path) -> Network:
    return networks(str(tiny_path))[0]


@pytest.mark.parametrize("tokens", (5, 129))
def test_the_tiny_model_gives_the_oracles_answers(network: Network, tokens: int) -> None:
    """129 tokens leave more compressed rows than are selected, wrap the ring, and close a window of 128."""
    case, timeline = oracle_case(tokens), timeline_on(network)
    logits = feed(timeline, case["input_ids"].tolist())
    program = network.backend.token_program(timeline.state, selects=True)
    assert program is not None
    expected = case["greedy_ids"].tolist()
    for step in range(DECODED):
        assert divergence(logits, case["greedy_logits"][step]) <= MOST_DIVERGENCE
        assert int(logits.argmax()) == expected[step]
        logits = program.run(expected[step], timeline.position)
        timeline.accept(expected[step])
