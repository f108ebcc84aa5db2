"""Expert routing of tokens from their logits (device/router.hip)."""

from dataclasses import dataclass

import torch

from kernels.launch import Launcher
from kernels.ops.checks import require, require_rows, require_shape
from kernels.source import KernelSource

TOKENS_A_GROUP = 8


@dataclass(frozen=True, slots=True)
class RouterShape:
    """Experts of a layer, how many a token uses, and whether a token-id table chooses them."""

    experts: int
    used: int
    hashed: bool

    def source(self) -> KernelSource:
        defines = (("EXPERTS", self.experts), ("USED", self.used), ("HASHED", int(self.hashed)))
        return KernelSource("router", "router", defines, TOKENS_A_GROUP * 32)


def route(
    launcher: Launcher,
    shape: RouterShape,
    logits: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
    expert_scale: float,
    bias: torch.Tensor | None = None,
    table: torch.Tensor | None = None,
    token_ids: torch.Tensor | None = None,
) -> None:
    """logits float32 [N, experts] to experts int32 and weights float32, both [N, used].

    Score-routed layers may have a bias [experts]; hashed layers need table int32 [vocabulary, used] and token_ids
    int32 [N]. The caller vouches that ids and table entries are in range.
    """
    tokens = logits.shape[0]
    require_shape("logits", logits, tokens, shape.experts)
    require_shape("experts", experts, tokens, shape.used)
    require_shape("weights", weights, tokens, shape.used)
    if shape.hashed:
        if table is None or token_ids is None:
            raise ValueError("a hashed router needs its table and the token ids")
        require_rows("table", table, 1, shape.used)
        require_shape("token_ids", token_ids, tokens)
    if bias is not None:
        require(not shape.hashed, "a hashed router has no bias")
        require_shape("bias", bias, shape.experts)
    launcher.kernel(shape.source())(
        (-(-tokens // TOKENS_A_GROUP), 1, 1),
        logits=logits,
        bias=bias,
        table=table,
        token_ids=token_ids,
        experts=experts,
        weights=weights,
        tokens=tokens,
        expert_scale=expert_scale,
    )
