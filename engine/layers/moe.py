"""Mixture of experts: route every token to its experts, run each expert once over its tokens, combine in slot order.

The reference in torch; backends may answer the same calls faster. Source: ds4-architecture section 4.
"""

from dataclasses import dataclass

import torch
from torch.nn import functional

from engine.config import ModelConfig
from engine.layers.matrix import Matrix, decoded


@dataclass(frozen=True, slots=True)
class Router:
    """gate [E, D], an exact matrix; then a selection bias [E] float32 or a token-id table [vocab, used] of integers."""

    gate: Matrix
    bias: torch.Tensor | None
    table: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class Experts:
    """gate_up [E, 2·ff, D] (gate rows first), down [E, D, ff], and the shared expert's [2·ff, D] and [D, ff]."""

    gate_up: Matrix
    down: Matrix
    shared_gate_up: Matrix
    shared_down: Matrix
    limit: float


@dataclass(frozen=True, slots=True)
class Routing:
    """Experts, integers [N, used], and their weights float32 [N, used] of every token."""

    experts: torch.Tensor
    weights: torch.Tensor


def route(x: torch.Tensor, token_ids: torch.Tensor, router: Router, config: ModelConfig) -> Routing:
    """Choose experts by score plus bias, or by the token-id table; weigh by the unbiased scores.

    Equal scores go to the lower expert, so that the choice does not depend on a sort's mood.
    """
    scores = functional.softplus(x.float() @ decoded(router.gate).T).sqrt()
    if router.table is not None:
        chosen = router.table[token_ids]
    else:
        biased = scores if router.bias is None else scores + router.bias
        chosen = biased.sort(dim=1, descending=True, stable=True).indices[:, : config.experts_used]
    weights = scores.gather(1, chosen)
    return Routing(chosen, weights / weights.sum(dim=1, keepdim=True) * config.expert_scale)


def swiglu(gate_up: torch.Tensor, limit: float) -> torch.Tensor:
    """silu(min(gate, limit)) * clamp(up, -limit, limit); gate_up [..., 2·ff], gate first."""
    gate, up = gate_up.float().chunk(2, dim=-1)
    return functional.silu(gate.clamp(max=limit)) * up.clamp(-limit, limit)


def run_experts(x: torch.Tensor, routing: Routing, experts: Experts) -> torch.Tensor:
    """Shared plus weighted routed experts: x [N, D] in the compute type to float32 [N, D].

    Every (token, slot) pair has its own output row, so the sum runs over slots in a fixed order.
    """
    tokens, used = routing.experts.shape
    gate_up, down = decoded(experts.gate_up), decoded(experts.down)
    order = routing.experts.flatten().argsort(stable=True)
    counts = torch.bincount(routing.experts.flatten(), minlength=gate_up.shape[0]).tolist()
    slots = torch.empty(tokens * used, x.shape[1], dtype=torch.float32)
    for expert, pairs in enumerate(torch.split(order, counts)):
        if len(pairs):
            inner = swiglu(x[pairs // used] @ gate_up[expert].T, experts.limit)
            slots[pairs] = (inner.to(x.dtype) @ down[expert].T).float()
    routed = (slots.view(tokens, used, -1) * routing.weights[:, :, None]).sum(dim=1)
    return routed + shared_expert(x, experts)


def shared_expert(x: torch.Tensor, experts: Experts) -> torch.Tensor:
    """The expert every token passes: [N, D] in the compute type to float32 [N, D]."""
    inner = swiglu(x @ decoded(experts.shared_gate_up).T, experts.limit).to(x.dtype)
    return (inner @ decoded(experts.shared_down).T).float()
