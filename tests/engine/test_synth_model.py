"""Synthetic models at work: activations of order one through all layers, and experts used evenly, in every recipe."""

import pytest
import torch

import engine
from engine.config import ModelConfig
from engine.errors import UserError
from engine.layers.hyper_connection import mix
from engine.layers.moe import Router, Routing
from engine.layers.rounding import KvRounding
from engine.model import Network
from engine.plan import Step
from engine.state import SessionState
from engine.synth.recipes import RECIPES
from tests.support.one_thread import one_torch_thread
from tests.support.running import drain

__all__ = ["one_torch_thread"]  # a fixture for every test here

TOKENS = 300  # beyond two windows of 128 and a selection of 64 rows


class Watched:
    """A network's backend that counts which experts were chosen, layer by layer."""

    def __init__(self, network: Network, patch: pytest.MonkeyPatch) -> None:
        self.counts: list[torch.Tensor] = []
        ordinary = network.backend.route

        def route(x: torch.Tensor, token_ids: torch.Tensor, router: Router) -> Routing:
            found = ordinary(x, token_ids, router)
            self.counts.append(torch.bincount(found.experts.flatten(), minlength=network.config.experts))
            return found

        patch.setattr(network.backend, "route", route)


def check(address: str, patch: pytest.MonkeyPatch) -> None:
    """Run a text of random tokens; the specification's limits, and tighter ones that the scaling is meant to give."""
    model = engine.load(address, backend="cpu", dtype="float32")
    config: ModelConfig = model.config
    ids = torch.randint(config.vocab, (TOKENS,), generator=torch.Generator().manual_seed(1))
    watched, sizes = Watched(model.network, patch), []
    state = SessionState(config, TOKENS, KvRounding.F16)
    streams = drain(
        model.network.run_step(
            ids, state, Step(0, TOKENS), observe=lambda _, found: sizes.append(float(found.square().mean().sqrt()))
        )
    )
    logits = model.network.logits(streams[-TOKENS:])
    assert logits.isfinite().all() and 0.5 < float(logits.square().mean().sqrt()) < 2
    assert len(sizes) == config.layers and min(sizes) > 1 and max(sizes) < 15
    assert len(set(logits.argmax(dim=1).tolist())) > 0.5 * len(logits)  # every place predicts something of its own
    assert len(watched.counts) == config.layers
    for layer, counts in enumerate(watched.counts):
        share = counts / counts.sum() * config.experts
        assert float(share.min()) > 0.5 and float(share.max()) < 1.6, layer


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_a_few_layers_of_every_kind(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(f"synth:small?layers=7&recipe={recipe}", monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("recipe", list(RECIPES))
def test_as_many_layers_as_v4_flash_has(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(f"synth:small?layers=43&recipe={recipe}", monkeypatch)


def test_mixers_carry_streams_and_their_matrices_balance() -> None:
    model = engine.load("synth:small?layers=4&recipe=bf16", backend="cpu", dtype="float32")
    streams = torch.randn(50, 4, model.config.hidden, generator=torch.Generator().manual_seed(2))
    for layer in model.network.weights.layers:
        for mixer, norm in ((layer.attn_mixer, layer.attn_norm), (layer.ffn_mixer, layer.ffn_norm)):
            mixed = mix(streams, mixer, norm, model.config)
            for sums in (mixed.comb.sum(dim=1), mixed.comb.sum(dim=2)):
                torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-4, rtol=0)
            kept = mixed.comb.diagonal(dim1=1, dim2=2)
            assert float(kept.min()) > 0.4 and float(kept.max()) < 0.9
            assert float(mixed.post.min()) > 0.6 and float(mixed.post.max()) < 1.4
            shares = torch.sigmoid(mixer.base[:4])  # of the streams in a sublayer's input
            assert float(shares.min()) > 0.2 and float(shares.max()) < 0.35
    head = torch.sigmoid(model.network.weights.head_mixer.base)
    assert float(head.min()) > 0.2 and float(head.max()) < 0.35


def test_what_does_not_fit_the_processor_is_refused_before_anything_is_made() -> None:
    with pytest.raises(UserError, match=r"synth:v4-flash\?layers=43\S+ on the CPU this model needs .* GiB of memory"):
        engine.load("synth:v4-flash?layers=43&recipe=antirez-q2", backend="cpu")
