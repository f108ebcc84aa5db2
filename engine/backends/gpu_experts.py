"""The experts of a prefill step on a GPU: routed pairs in one list sorted by expert, and the shared expert beside them.

Called by engine.backends.gpu. Every sum has a fixed order: inside an expert over its width, then over slots.
"""

import torch
from torch.nn import functional

from engine.backends.gpu_matrix import pair_of, stored_of
from engine.backends.gpu_products import DenseProducts
from engine.layers.moe import Experts, Routing
from kernels.launch import Launcher
from kernels.ops import products


def run_experts(
    launcher: Launcher, dense: DenseProducts, x: torch.Tensor, routing: Routing, experts: Experts
) -> torch.Tensor:
    """x F16 [N, D], routing int32 [N, used]: float32 [N, D] (engine.layers.moe.run_experts)."""
    pair, down = pair_of(experts.gate_up), stored_of(experts.down)
    pairs, used = routing.experts.numel(), routing.experts.shape[1]
    out = _shared_expert(dense, x, experts)
    lists = products.WorkList.empty(len(x), used, down.experts, x.device)
    products.build_lists(launcher, routing.experts, lists)
    inner = x.new_empty(pairs, down.width)
    products.gate_up(launcher, pair.gate, pair.up, x, lists, inner, experts.limit)
    outputs = x.new_empty(pairs, down.rows, dtype=torch.float32)
    products.down(launcher, down, inner, lists, outputs)
    products.combine(launcher, outputs, lists, routing.weights, out, out)
    return out


def _shared_expert(dense: DenseProducts, x: torch.Tensor, experts: Experts) -> torch.Tensor:
    """float32 [N, D]; few rows too go through the products of many, so that a short step equals a long one."""
    pair, limit = pair_of(experts.shared_gate_up), experts.limit
    gate = dense.multiply(x, pair.gate).clamp_(max=limit)
    inner = dense.multiply(x, pair.up).clamp_(-limit, limit).mul_(functional.silu(gate, inplace=True))
    return dense.multiply(inner, stored_of(experts.shared_down))
