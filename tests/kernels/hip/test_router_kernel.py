"""Routing on the emulator: choices, ties, the token-id table, extreme logits; weights against float64."""

import pytest
import torch
from torch.nn import functional

from kernels.launch import Launcher
from kernels.ops.routing import RouterShape, route
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

SCALE = 1.5


def reference(logits: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    scores = functional.softplus(logits.double(), threshold=1000).sqrt().gather(1, chosen.long())
    return scores / scores.sum(dim=1, keepdim=True) * SCALE


@pytest.mark.parametrize(
    ("experts", "tokens", "biased"), [(256, 9, True), (16, 8, True), (160, 1, True), (256, 3, False)]
)
def test_the_best_experts_and_their_weights(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, experts: int, tokens: int, biased: bool
) -> None:
    logits = torch.randn(tokens, experts, generator=random) * 4
    bias = torch.randn(experts, generator=random) * 0.3 if biased else None

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        chosen, weights = buffers.new(tokens, 6, dtype=torch.int32), buffers.new(tokens, 6)
        route(launcher, RouterShape(experts, 6, hashed=False), logits, chosen, weights, SCALE, bias=bias)
        return chosen, weights

    chosen, weights = replay(launcher, run)
    rank = functional.softplus(logits.double(), threshold=1000).sqrt() + (bias.double() if bias is not None else 0)
    wanted = rank.sort(dim=1, descending=True, stable=True).indices[:, :6]
    assert torch.equal(chosen.long(), wanted)
    assert nmse(weights, reference(logits, chosen)) <= 1e-10


def test_equal_scores_go_to_the_lower_expert(launcher: Launcher, buffers: GuardedBuffers) -> None:
    logits = torch.zeros(2, 256)
    logits[1, 200:] = 3.0
    logits[1, 7] = 4.0
    chosen, weights = buffers.new(2, 6, dtype=torch.int32), buffers.new(2, 6)
    route(launcher, RouterShape(256, 6, hashed=False), logits, chosen, weights, SCALE)
    assert chosen.tolist() == [[0, 1, 2, 3, 4, 5], [7, 200, 201, 202, 203, 204]]


@pytest.mark.parametrize("hashed", [False, True])
def test_a_token_is_routed_alone_as_among_others(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, hashed: bool
) -> None:
    logits = torch.randn(11, 256, generator=random) * 4
    bias = None if hashed else torch.randn(256, generator=random) * 0.3
    table = torch.randint(0, 256, (11, 6), generator=random, dtype=torch.int32)
    ids = torch.arange(11, dtype=torch.int32)

    def run(which: slice) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = logits[which].shape[0]
        chosen, weights = buffers.new(tokens, 6, dtype=torch.int32), buffers.new(tokens, 6)
        shape = RouterShape(256, 6, hashed)
        route(launcher, shape, logits[which], chosen, weights, SCALE, bias=bias, table=table, token_ids=ids[which])
        return chosen, weights

    chosen, weights = run(slice(None))
    for token in (0, 7, 8, 10):
        one, its_weights = run(slice(token, token + 1))
        assert torch.equal(one[0], chosen[token]) and torch.equal(its_weights[0], weights[token])


def test_logits_that_are_no_numbers_choose_experts_that_exist(launcher: Launcher, buffers: GuardedBuffers) -> None:
    logits = torch.full((2, 160), float("nan"))
    logits[1, 80:] = -float("inf")
    chosen, weights = buffers.new(2, 6, dtype=torch.int32), buffers.new(2, 6)
    route(launcher, RouterShape(160, 6, hashed=False), logits, chosen, weights, SCALE)
    assert bool(((chosen >= 0) & (chosen < 160)).all())
    assert all(len(set(row)) == 6 for row in chosen.tolist())
    assert bool(weights.isnan().all())


def test_extreme_logits_stay_finite_and_accurate(launcher: Launcher, buffers: GuardedBuffers) -> None:
    """softplus of -60 is e^-60, not 0; of 80 it is 80, not infinity."""
    logits = torch.full((1, 16), -60.0)
    logits[0, :3] = torch.tensor([80.0, -3.0, -20.0])
    chosen, weights = buffers.new(1, 6, dtype=torch.int32), buffers.new(1, 6)
    route(launcher, RouterShape(16, 6, hashed=False), logits, chosen, weights, SCALE)
    wanted = reference(logits, chosen)
    assert chosen.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert torch.allclose(weights.double(), wanted, rtol=2e-5, atol=0)


def test_hashed_layers_follow_the_table_even_with_repeated_experts(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    logits = torch.randn(5, 256, generator=random)
    table = torch.randint(0, 256, (40, 6), generator=random, dtype=torch.int32)
    table[3] = 9
    token_ids = torch.tensor([39, 3, 0, 3, 17], dtype=torch.int32)
    chosen, weights = buffers.new(5, 6, dtype=torch.int32), buffers.new(5, 6)
    route(launcher, RouterShape(256, 6, hashed=True), logits, chosen, weights, SCALE, table=table, token_ids=token_ids)
    assert torch.equal(chosen, table[token_ids.long()])
    assert nmse(weights, reference(logits, chosen)) <= 1e-10
