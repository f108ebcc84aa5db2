"""The activations of one token on a GPU, allocated once a session and reused by every layer and token."""

import torch

from engine.cache_shape import OVERLAP_RATIO
from engine.config import ModelConfig
from kernels.ops.residual import STREAMS, ResidualShape


class TokenBuffers:
    """float32 [1, ..] unless said otherwise; names as in gpu_token_layers, which writes and reads them in order."""

    def __init__(self, config: ModelConfig, residual: ResidualShape, device: torch.device) -> None:
        c, self._device = config, device
        self.embedded = self.new(1, 1, c.hidden)
        self.streams = self.new(1, STREAMS, c.hidden)
        self.x, self.post, self.comb = self.new(1, c.hidden), self.new(1, STREAMS), self.new(1, STREAMS, STREAMS)
        self.partial = self.new(*residual.partial_shape(1))
        self.entry, self.latent = self.new(1, c.q_rank + c.head_dim), self.new(1, c.q_rank)
        self.q = self.new(1, c.heads * c.head_dim)  # attention's output too
        self.exact = self.new(1, _most_exact(c))
        self.index_q = self.new(1, c.index_heads * c.index_dim)
        self.index_queries = self.new(1, c.index_heads, c.index_dim, dtype=torch.float16)
        self.index_weights = self.new(1, c.index_heads)
        self.ids = self.new(1, c.index_top_k, dtype=torch.int32)
        self.counts = self.new(1, dtype=torch.int32)
        self.grouped, self.y = self.new(1, c.out_groups * c.out_rank), self.new(1, c.hidden)
        self.expert_logits = self.new(1, c.experts)
        self.experts = self.new(1, c.experts_used, dtype=torch.int32)
        self.expert_weights = self.new(1, c.experts_used)
        self.inner = self.new(1, c.experts_used, c.expert_hidden)
        self.shared_inner = self.new(1, 1, c.expert_hidden)
        self.only_expert = torch.zeros(1, 1, dtype=torch.int32, device=device)

    def new(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self._device)


def _most_exact(config: ModelConfig) -> int:
    """Rows of the widest layer's exact entry (attention_weights.Attention)."""
    if OVERLAP_RATIO in config.ratios:
        return 4 * config.head_dim + 4 * config.index_dim + config.index_heads
    return 2 * config.head_dim
