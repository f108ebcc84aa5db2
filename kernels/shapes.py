"""The two model geometries that every kernel is compiled for: DeepSeek V4 Flash and the embedded model.

Plain numbers for the catalogue, the tests and the benchmark; a running engine takes its own from the model file.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Sizes of one model, in the terms of ds4's configuration."""

    name: str
    hidden: int
    heads: int
    head_dim: int
    rotary: int
    q_rank: int
    index_heads: int
    index_dim: int
    index_top_k: int
    experts: int
    experts_used: int
    expert_width: int
    trained_low_precision: bool  # E4M3 cache rows, E2M1 indexer


V4_FLASH = ModelShape("v4-flash", 4096, 64, 512, 64, 1024, 64, 128, 512, 256, 6, 2048, True)
EMBEDDED = ModelShape("embedded", 384, 16, 64, 16, 192, 8, 32, 128, 16, 6, 128, False)
