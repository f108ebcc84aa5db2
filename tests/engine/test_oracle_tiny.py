"""Every layer kind against transformers on the tiny seeded model: logits, streams, rows, greedy text, any chunking."""

from pathlib import Path

import pytest
import torch

import engine
from engine.model import Network
from engine.plan import Step
from tests.support.one_thread import one_torch_thread
from tests.support.running import drain, feed, greedy, network_of, timeline_of
from tests.support.tiny_model import CASES, oracle_case

__all__ = ["one_torch_thread"]  # a fixture for every test here

CHUNKS = (1, 2, 3, 4, 5, 7, 31, 127, 128, 129, 300)


@pytest.fixture(scope="module", params=(False, True), ids=("torch", "native"))
def network(request: pytest.FixtureRequest, tiny_path: Path) -> Network:
    return network_of(tiny_path, native=request.param)


@pytest.mark.parametrize("tokens", CASES)
def test_one_step_gives_the_oracles_logits_streams_and_rows(network: Network, tokens: int) -> None:
    case = oracle_case(tokens)
    timeline = timeline_of(network, context=1024)
    seen: list[torch.Tensor] = []
    ids = case["input_ids"]
    running = network.run_step(
        ids, timeline.state, Step(0, tokens), observe=lambda _, streams: seen.append(streams[-8:].clone())
    )
    streams = drain(running)
    last = case["logits_last8"].shape[0]
    torch.testing.assert_close(network.logits(streams[-last:]), case["logits_last8"], atol=1e-4, rtol=0)
    torch.testing.assert_close(network.final_hidden(streams[-last:]), case["final_hidden_last8"], atol=1e-4, rtol=0)
    torch.testing.assert_close(torch.stack(seen), case["streams_last8"], atol=2e-4, rtol=0)
    assert network.logits(streams).argmax(dim=1).tolist() == case["argmax_all"].tolist()
    for index, layer in enumerate(timeline.state.layers):
        for name, rows in (("comp_rows", layer.compressed), ("index_rows_no_hadamard", layer.index)):
            expected = case.get(f"{name}.{index}")
            if expected is not None:
                torch.testing.assert_close(rows[: expected.shape[0]], expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("tokens", CASES)
def test_greedy_continuation_is_the_oracles(network: Network, tokens: int) -> None:
    case = oracle_case(tokens)
    timeline = timeline_of(network, context=1024)
    ids, logits = greedy(timeline, feed(timeline, case["input_ids"].tolist()), 16)
    assert ids == case["greedy_ids"].tolist()
    torch.testing.assert_close(torch.stack(logits), case["greedy_logits"], atol=1e-4, rtol=0)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_any_chunking_equals_one_shot(network: Network, chunk: int) -> None:
    """The longest case, for tiny chunks one of 300 tokens: both wrap the ring and cut rows by selection."""
    case = oracle_case(700 if chunk > 7 else 300)
    timeline = timeline_of(network, context=1024)
    logits = feed(timeline, case["input_ids"].tolist(), chunk)
    torch.testing.assert_close(logits, case["logits_last8"][-1], atol=1e-4, rtol=0)
    for index in range(network.config.layers):
        expected = case.get(f"comp_rows.{index}")
        if expected is not None:
            rows = timeline.state.layers[index].compressed[: expected.shape[0]]
            torch.testing.assert_close(rows, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("tokens", CASES)
def test_the_decode_program_continues_as_the_oracle(tiny_path: Path, tokens: int) -> None:
    case = oracle_case(tokens)
    session = engine.load(tiny_path, dtype="float32", kv_rounding="none").session(context=1024)
    logits = session.prefill(case["input_ids"].tolist())
    for expected_id, expected in zip(case["greedy_ids"].tolist(), case["greedy_logits"], strict=True):
        torch.testing.assert_close(logits, expected, atol=1e-4, rtol=0)
        assert int(logits.argmax()) == expected_id
        logits = session.decode(expected_id)


def test_a_prompt_read_token_by_token_equals_one_step(tiny_path: Path) -> None:
    case = oracle_case(700)
    session = engine.load(tiny_path, dtype="float32", kv_rounding="none").session(context=1024, mode="exact")
    logits = session.prefill(case["input_ids"].tolist())
    torch.testing.assert_close(logits, case["logits_last8"][-1], atol=1e-4, rtol=0)
    for index, layer in enumerate(session.timeline.state.layers):
        if (expected := case.get(f"comp_rows.{index}")) is not None:
            torch.testing.assert_close(layer.compressed[: expected.shape[0]], expected, atol=1e-4, rtol=0)
