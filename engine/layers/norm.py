"""Root-mean-square normalisation, the only norm DS4 has. Pure functions, any thread."""

import torch


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    """x / sqrt(mean(x²) + eps) * weight over the last axis; statistics and result float32 (ds4-architecture)."""
    x = x.float()
    scaled = x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + eps)
    return scaled if weight is None else scaled * weight
