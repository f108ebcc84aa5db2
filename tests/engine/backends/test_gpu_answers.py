"""A whole model on the GPU backend's kernels (emulated) answers as on the CPU, in prefill and in decode."""

import pytest
import torch

from engine.layers.rounding import KvRounding
from engine.model import Network
from engine.state import SessionState
from engine.timeline import Timeline
from tests.engine.backends.conftest import FORMS, RECIPES, Networks
from tests.support.running import feed

ADDRESS = "synth:small?ratios=0,4,128&recipe={recipe}"
TOKENS, DECODED = 21, 4


def timeline_on(network: Network) -> Timeline:
    state = SessionState(network.config, 4096, KvRounding.F16, network.backend.tensor_device)
    return Timeline(network, state, selects=True)


def prompt(network: Network, tokens: int) -> list[int]:
    generator = torch.Generator().manual_seed(tokens)
    return torch.randint(network.config.vocab, (tokens,), generator=generator).tolist()


def divergence(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """KL in nats of the softmax of two rows of logits, in float64."""
    p, q = wanted.double().log_softmax(0), found.double().log_softmax(0)
    return float((p.exp() * (p - q)).sum())


@pytest.mark.parametrize(
    ("networks", "recipe"), [(form, recipe) for form in FORMS for recipe in RECIPES[form]], indirect=["networks"]
)
def test_prefill_and_decode_equal_the_cpu(networks: Networks, recipe: str) -> None:
    gpu, cpu = networks(ADDRESS.format(recipe=recipe))
    ours, theirs = timeline_on(gpu), timeline_on(cpu)
    ids = prompt(gpu, TOKENS)
    found, wanted = feed(ours, ids), feed(theirs, ids)
    assert divergence(found, wanted) <= 1e-5
    program = gpu.backend.token_program(ours.state, selects=True)
    assert program is not None
    for _ in range(DECODED):
        token = int(wanted.argmax())
        assert int(found.argmax()) == token
        found = program.run(token, ours.position)
        ours.accept(token)
        wanted = feed(theirs, [token])
        assert divergence(found, wanted) <= 1e-5


def test_a_step_cut_in_two_gives_the_same_bits(networks: Networks) -> None:
    gpu, _ = networks(ADDRESS.format(recipe="q8"))
    whole, cut = timeline_on(gpu), timeline_on(gpu)
    ids = prompt(gpu, 24)
    expected = feed(whole, ids)
    feed(cut, ids[:11])
    assert torch.equal(feed(cut, ids[11:]), expected)
    for one, other in zip(whole.state.layers, cut.state.layers, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one.volatile(), other.volatile(), strict=True))
