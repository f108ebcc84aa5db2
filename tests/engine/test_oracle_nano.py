"""The embedded model against transformers on its dequantised weights: logits, divergence, greedy text."""

from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import engine
import resources
from engine.loading import Model
from engine.model import Network
from engine.plan import Step
from tests.support.running import drain, feed, greedy, network_of, timeline_of
from tests.support.tiny_model import DATA

SHORT = ("poem", "python", "gpu")
LONG = ("doc_1500", "doc_9133")


@cache
def oracle() -> dict[str, torch.Tensor]:
    return load_file(DATA / "nano" / "oracle.safetensors")


@pytest.fixture(scope="module", params=(False, True), ids=("torch", "native"))
def network(request: pytest.FixtureRequest) -> Network:
    return network_of(Path(resources.embedded_model()), native=request.param)


def run_case(network: Network, case: str) -> tuple[torch.Tensor, list[int]]:
    """Logits of the last four prompt positions, and 24 greedy ids after them."""
    ids = oracle()[f"{case}.input_ids"]
    timeline = timeline_of(network)
    streams = drain(network.run_step(ids, timeline.state, Step(0, len(ids))))
    timeline.state.position = len(ids)
    timeline.tokens.extend(ids.tolist())
    logits = network.logits(streams[-4:])
    return logits, greedy(timeline, logits[-1], 24)[0]


@pytest.mark.parametrize("case", SHORT)
def test_short_prompts_give_the_oracles_logits_and_text(network: Network, case: str) -> None:
    logits, ids = run_case(network, case)
    torch.testing.assert_close(logits, oracle()[f"{case}.logits_last4"], atol=1e-3, rtol=0)
    assert ids == oracle()[f"{case}.greedy_ids"].tolist()


@pytest.mark.parametrize("case", LONG)
def test_long_documents_stay_within_the_divergence_bound(network: Network, case: str) -> None:
    logits, ids = run_case(network, case)
    expected = oracle()[f"{case}.logits_last4"].double().log_softmax(dim=1)
    found = logits.double().log_softmax(dim=1)
    divergence = (expected.exp() * (expected - found)).sum(dim=1).mean()
    assert 0 <= divergence <= 1e-4
    assert ids == oracle()[f"{case}.greedy_ids"].tolist()


@pytest.mark.parametrize("chunk", (1, 5, 129))
def test_a_short_prompt_in_chunks_equals_one_shot(network: Network, chunk: int) -> None:
    ids = oracle()["poem.input_ids"].tolist()
    logits = feed(timeline_of(network), ids, chunk)
    torch.testing.assert_close(logits, oracle()["poem.logits_last4"][-1], atol=1e-3, rtol=0)


@pytest.mark.parametrize("case", SHORT + LONG)
def test_the_public_face_decodes_the_oracles_text(case: str) -> None:
    session = exact_model().session()
    logits = session.prefill(oracle()[f"{case}.input_ids"].tolist())
    ids = []
    for _ in range(24):
        ids.append(int(logits.argmax()))
        logits = session.decode(ids[-1])
    assert ids == oracle()[f"{case}.greedy_ids"].tolist()


@cache
def exact_model() -> Model:
    return engine.load(dtype="float32", kv_rounding="none")
